import { setTimeout as sleep } from 'node:timers/promises';
import type { Pool, PoolClient } from 'pg';
import { Batcher } from './batcher.js';
import { isDatabaseUnavailable } from './database-unavailable.js';
import { type Execution, PreparedStatement } from './prepared-statement.js';
import type { Columns } from './table.js';

/** How long a statement waits until a replica is known to be up to date. Then the primary serves it. */
const MAX_WAIT_MS = 100;
const FIRST_PAUSE_MS = 1;
const PROBE_INTERVAL_MS = 1_000;

/** The end of the WAL that is on the primary's disk. A commit is acknowledged, and seen by others, when its WAL is. */
const POSITION = new PreparedStatement(
  'position of the primary',
  `SELECT pg_wal_lsn_diff(pg_current_wal_flush_lsn(), '0/0'), system_identifier FROM pg_control_system()`,
  ([position, system]: Columns): Position => ({ position: BigInt(position as string), system: system as string }),
);
/** No row if the server is a primary. */
const REPLAYED = new PreparedStatement(
  'position of the replica',
  `SELECT pg_wal_lsn_diff(pg_last_wal_replay_lsn(), '0/0'), system_identifier FROM pg_control_system() WHERE pg_is_in_recovery()`,
  ([position, system]: Columns): Position => ({ position: BigInt(position as string), system: system as string }),
);

interface Position {
  /** Bytes from the beginning of the WAL. */
  readonly position: bigint;
  /** Which replicas share with their primary, and no other servers. */
  readonly system: string;
}

export interface ReplicaPool {
  /** For people: host and port. */
  readonly name: string;
  readonly pool: Pool;
}

/** For logs and metrics. Must not throw. */
export interface ReplicaObserver {
  /** Called once for each statement that replicas may serve. */
  read(servedBy: 'replica' | 'primary'): void;
  /** @param problem why the replica is left out; undefined if it is used */
  changed(replica: string, problem: string | undefined): void;
}

/**
 * Runs statements that read on replicas that are up to date, otherwise on the primary. A replica is up to date if it has replayed
 * everything that the primary had committed when the statement was asked for, so the result is as recent as the primary's (ADR 55).
 */
export class Replicas {
  private readonly replicas: readonly Replica[];
  private readonly positions = new Batcher<'position', Position>({ maxSize: 1, run: () => POSITION.run(this.primary(), []) });
  private readonly stopping = new AbortController();
  private observer: ReplicaObserver | undefined;
  private turn = 0;

  constructor(
    private readonly primary: () => Pool,
    pools: readonly ReplicaPool[],
  ) {
    this.replicas = pools.map((pool) => new Replica(pool, (name, problem) => this.observer?.changed(name, problem)));
  }

  /** Each replica, and why it is left out. */
  get problems(): ReadonlyMap<string, string | undefined> {
    return new Map(this.replicas.map(({ name, problem }) => [name, problem]));
  }

  observe(observer: ReplicaObserver): void {
    this.observer = observer;
  }

  /** Begins to look after the replicas. Until a replica has proved to be up to date, it is not used. */
  start(): void {
    for (const replica of this.replicas) void this.keepProbing(replica);
  }

  /** As `pool.query`. */
  async query<Row, RowColumns extends Columns>(execution: Execution<Row, RowColumns>): Promise<Row[]> {
    const rows = await this.readFromReplica(execution);
    this.observer?.read(rows ? 'replica' : 'primary');
    return rows ?? (this.primary().query(execution.again()) as unknown as Promise<Row[]>);
  }

  async close(): Promise<void> {
    this.stopping.abort();
    await Promise.all(this.replicas.map(({ pool }) => pool.end()));
  }

  private async readFromReplica<Row, RowColumns extends Columns>(execution: Execution<Row, RowColumns>): Promise<Row[] | undefined> {
    const used = this.replicas.filter(({ problem }) => problem === undefined);
    const replica = used[this.turn++ % used.length];
    const position = replica && (await this.position().catch(unlessUnavailable));
    return position && replica.read(execution, position);
  }

  /** Of the primary, not before this call. Concurrent calls share a statement. */
  private position(): Promise<Position> {
    return this.positions.submit('position');
  }

  private async keepProbing(replica: Replica): Promise<void> {
    const { signal } = this.stopping;
    while (!signal.aborted) {
      await this.position().then(
        (position) => replica.probe(position),
        (error: unknown) => {
          // Without a primary there is nothing to compare with.
          if (!isDatabaseUnavailable(error)) replica.leaveOut(error);
        },
      );
      await sleep(PROBE_INTERVAL_MS, undefined, { signal, ref: false }).catch(() => undefined);
    }
  }
}

class Replica {
  readonly name: string;
  readonly pool: Pool;
  /** Why it is left out; undefined while it is used. */
  problem: string | undefined = 'it is not connected yet';

  constructor(
    { name, pool }: ReplicaPool,
    private readonly onChange: (name: string, problem: string | undefined) => void,
  ) {
    this.name = name;
    this.pool = pool;
    // Lost idle connections are replaced by the pool.
    pool.on('error', () => undefined);
  }

  /** Returns undefined, and leaves the replica out until the next probe, if it is not up to date in time or fails. */
  async read<Row, RowColumns extends Columns>(execution: Execution<Row, RowColumns>, atLeast: Position): Promise<Row[] | undefined> {
    try {
      const client = await this.connectUpToDate(atLeast);
      return await releaseAfter(client, () => execution.runOn(client));
    } catch (error) {
      this.leaveOut(error);
      return undefined;
    }
  }

  async probe(atLeast: Position): Promise<void> {
    try {
      (await this.connectUpToDate(atLeast)).release();
      this.report(undefined);
    } catch (error) {
      this.leaveOut(error);
    }
  }

  leaveOut(reason: unknown): void {
    this.report((reason as Error).message);
  }

  private report(problem: string | undefined): void {
    if (this.problem === problem) return;
    this.problem = problem;
    this.onChange(this.name, problem);
  }

  /** Returns a connection, since behind one address there may be several replicas. */
  private async connectUpToDate(atLeast: Position): Promise<PoolClient> {
    const deadline = new AbortController();
    const connecting = this.connectWhenUpToDate(atLeast, deadline.signal);
    const late = passed(MAX_WAIT_MS, deadline.signal);
    try {
      return await Promise.race([connecting, late]);
    } catch (error) {
      // A connection that comes later serves others.
      connecting.then(
        (client) => client.release(),
        () => undefined,
      );
      throw error;
    } finally {
      deadline.abort();
    }
  }

  private async connectWhenUpToDate(atLeast: Position, signal: AbortSignal): Promise<PoolClient> {
    const client = await this.pool.connect();
    try {
      for (let pauseMs = FIRST_PAUSE_MS; !signal.aborted; pauseMs *= 2) {
        const [replayed] = await REPLAYED.execution([]).runOn(client);
        if (!replayed) throw new Error('the server is not a replica');
        if (replayed.system !== atLeast.system) throw new Error('the server is a replica of another database cluster');
        if (replayed.position >= atLeast.position) break;
        await sleep(pauseMs);
      }
      return client;
    } catch (error) {
      client.release(true);
      throw error;
    }
  }
}

async function releaseAfter<T>(client: PoolClient, work: () => Promise<T>): Promise<T> {
  try {
    const result = await work();
    client.release();
    return result;
  } catch (error) {
    client.release(true);
    throw error;
  }
}

/** The statement goes to the primary, which reports a fault by itself. It is not asked twice if it is away. */
function unlessUnavailable(error: unknown): undefined {
  if (isDatabaseUnavailable(error)) throw error;
}

/** Rejects after the time, but not before responses that have arrived in the meantime are read: the event loop may be late. */
async function passed(ms: number, signal: AbortSignal): Promise<never> {
  await sleep(ms, undefined, { signal, ref: false });
  await new Promise((resolve) => setImmediate(resolve));
  throw new Error(`it is not up to date within ${String(ms)} ms`);
}
