import { formatServer, isDatabaseUnavailable, MigrationLockError, type SecretUrl } from '@animal-store/database';
import { QueryFailedError } from 'typeorm';

/** SQLSTATE of a role that must not migrate. */
const INSUFFICIENT_PRIVILEGE = '42501';
/** SQLSTATEs that can pass by themselves elsewhere, but are mistakes in a statement of a migration. A lock timeout is none. */
const MISTAKES = /^(?:26|3F|42|55(?!P03))/;

/** The reason why the service cannot start. Its message is printed without a stack. */
export class StartupError extends Error {
  override readonly name = 'StartupError';
}

/** Returns the URL of a server that listens on this address, for example http://localhost:3000. */
export function urlOf({ address, port }: { address: string; port: number }): string {
  const name = ['127.0.0.1', '::1', '0.0.0.0', '::'].includes(address) ? 'localhost' : address;
  return `http://${name.includes(':') ? `[${name}]` : name}:${String(port)}`;
}

export function listenError(error: unknown, prefix: '' | 'ADMIN_', host: string, port: number): StartupError {
  const { code = '', message } = error as NodeJS.ErrnoException;
  const reasons: Readonly<Record<string, string>> = {
    EADDRINUSE: `Port ${String(port)} is in use; set ${prefix}PORT to another port.`,
    EACCES: `Port ${String(port)} requires more privileges; set ${prefix}PORT to 1024 or above.`,
    EADDRNOTAVAIL: `${prefix}HOST ${host} is not an address of this machine; set ${prefix}HOST to an address of this machine, or to 0.0.0.0 for all IPv4 addresses.`,
    ENOTSUP: 'This operating system does not support REUSE_PORT.',
  };
  return new StartupError(reasons[code] ?? `${prefix}HOST ${host} cannot be used: ${message}`);
}

/** Returns a StartupError for errors of a migration that a repetition cannot cure, and other errors unchanged. */
export function explainMigration(error: unknown): unknown {
  if (!(error instanceof QueryFailedError)) return error;
  const { code = '' } = error as { code?: string };
  if (code === INSUFFICIENT_PRIVILEGE)
    return new StartupError(
      `The database role lacks the privileges to migrate (${error.message}): run "animal-store migrate up" as the owner first.`,
    );
  if (isDatabaseUnavailable(error) && !MISTAKES.test(code)) return error;
  return new StartupError(`The migrations were not applied: ${error.message}\nin the statement ${error.query}`);
}

/** Returns a StartupError of one line for errors of the database or its settings, and other errors unchanged. */
export function explain(error: unknown, databaseUrl: SecretUrl): unknown {
  const { code, message } = error as NodeJS.ErrnoException;
  const reason = message.split('\n', 1)[0]?.trim() || code || 'no response';
  if (error instanceof MigrationLockError) return new StartupError(`The migrations were not applied: ${reason}`);
  if (!isDatabaseUnavailable(error)) return error;
  return new StartupError(`The database at ${formatServer(databaseUrl)} cannot be used: ${reason}`);
}
