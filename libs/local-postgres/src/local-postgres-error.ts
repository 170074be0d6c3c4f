/** Why the local server cannot be used; the message is one clear line for a person, and no stack is needed. */
export class LocalPostgresError extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message.replace(/\s*\n\s*/g, ' ').trim(), options);
    this.name = 'LocalPostgresError';
  }
}

const REASONS: Readonly<Record<string, string>> = {
  EACCES: 'is closed to this user',
  EEXIST: 'is not a folder',
  ENOTDIR: 'is not a folder',
  EPERM: 'belongs to another user',
  EROFS: 'is on a read-only disk',
};

/** Errors of the file system become one line about the data folder; any other error stays as it is. */
export function asDataFolderError(dataDir: string, error: unknown): unknown {
  if (error instanceof LocalPostgresError || !Error.isError(error)) return error;
  const { code, path } = error as NodeJS.ErrnoException;
  if (code === undefined || path === undefined) return error;
  const reason = code in REASONS ? `${path} ${REASONS[code]}` : error.message;
  return new LocalPostgresError(`The data folder ${dataDir} cannot be used: ${reason}.`, { cause: error });
}
