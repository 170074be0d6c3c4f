import { setTimeout as sleep } from 'node:timers/promises';
import type { Client, Pool, PoolClient } from 'pg';
import { Batcher } from '../statements/batcher.js';
import { isDatabaseUnavailable, isSessionUsable } from '../connection/error-meaning.js';
import { PreparedStatement } from '../statements/prepared-statement.js';
import { repeat } from '../connection/retry.js';
import type { Columns, Execution, Executor } from '../connection/statement.js';

/** Maximum time that a statement waits for a replica to be up to date. Afterwards the primary serves it. */
const MAX_WAIT_MS = 100;
const FIRST_PAUSE_MS = 1;
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

export interface ReplicaPool {
  /** Host and port, for logs and metrics. */
  readonly name: string;
  readonly pool: Pool;
}

/** For logs and metrics. Must not throw. */
export interface ReplicaObserver {
  /** Called once per statement that replicas may serve. */
  read(servedBy: 'replica' | 'primary'): void;
  /** @param problem why the replica is not used; undefined if it is used */
  changed(replica: string, problem: string | undefined): void;
}

/**
 * Runs read statements on replicas that are up to date, otherwise on the primary. A replica is up to date if it has replayed
 * everything that the primary had committed at the time of the call, so reads are never stale (ADR 18).
 */
export class Replicas implements Executor {
  private readonly replicas: readonly Replica[];
  /** The primary's position at the time of a call or later. Concurrent calls share a statement. */
  private readonly positions = new Batcher<'position', Position>({ maxSize: 1, run: () => POSITION.run(this.primary(), []) });
  private readonly stopping = new AbortController();
  private replicaObserver: ReplicaObserver | undefined;
  private turn = 0;

  constructor(
    private readonly primary: () => Executor,
    pools: readonly ReplicaPool[],
  ) {
    this.replicas = pools.map((pool) => new Replica(pool, (name, problem) => this.replicaObserver?.changed(name, problem)));
  }

  get observer(): Executor['observer'] {
    return this.primary().observer;
  }

  get interceptor(): Executor['interceptor'] {
    return this.primary().interceptor;
  }

  /** Maps each replica to the reason why it is not used; undefined if it is used. */
  get problems(): ReadonlyMap<string, string | undefined> {
    return new Map(this.replicas.map(({ name, problem }) => [name, problem]));
  }

  observe(observer: ReplicaObserver): void {
    this.replicaObserver = observer;
  }

  /** Starts probing the replicas. A replica is used only after a successful probe. */
  start(): void {
    for (const replica of this.replicas) void repeat(this.stopping.signal, () => this.probe(replica));
  }

  /** Executes the statement like `DatabasePool.execute`. */
  async execute<Row>(execution: Execution<Row>): Promise<Row[]> {
    const rows = await this.readFromReplica(execution);
    this.replicaObserver?.read(rows ? 'replica' : 'primary');
    return rows ?? this.primary().execute(execution.copy());
  }

  async close(): Promise<void> {
    this.stopping.abort();
    await Promise.all(this.replicas.map(({ pool }) => pool.end()));
  }

  private async readFromReplica<Row>(execution: Execution<Row>): Promise<Row[] | undefined> {
    const used = this.replicas.filter(({ problem }) => problem === undefined);
    const replica = used[this.turn++ % used.length];
    const position = replica && (await this.positions.submit('position').catch(unlessUnavailable));
    return position && replica.read(execution, position);
  }

  private async probe(replica: Replica): Promise<number> {
    await this.positions.submit('position').then(
      (position) => replica.probe(position),
      (error: unknown) => {
        // While the primary is unavailable, replicas keep their state.
        if (!isDatabaseUnavailable(error)) replica.exclude(error);
      },
    );
    return PROBE_INTERVAL_MS;
  }
}

class Replica {
  readonly name: string;
  readonly pool: Pool;
  /** Why the replica is not used; undefined while it is used. */
  problem: string | undefined = 'it is not connected yet';

  constructor(
    { name, pool }: ReplicaPool,
    private readonly onChange: (name: string, problem: string | undefined) => void,
  ) {
    this.name = name;
    this.pool = pool;
    // The pool replaces lost idle connections.
    pool.on('error', () => undefined);
  }

  /**
   * Executes the statement. If it fails, returns undefined, because it then runs on the primary. If the replica fails or is late, also
   * excludes it until a probe succeeds.
   */
  async read<Row>(execution: Execution<Row>, atLeast: Position): Promise<Row[] | undefined> {
    try {
      const client = await this.connectUpToDate(atLeast);
      const rows = execution.runOn(client);
      rows.then(
        () => client.release(),
        (error: unknown) => client.release(error as Error),
      );
      return await rows;
    } catch (error) {
      const isStatementWrong = isSessionUsable(error) && !isDatabaseUnavailable(error);
      if (!isStatementWrong) this.exclude(error);
      return undefined;
    }
  }

  async probe(atLeast: Position): Promise<void> {
    try {
      (await this.connectUpToDate(atLeast)).release();
      this.report(undefined);
    } catch (error) {
      this.exclude(error);
    }
  }

  exclude(reason: unknown): void {
    this.report((reason as Error).message);
  }

  private report(problem: string | undefined): void {
    if (this.problem === problem) return;
    this.problem = problem;
    this.onChange(this.name, problem);
  }

  /** Returns a connection that is up to date. Checks each connection, because there may be several replicas behind one address. */
  private async connectUpToDate(atLeast: Position): Promise<PoolClient> {
    const deadline = new AbortController();
    const connecting = this.connectWhenUpToDate(atLeast, deadline.signal);
    const timeout = rejectAfter(MAX_WAIT_MS, deadline.signal);
    try {
      return await Promise.race([connecting, timeout]);
    } catch (error) {
      // A connection that is opened later goes back to the pool.
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
        if (lagOf(replayed, atLeast) <= 0n) break;
        await sleep(pauseMs);
      }
      return client;
    } catch (error) {
      client.release(error as Error);
      throw error;
    }
  }
}

/** Rethrows the error if the primary is unavailable. Ignores other errors, because the statement then runs on the primary. */
function unlessUnavailable(error: unknown): undefined {
  if (isDatabaseUnavailable(error)) throw error;
}

/** Rejects after the time. First lets the event loop read responses that have already arrived. */
async function rejectAfter(ms: number, signal: AbortSignal): Promise<never> {
  await sleep(ms, undefined, { signal, ref: false });
  await new Promise((resolve) => setImmediate(resolve));
  throw new Error(`the replica was not up to date within ${String(ms)} ms`);
}

/**
 * Returns how many bytes of WAL a replica is behind its primary, after waiting for as long as a list does; 0 if it is up to date.
 * @throws Error if the server is not a replica of the primary
 */
export async function replicaLag(primary: Client, replica: Client): Promise<bigint> {
  const position = (await readPosition(primary, POSITION)) as Position;
  const deadline = performance.now() + MAX_WAIT_MS;
  for (let pauseMs = FIRST_PAUSE_MS; ; pauseMs *= 2) {
    const lag = lagOf(await readPosition(replica, REPLAYED), position);
    if (lag <= 0n) return 0n;
    if (performance.now() >= deadline) return lag;
    await sleep(pauseMs);
  }
}

/** Does not prepare the statement, so it works behind every pooler. */
async function readPosition(client: Client, { text, toRow }: typeof POSITION): Promise<Position | undefined> {
  const { rows } = await client.query<string[]>({ text, rowMode: 'array' });
  return rows[0] && toRow(rows[0]);
}

function lagOf(replayed: Position | undefined, primary: Position): bigint {
  if (!replayed) throw new Error('the server is not a replica');
  if (replayed.system !== primary.system) throw new Error('the server is a replica of another database cluster');
  return primary.position - replayed.position;
}
