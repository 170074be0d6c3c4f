import { asDataFolderError } from './local-postgres-error.js';
import { PostgresServer, type Session } from './postgres-server.js';
import { ServicePostgres } from './service-postgres.js';

interface Options {
  readonly dataDir: string;
}

/** A running PostgreSQL with its data in a folder. */
export interface LocalPostgres {
  /** postgres:// URL of the database `animal_store`, as its owner. */
  readonly url: string;
  /** Stops the server, unless another process still uses it. */
  stop(): Promise<void>;
}

/** Starts the server of a data folder for the service, or takes over the server of a killed service. */
export function startLocalPostgres({ dataDir }: Options): Promise<ServicePostgres> {
  return openDataFolder(dataDir, (server, session) => ServicePostgres.open(server, session, dataDir));
}

/** Connects a command to the server of a data folder, which a service may share. Starts the server if necessary. */
export function connectLocalPostgres({ dataDir }: Options): Promise<LocalPostgres> {
  return openDataFolder(dataDir, async (server, session) => {
    let stopped: Promise<void> | undefined;
    return { url: server.url(session.port), stop: () => (stopped ??= server.release(session)) };
  });
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
