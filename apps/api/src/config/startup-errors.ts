import { formatServer, isDatabaseUnavailable, MigrationError, type SecretUrl } from '@animal-store/database';

/** The reason why the service cannot start. Its message is printed without a stack. */
export class StartupError extends Error {
  override readonly name = 'StartupError';
}

/** @throws StartupError if two have the same name */
export function assertUnique(what: string, all: readonly { readonly name: string }[]): void {
  const duplicate = all.find(({ name }, index) => all.findIndex((other) => other.name === name) !== index);
  if (duplicate) throw new StartupError(`Two ${what} have the name ${duplicate.name}.`);
}

/** @throws StartupError if the address of the variables cannot be listened on */
export function listening<Result>(attempt: Promise<Result>, variable: 'HOST' | 'ADMIN_HOST'): Promise<Result> {
  return attempt.catch((error: unknown) => {
    throw new StartupError(
      `${(error as Error).message}: set ${variable} and ${variable.replace('HOST', 'PORT')} to a free port of this machine.`,
    );
  });
}

/** Returns a StartupError for errors of the database or its settings, and other errors unchanged. */
export function explain(error: unknown, databaseUrl: SecretUrl): unknown {
  const { code, message } = error as NodeJS.ErrnoException;
  if (error instanceof MigrationError) return new StartupError(`The migrations were not applied: ${message}`);
  if (!isDatabaseUnavailable(error)) return error;
  const reason = message.split('\n', 1)[0]?.trim() || code || 'no response';
  return new StartupError(`The database at ${formatServer(databaseUrl)} cannot be used: ${reason}`);
}
