/** The local server cannot be used. The message is one line and needs no stack trace. */
export class LocalPostgresError extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message.replace(/\s*\n\s*/g, ' ').trim(), options);
    this.name = 'LocalPostgresError';
  }
}

/** The server was killed while it started. */
export class ServerKilledError extends LocalPostgresError {}

/** Turns a file system error into one line about the data folder. Returns any other error unchanged. */
export function asDataFolderError(dataDir: string, error: unknown): unknown {
  const isFileSystemError = Error.isError(error) && 'code' in error && 'path' in error;
  return isFileSystemError
    ? new LocalPostgresError(`The data folder ${dataDir} cannot be used: ${error.message}.`, { cause: error })
    : error;
}

const MESSAGE = /\b(?:FATAL|PANIC|error|DETAIL|detail|HINT|hint):\s+(?<text>.*?)\.?$/;

/** Returns the last error message in the output of a PostgreSQL program, with its detail and hint. Ends with a full stop. */
export function findErrorMessage(output: string): string {
  const lines = output.trim().split('\n');
  const first = lines.findLastIndex((line) => /\b(?:FATAL|PANIC|error):/.test(line));
  const texts = lines.slice(Math.max(first, 0)).flatMap((line) => MESSAGE.exec(line)?.groups?.['text'] ?? []);
  return `${texts.join('. ') || lines.at(-1) || 'there is no error message'}.`;
}
