import {
  isLoginRejected,
  isDatabaseUnavailable,
  isStoppedByTimeout,
  MigrationLockError,
  parseDatabaseUrl,
  readSecretUrl,
  formatServers,
  UnsuitableDatabaseError,
} from '@animal-store/database';
import type { Config } from './config.js';
import { StartupError } from './startup-error.js';

type Addresses = Pick<Config, 'adminHost' | 'adminPort' | 'host'>;

const INSUFFICIENT_PRIVILEGE = '42501';
const READ_ONLY = '25006';

/** Returns a StartupError with a readable message for errors of the machine or the configuration, and other errors unchanged. */
export function explainFailedStart(error: unknown, config: Addresses & Pick<Config, 'databaseUrl'>): unknown {
  const { code, message, syscall } = error as NodeJS.ErrnoException;
  if (error instanceof MigrationLockError) return new StartupError(`The migrations were not applied: ${message}`);
  // The supervisor binds the port of the workers, with the syscall `bind`.
  if (syscall === 'listen' || syscall === 'bind' || isAboutHost(error as ListenError, config))
    return explainListen(error as ListenError, config);
  const server = () => formatServers(parseDatabaseUrl(readSecretUrl(config.databaseUrl)));
  const database = (problem: string) => new StartupError(`The database at ${server()} ${problem}: ${firstLine(message, code)}`);
  if (error instanceof UnsuitableDatabaseError) return database('cannot be used');
  if (code === READ_ONLY) return database('is read-only');
  if (isStoppedByTimeout(error))
    return new StartupError(`A timeout of the database at ${server()} stopped a statement: ${firstLine(message, code)}`);
  if (isLoginRejected(error)) return database('rejects the connection');
  if (isDatabaseUnavailable(error)) return database('cannot be reached');
  if (code === INSUFFICIENT_PRIVILEGE)
    return new StartupError(
      `The database role lacks the privileges to migrate (${firstLine(message)}): run "animal-store migrate up" as the owner first.`,
    );
  return error;
}

interface ListenError extends NodeJS.ErrnoException {
  readonly port?: number;
  readonly address?: string;
  readonly hostname?: string;
}

/** Returns whether the lookup of HOST or ADMIN_HOST failed, in contrast to that of the database host. */
function isAboutHost({ syscall, hostname }: ListenError, { host, adminHost }: Addresses): boolean {
  return syscall === 'getaddrinfo' && (hostname === host || hostname === adminHost);
}

function explainListen(error: ListenError, { adminHost, adminPort, host }: Addresses): StartupError {
  const { code, message, port, address, hostname } = error;
  const isAdmin = port === undefined ? hostname === adminHost && hostname !== host : port === adminPort;
  const of = isAdmin ? 'ADMIN_' : '';
  if (code === 'EADDRINUSE') return new StartupError(`Port ${String(port)} is in use; set ${of}PORT to another port.`);
  if (code === 'EACCES') return new StartupError(`Port ${String(port)} requires more privileges; set ${of}PORT to 1024 or above.`);
  if (code === 'EADDRNOTAVAIL')
    return new StartupError(
      `${of}HOST ${String(address)} is not an address of this machine; set ${of}HOST to an address of this machine, or to 0.0.0.0 for all IPv4 addresses.`,
    );
  return new StartupError(`${of}HOST ${String(address ?? hostname)} cannot be used: ${firstLine(message, code)}`);
}

function firstLine(message: string, code = 'no response'): string {
  return message.split('\n', 1)[0]?.trim() || code;
}
