import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Cluster, Session } from './cluster.js';
import { asDataFolderError, LocalPostgresError, ServerKilledError } from './local-postgres-error.js';
import { MAX_DEATHS, RestartPolicy } from './restart-policy.js';

/** Starts the server of a service again, on the same port, whenever it dies. */
export class ServerKeeper {
  /** Rejects if the server cannot be kept running. */
  readonly failed: Promise<never>;
  private readonly stopping = new AbortController();
  private readonly running: Promise<void>;
  private readonly cluster: Cluster;
  private readonly lock: (session: Session) => Promise<void>;
  private readonly policy: RestartPolicy;
  private session: Session;

  /** `lock` takes the locks of the service in a new session. */
  constructor(cluster: Cluster, session: Session, lock: (session: Session) => Promise<void>, policy = new RestartPolicy()) {
    this.cluster = cluster;
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
    await this.cluster.release(this.session);
  }

  private async keep(port: number): Promise<void> {
    const { signal } = this.stopping;
    for (;;) {
      const over = AbortSignal.any([this.session.lost, signal]);
      if (!over.aborted) await once(over, 'abort');
      if (signal.aborted) return;
      // After the crash of a backend, PostgreSQL closes all connections and recovers.
      const session = (await this.cluster.reconnect(this.session.pid)) ?? (await this.restart(port));
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
      throw new LocalPostgresError(`PostgreSQL died ${MAX_DEATHS} times within a minute. See ${this.cluster.logFile}.`);
    const { signal } = this.stopping;
    await sleep(pauseMs, undefined, { signal }).catch(() => undefined);
    return signal.aborted
      ? undefined
      : this.cluster.start({ port }).catch((error: unknown) => rethrowUnlessLost(asDataFolderError(this.cluster.folder, error)));
  }
}

/** Ignores the errors of a server that is killed while it starts, and of connections to a server that dies. */
function rethrowUnlessLost(error: unknown): undefined {
  if (error instanceof LocalPostgresError && !(error instanceof ServerKilledError)) throw error;
}
