import { setTimeout as sleep } from 'node:timers/promises';
import type { Client, Pool, PoolClient } from 'pg';
import { Batcher } from '../statements/batcher.js';
import { withDeadline } from '../connection/deadline.js';
import { isDatabaseUnavailable, isSessionUsable } from '../connection/error-meaning.js';
import { PreparedStatement } from '../statements/prepared-statement.js';
import { repeat } from '../connection/retry.js';
import type { Columns, Executor } from '../connection/statement.js';

/** Maximum time that a statement waits for a replica to be up to date. Afterwards the primary serves it. */
const MAX_WAIT_MS = 100;
const PROBE_INTERVAL_MS = 1_000;

const toPosition = ([position, system]: Columns): Position => ({ position: BigInt(position as string), system: system as string });
/** The end of the WAL on the primary's disk. A commit becomes visible only after its WAL is flushed. */
const POSITION = new PreparedStatement(
  'position of the primary',
  `SELECT pg_wal_lsn_diff(pg_current_wal_flush_lsn(), '0/0'), system_identifier FROM pg_control_system()`,
  toPosition,
);
/** Returns no row if the server is a primary. */
const REPLAYED = new PreparedStatement(
  'position of the replica',
  `SELECT pg_wal_lsn_diff(pg_last_wal_replay_lsn(), '0/0'), system_identifier FROM pg_control_system() WHERE pg_is_in_recovery()`,
  toPosition,
);

interface Position {
  /** Bytes from the beginning of the WAL. */
  readonly position: bigint;
  /** The system identifier. Only a primary and its replicas share it. */
  readonly system: string;
}

interface Replica {
  /** Host and port, for logs and metrics. */
  readonly name: string;
  readonly pool: Pool;
  /** Why the replica is not used; undefined while it is used. */
  problem: string | undefined;
}

/** For logs and metrics. Must not throw. */
export interface ReplicaObserver {
  /** Called once per statement that replicas may serve. */
  read(servedBy: 'replica' | 'primary'): void;
  changed(replica: string, problem: string | undefined): void;
}

/** Runs reads on replicas that have replayed what the primary had committed before the call (ADR 18), otherwise on the primary. */
export class Replicas implements Executor {
  private readonly replicas: readonly Replica[];
  /** The primary's position at the time of a call or later. Concurrent calls share a statement. */
  private readonly positions = new Batcher<'position', Position>({ maxSize: 1, run: () => POSITION.run(this.primary(), []) });
  private readonly stopping = new AbortController();
  private turn = 0;

  constructor(
    private readonly primary: () => Executor,
    pools: readonly Pick<Replica, 'name' | 'pool'>[],
    private readonly replicaObserver?: ReplicaObserver,
  ) {
    this.replicas = pools.map(({ name, pool }) => ({ name, pool, problem: 'it is not connected yet' }));
    // The pools replace lost idle connections.
    for (const { pool } of pools) pool.on('error', () => undefined);
  }

  get interceptor(): Executor['interceptor'] {
    return this.primary().interceptor;
  }

  /** Maps each replica to the reason why it is not used; undefined if it is used. */
  get problems(): ReadonlyMap<string, string | undefined> {
    return new Map(this.replicas.map(({ name, problem }) => [name, problem]));
  }

  /** Starts probing the replicas. A replica is used only after a successful probe. */
  start(): void {
    for (const replica of this.replicas)
      void repeat(this.stopping.signal, async () => {
        // While the primary is unavailable, replicas keep their state.
        await this.run(replica, () => Promise.resolve()).catch(() => undefined);
        return PROBE_INTERVAL_MS;
      });
  }

  async close(): Promise<void> {
    this.stopping.abort();
    await Promise.all(this.replicas.map(({ pool }) => pool.end()));
  }

  /** Runs `work` on the replica whose turn it is. If no replica is used, or `work` failed on it, the primary runs it. */
  async withClient<Result>(work: (client: Client) => Promise<Result>): Promise<Result> {
    const used = this.replicas.filter(({ problem }) => problem === undefined);
    const replica = used[this.turn++ % used.length];
    const served = replica && (await this.run(replica, work));
    this.replicaObserver?.read(served ? 'replica' : 'primary');
    return served ? served.result : this.primary().withClient(work);
  }

  /** Returns undefined if the replica failed or is late: a probe must then succeed. @throws Error if the primary is unavailable */
  private async run<Result>(replica: Replica, work: (client: Client) => Promise<Result>): Promise<{ readonly result: Result } | undefined> {
    const position = await this.positions.submit('position').catch((error: unknown) => {
      if (isDatabaseUnavailable(error)) throw error;
      this.report(replica, error as Error);
    });
    if (!position) return undefined;
    try {
      const client = await connectUpToDate(replica.pool, position);
      const result = await work(client).catch((error: unknown) => {
        client.release(error as Error);
        throw error;
      });
      client.release();
      this.report(replica, undefined);
      return { result };
    } catch (error) {
      const isStatementWrong = isSessionUsable(error) && !isDatabaseUnavailable(error);
      if (!isStatementWrong) this.report(replica, error as Error);
      return undefined;
    }
  }

  private report(replica: Replica, problem: Error | undefined): void {
    if (replica.problem === problem?.message) return;
    replica.problem = problem?.message;
    this.replicaObserver?.changed(replica.name, replica.problem);
  }
}

/** Returns a connection that is up to date. Checks each connection, because there may be several replicas behind one address. */
async function connectUpToDate(pool: Pool, atLeast: Position): Promise<PoolClient> {
  let isLate = false;
  const connect = async () => {
    const client = await pool.connect();
    try {
      for (let pauseMs = 1; ; pauseMs *= 2) {
        const [replayed] = await REPLAYED.runOn(client, []);
        if (!replayed) throw new Error('the server is not a replica');
        if (replayed.system !== atLeast.system) throw new Error('the server is a replica of another database cluster');
        if (isLate) break;
        if (replayed.position >= atLeast.position) return client;
        await sleep(pauseMs);
      }
    } catch (error) {
      client.release(error as Error);
      throw error;
    }
    client.release();
    return undefined;
  };
  const client = await withDeadline(connect(), MAX_WAIT_MS);
  isLate = true;
  if (!client) throw new Error(`the replica was not up to date within ${String(MAX_WAIT_MS)} ms`);
  return client;
}
