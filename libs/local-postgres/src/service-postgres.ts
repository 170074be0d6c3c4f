import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import type { PostgresServer, Session } from './postgres-server.js';
import { asDataFolderError, LocalPostgresError, ServerKilledError } from './local-postgres-error.js';

const WINDOW_MS = 60_000;
export const MAX_DEATHS = 5;

/** Decides how soon a server that has died is started again. */
export class RestartPolicy {
  private deaths: readonly number[] = [];
  private readonly pauseMs: number;

  constructor(pauseMs = 500) {
    this.pauseMs = pauseMs;
  }

  /** Returns the pause before the next start: none at first, then growing ones. Undefined after MAX_DEATHS deaths in a minute. */
  next(nowMs = performance.now()): number | undefined {
    this.deaths = [...this.deaths.filter((diedAtMs) => nowMs - diedAtMs < WINDOW_MS), nowMs];
    const count = this.deaths.length;
    if (count >= MAX_DEATHS) return undefined;
    return count === 1 ? 0 : this.pauseMs * 2 ** (count - 2);
  }
}

/** Starts the server of a service again, on the same port, whenever it dies. */
export class ServerKeeper {
  /** Rejects if the server cannot be kept running. */
  readonly failed: Promise<never>;
  private readonly stopping = new AbortController();
  private readonly running: Promise<void>;
  private readonly server: PostgresServer;
  private readonly lock: (session: Session) => Promise<void>;
  private readonly policy: RestartPolicy;
  private session: Session;

  /** `lock` takes the locks of the service in a new session. */
  constructor(server: PostgresServer, session: Session, lock: (session: Session) => Promise<void>, policy = new RestartPolicy()) {
    this.server = server;
    this.session = session;
    this.lock = lock;
    this.policy = policy;
    this.running = this.keep(session.port);
    this.failed = new Promise((_resolve, reject) => void this.running.catch(reject));
    this.failed.catch(() => undefined);
  }

  /** The session with the running server, or the last one. */
  get current(): Session {
    return this.session;
  }

  /** Stops the server unless another process uses it. Waits for a start that is in progress. */
  async stop(): Promise<void> {
    this.stopping.abort();
    await this.running.catch(() => undefined);
    await this.server.release(this.session);
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
      await this.lock(session).catch(rethrowUnlessLost);
    }
  }

  /** Returns undefined if the service is stopping or the server has died again. */
  private async restart(port: number): Promise<Session | undefined> {
    const pauseMs = this.policy.next();
    if (pauseMs === undefined)
      throw new LocalPostgresError(`PostgreSQL died ${MAX_DEATHS} times within a minute. See ${this.server.logFile}.`);
    const { signal } = this.stopping;
    await sleep(pauseMs, undefined, { signal }).catch(() => undefined);
    return signal.aborted
      ? undefined
      : this.server.start({ port }).catch((error: unknown) => rethrowUnlessLost(asDataFolderError(this.server.folder, error)));
  }
}

/** Ignores the errors of a server that is killed while it starts, and of connections to a server that dies. */
function rethrowUnlessLost(error: unknown): undefined {
  if (error instanceof LocalPostgresError && !(error instanceof ServerKilledError)) throw error;
}
