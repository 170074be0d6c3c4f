import { formatServer, isDatabaseUnavailable, MigrationError, type SecretUrl } from '@animal-store/database';

/** SQLSTATE of a role that must not migrate. */
const INSUFFICIENT_PRIVILEGE = '42501';

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

/** Returns a StartupError of one line for errors of the database or its settings, and other errors unchanged. */
export function explain(error: unknown, databaseUrl: SecretUrl): unknown {
  const { code, message } = error as NodeJS.ErrnoException;
  const reason = message.split('\n', 1)[0]?.trim() || code || 'no response';
  if (error instanceof MigrationError) return explainMigration(error);
  if (!isDatabaseUnavailable(error)) return error;
  return new StartupError(`The database at ${formatServer(databaseUrl)} cannot be used: ${reason}`);
}

function explainMigration({ message, sqlState }: MigrationError): StartupError {
  if (sqlState !== INSUFFICIENT_PRIVILEGE) return new StartupError(`The migrations were not applied: ${message}`);
  const [reason = ''] = message.split('\n', 1);
  return new StartupError(
    `The database role lacks the privileges to migrate (${reason}): run "animal-store migrate up" as the owner first.`,
  );
}
