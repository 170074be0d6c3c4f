import { Cluster, SERVICE_ROLE, type Session, tryLock } from './cluster.js';
import { asDataFolderError, LocalPostgresError } from './local-postgres-error.js';

/** Key of the advisory lock, in the database `postgres`, of the one service of a data folder. */
const SERVICE = 2;

/** A running PostgreSQL with its data in a folder of the workspace. */
export interface LocalPostgres {
  /** postgres:// URL of the database `animal_store`, as its owner. */
  readonly url: string;
  /** Such as `18.4`. */
  readonly version: string;
  /** Stops the server, unless another process still uses it. */
  stop(): Promise<void>;
  /** Tells the server to end at once and does not wait, for a process that has to exit. Committed data stays. */
  kill(): void;
}

/** The server for a service, which gets a role of its own. */
export interface ServicePostgres extends LocalPostgres {
  /** As `url`, for a role that owns nothing and is no superuser. The owner has to grant it what it needs. */
  readonly serviceUrl: string;
  readonly serviceRole: string;
}

/**
 * For the service: starts the server of a data folder, or takes over the one that a killed service has left running.
 * @throws LocalPostgresError if another service uses the folder
 */
export function startLocalPostgres({ dataDir }: { readonly dataDir: string }): Promise<ServicePostgres> {
  return openDataFolder(dataDir, async (cluster, session) => {
    const { client, port } = session;
    while (!(await tryLock(client, SERVICE))) {
      const service = await findService(client);
      // Without a service, it has released the lock in between.
      if (service !== undefined) throw new LocalPostgresError(`The data folder ${dataDir} is in use by ${service}.`);
    }
    const password = await cluster.prepareServiceRole(session);
    const postgres = await toLocalPostgres(cluster, session);
    return { ...postgres, serviceRole: SERVICE_ROLE, serviceUrl: cluster.url(port, { user: SERVICE_ROLE, password }) };
  });
}

/** For a command: uses the server of a data folder together with a service, or starts it until `stop()`. */
export function useLocalPostgres({ dataDir }: { readonly dataDir: string }): Promise<LocalPostgres> {
  return openDataFolder(dataDir, toLocalPostgres);
}

async function openDataFolder<T>(dataDir: string, use: (cluster: Cluster, session: Session) => Promise<T>): Promise<T> {
  try {
    const cluster = await Cluster.open(dataDir);
    const session = await cluster.start();
    try {
      return await use(cluster, session);
    } catch (error) {
      await cluster.release(session);
      throw error;
    }
  } catch (error) {
    throw asDataFolderError(dataDir, error);
  }
}

async function toLocalPostgres(cluster: Cluster, session: Session): Promise<LocalPostgres> {
  const { client, port, pid } = session;
  const { rows } = await client.query<{ server_version: string }>('SHOW server_version');
  let isLost = false;
  client.once('end', () => (isLost = true));
  let stopped: Promise<void> | undefined;
  return {
    url: cluster.url(port),
    version: rows[0]?.server_version ?? '',
    stop: () => (stopped ??= cluster.release(session)),
    kill() {
      if (!isLost) process.kill(pid, 'SIGQUIT');
    },
  };
}

async function findService(client: Session['client']): Promise<string | undefined> {
  const { rows } = await client.query<{ name: string }>(
    `SELECT application_name AS name FROM pg_locks JOIN pg_stat_activity USING (pid)
      WHERE locktype = 'advisory' AND objid = $1 AND granted AND pg_locks.database = (SELECT oid FROM pg_database WHERE datname = current_database())`,
    [SERVICE],
  );
  return rows[0]?.name;
}
