import { PostgresServer, SERVICE_ROLE, type Session, tryLock } from './postgres-server.js';
import { asDataFolderError, LocalPostgresError } from './local-postgres-error.js';
import { type RestartPolicy, ServerKeeper } from './server-keeper.js';

/** Key of the advisory lock in the database `postgres`, which allows one service per data folder. */
const SERVICE_LOCK = 2;

/** A running PostgreSQL with its data in a folder. */
export interface LocalPostgres {
  /** postgres:// URL of the database `animal_store`, as its owner. */
  readonly url: string;
  /** For example `18.4`. */
  readonly version: string;
  /** Stops the server, unless another process still uses it. */
  stop(): Promise<void>;
  /** Requests an immediate shutdown without waiting for it, for a process that must exit. Committed data is kept. */
  kill(): void;
}

/** The server for a service, with a separate role. It is started again on the same port when it dies. */
export interface ServicePostgres extends LocalPostgres {
  /** Like `url`, but for a role that owns nothing and is not a superuser. The owner must grant it privileges. */
  readonly serviceUrl: string;
  readonly serviceRole: string;
  /** Rejects with a LocalPostgresError if the server dies too often or cannot be started again. */
  readonly failed: Promise<never>;
}

/**
 * Starts the server of a data folder for the service, or takes over the server of a killed service.
 * @throws LocalPostgresError if another service uses the folder
 */
export function startLocalPostgres({ dataDir }: { readonly dataDir: string }, policy?: RestartPolicy): Promise<ServicePostgres> {
  return openDataFolder(dataDir, async (server, session) => {
    const lock = ({ client }: Session) => lockService(client, dataDir);
    await lock(session);
    const password = await server.prepareServiceRole(session);
    const version = await versionOf(session);
    const keeper = new ServerKeeper(server, session, lock, policy);
    return {
      ...toLocalPostgres(
        server,
        version,
        () => keeper.current,
        () => keeper.stop(),
      ),
      serviceRole: SERVICE_ROLE,
      serviceUrl: server.url(session.port, { user: SERVICE_ROLE, password }),
      failed: keeper.failed,
    };
  });
}

/** Connects a command to the server of a data folder, which a service may share. Starts the server if necessary. */
export function connectLocalPostgres({ dataDir }: { readonly dataDir: string }): Promise<LocalPostgres> {
  return openDataFolder(dataDir, async (server, session) =>
    toLocalPostgres(
      server,
      await versionOf(session),
      () => session,
      () => server.release(session),
    ),
  );
}

async function openDataFolder<T>(dataDir: string, use: (server: PostgresServer, session: Session) => Promise<T>): Promise<T> {
  try {
    const server = await PostgresServer.open(dataDir);
    const session = await server.start();
    try {
      return await use(server, session);
    } catch (error) {
      await server.release(session);
      throw error;
    }
  } catch (error) {
    throw asDataFolderError(dataDir, error);
  }
}

function toLocalPostgres(server: PostgresServer, version: string, session: () => Session, stop: () => Promise<void>): LocalPostgres {
  let stopped: Promise<void> | undefined;
  return {
    url: server.url(session().port),
    version,
    stop: () => (stopped ??= stop()),
    kill() {
      const { lost, pid } = session();
      if (!lost.aborted) process.kill(pid, 'SIGQUIT');
    },
  };
}

async function versionOf({ client }: Session): Promise<string> {
  const { rows } = await client.query<{ server_version: string }>('SHOW server_version');
  return rows[0]?.server_version ?? '';
}

async function lockService(client: Session['client'], dataDir: string): Promise<void> {
  while (!(await tryLock(client, SERVICE_LOCK))) {
    const service = await findService(client);
    // If none is found, the service that held the lock has released it in the meantime.
    if (service !== undefined) throw new LocalPostgresError(`The data folder ${dataDir} is in use by ${service}.`);
  }
}

async function findService(client: Session['client']): Promise<string | undefined> {
  const { rows } = await client.query<{ name: string }>(
    `SELECT application_name AS name FROM pg_locks JOIN pg_stat_activity USING (pid)
      WHERE locktype = 'advisory' AND objid = $1 AND granted AND pg_locks.database = (SELECT oid FROM pg_database WHERE datname = current_database())`,
    [SERVICE_LOCK],
  );
  return rows[0]?.name;
}
