import { randomBytes } from 'node:crypto';
import { LocalPostgresError } from './local-postgres-error.js';
import { PostgresServer } from './postgres-server.js';

const SERVICE_ROLE = 'animal_store_service';

/** A running PostgreSQL with its data in a folder. */
export interface LocalPostgres {
  /** postgres:// URL of the database `animal_store`, as its owner. */
  readonly url: string;
  stop(): Promise<void>;
}

/** The server for a service, with the URL of a role that owns nothing. The owner must grant it privileges. */
export interface ServicePostgres extends LocalPostgres {
  readonly serviceUrl: string;
}

/** Starts the server of a data folder for the service, or takes over the server of a service that was killed. */
export async function startLocalPostgres(dataDir: string): Promise<ServicePostgres> {
  const server = await open(dataDir);
  const isLeft = await server.isRunning();
  if (!isLeft) await server.start();
  // Shows that the server is in use, until it stops.
  const client = await server.connect();
  const { rows } = await client.query<{ name: string }>(
    `SELECT application_name AS name FROM pg_stat_activity WHERE backend_type = 'client backend' AND pid <> pg_backend_pid() ORDER BY 1 DESC`,
  );
  if (isLeft && rows[0]) {
    await client.end();
    throw new LocalPostgresError(`The data folder ${dataDir} is in use by ${rows[0].name}.`);
  }
  const password = randomBytes(24).toString('hex');
  const { rowCount } = await client.query('SELECT FROM pg_roles WHERE rolname = $1', [SERVICE_ROLE]);
  const attributes = 'LOGIN NOSUPERUSER NOCREATEDB NOCREATEROLE NOREPLICATION NOBYPASSRLS';
  await client.query(`${rowCount ? 'ALTER' : 'CREATE'} ROLE ${SERVICE_ROLE} ${attributes} PASSWORD '${password}'`);
  return { url: server.url(), serviceUrl: server.url({ user: SERVICE_ROLE, password }), stop: () => server.stop() };
}

/** Connects a command to the server of a data folder, which a service may use. Starts the server if it is not running. */
export async function connectLocalPostgres(dataDir: string): Promise<LocalPostgres> {
  const server = await open(dataDir);
  if (await server.isRunning()) return { url: server.url(), stop: () => Promise.resolve() };
  await server.start();
  return { url: server.url(), stop: () => server.stop() };
}

/** Turns a file system error into one line about the data folder. */
async function open(dataDir: string): Promise<PostgresServer> {
  return PostgresServer.open(dataDir).catch((error: unknown) => {
    if (!Error.isError(error) || !('path' in error)) throw error;
    throw new LocalPostgresError(`The data folder ${dataDir} cannot be used: ${error.message}.`, error);
  });
}
