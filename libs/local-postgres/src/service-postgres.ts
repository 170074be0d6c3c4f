import { once } from 'node:events';
import { asDataFolderError, LocalPostgresError, ServerKilledError } from './local-postgres-error.js';
import { type PostgresServer, SERVICE_ROLE, type Session, tryLock } from './postgres-server.js';

/** Key of the advisory lock in the database `postgres`, which allows one service per data folder. */
const SERVICE_LOCK = 2;
const WINDOW_MS = 60_000;
export const MAX_DEATHS = 5;

/** The server for a service, with a separate role. It is started again on the same port when it dies. */
export class ServicePostgres {
  /** postgres:// URL of the database `animal_store`, as its owner. */
  readonly url: string;
  /** Like `url`, but for a role that owns nothing and is not a superuser. The owner must grant it privileges. */
  readonly serviceUrl: string;
  readonly serviceRole = SERVICE_ROLE;
  /** Rejects with a LocalPostgresError if the server dies too often or cannot be started again. */
  readonly failed: Promise<never>;
  private readonly stopping = new AbortController();
  private readonly running: Promise<void>;
  private stopped: Promise<void> | undefined;
  private deaths: readonly number[] = [];

  private constructor(
    private readonly server: PostgresServer,
    private session: Session,
    private readonly dataDir: string,
    password: string,
    /** For example `18.4`. */
    readonly version: string,
  ) {
    this.url = server.url(session.port);
    this.serviceUrl = server.url(session.port, { user: SERVICE_ROLE, password });
    this.running = this.keep(session.port);
    this.failed = new Promise((_resolve, reject) => void this.running.catch(reject));
    this.failed.catch(() => undefined);
  }

  /** @throws LocalPostgresError if another service uses the folder */
  static async open(server: PostgresServer, session: Session, dataDir: string): Promise<ServicePostgres> {
    await lockService(session, dataDir);
    const password = await server.prepareServiceRole(session);
    const { rows } = await session.client.query<{ server_version: string }>('SHOW server_version');
    return new ServicePostgres(server, session, dataDir, password, rows[0]?.server_version ?? '');
  }

  /** Stops the server unless another process uses it. Waits for a start that is in progress. */
  stop(): Promise<void> {
    this.stopping.abort();
    this.stopped ??= this.running.catch(() => undefined).then(() => this.server.release(this.session));
    return this.stopped;
  }

  /** Requests an immediate shutdown without waiting for it, for a process that must exit. Committed data is kept. */
  kill(): void {
    const { lost, pid } = this.session;
    if (!lost.aborted) process.kill(pid, 'SIGQUIT');
  }

  private async keep(port: number): Promise<void> {
    const { signal } = this.stopping;
    for (;;) {
      const over = AbortSignal.any([this.session.lost, signal]);
      if (!over.aborted) await once(over, 'abort');
      if (signal.aborted) return;
      // After the crash of a backend, PostgreSQL closes all connections and recovers.
      const session = (await this.server.reconnect(this.session.pid)) ?? (await this.restart(port));
      if (!session) continue;
      this.session = session;
      if (session.port !== port) throw new LocalPostgresError('Another process has started PostgreSQL on another port.');
      await lockService(session, this.dataDir).catch(rethrowUnlessLost);
    }
  }

  /** Returns undefined if the server has died again. */
  private restart(port: number): Promise<Session | undefined> {
    const now = performance.now();
    this.deaths = [...this.deaths.filter((diedAt) => now - diedAt < WINDOW_MS), now];
    if (this.deaths.length >= MAX_DEATHS)
      throw new LocalPostgresError(`PostgreSQL died ${MAX_DEATHS} times within a minute. See ${this.server.logFile}.`);
    return this.server.start({ port }).catch((error: unknown) => rethrowUnlessLost(asDataFolderError(this.dataDir, error)));
  }
}

async function lockService({ client }: Session, dataDir: string): Promise<void> {
  while (!(await tryLock(client, SERVICE_LOCK))) {
    const { rows } = await client.query<{ name: string }>(
      `SELECT application_name AS name FROM pg_locks JOIN pg_stat_activity USING (pid)
        WHERE locktype = 'advisory' AND objid = $1 AND granted AND pg_locks.database = (SELECT oid FROM pg_database WHERE datname = current_database())`,
      [SERVICE_LOCK],
    );
    // If there is none, the service that held the lock has released it in the meantime.
    if (rows[0]) throw new LocalPostgresError(`The data folder ${dataDir} is in use by ${rows[0].name}.`);
  }
}

/** Ignores the errors of a server that is killed while it starts, and of connections to a server that dies. */
function rethrowUnlessLost(error: unknown): undefined {
  if (error instanceof LocalPostgresError && !(error instanceof ServerKilledError)) throw error;
}
