import { isRowError } from '../connection/error-meaning.js';
import type { DatabasePool } from '../connection/database-pool.js';
import { retryRead } from '../connection/retry.js';
import { Batcher } from '../statements/batcher.js';
import type { Recorded } from '../statements/find-statements.js';
import type { Stored } from '../statements/insert-statements.js';
import { arraysOf, type PreparedStatement, type Values } from '../statements/prepared-statement.js';
import { AloneQueue, isWaiting } from './alone.js';

const MAX_INSERTS = 128;

export interface InsertStatements {
  readonly pool: DatabasePool;
  /** Inserts several rows. Skips rows with keys or unique values that exist. */
  readonly insert: PreparedStatement<Stored>;
  /** Inserts a row, or fails with the error of the constraint that it violates. The same statement if no values are unique. */
  readonly insertOrFail: PreparedStatement<Stored>;
  /** Inserts a row that does not share its statement, and fails like `insertOrFail`. */
  readonly insertOne?: PreparedStatement<object> | undefined;
  /** Finds the records of keys. Undefined for inserts without keys. */
  readonly findRecorded?: PreparedStatement<Recorded> | undefined;
  /** Whether another transaction recorded a key of the statement, which had no effect. */
  readonly isKeyTaken?: (error: unknown) => boolean;
}

export interface InsertCall {
  readonly request: object;
  /** The parameters of the statements. With a key, they begin with the client and the key. */
  readonly values: Values;
}

interface InsertOptions<Result> {
  readonly statements: () => InsertStatements;
  /** After this time, an insert fails that waits for another transaction. */
  readonly lockTimeoutMs: number;
  readonly toResult: (row: object, call: InsertCall) => Result;
  /** Returns the result of the first call with a key. */
  readonly replay: (recorded: Recorded) => Promise<Result>;
}

/** Inserts the rows of concurrent calls in one statement, finds the keys that were not inserted, and repeats only the other calls. */
export class BatchedInserts<Result> {
  private readonly batcher = new Batcher<InsertCall, Result>({
    maxSize: MAX_INSERTS,
    isItemError: isRowError,
    run: (calls) => this.run(calls),
  });
  private readonly alone: AloneQueue;

  constructor(private readonly options: InsertOptions<Result>) {
    this.alone = new AloneQueue(options.lockTimeoutMs);
  }

  submit(call: InsertCall): Promise<Result> {
    return this.batcher.submit(call);
  }

  private async run(calls: readonly InsertCall[]): Promise<(Result | Promise<Result>)[]> {
    const { insert, insertOrFail, isKeyTaken } = this.options.statements();
    let inserted: Inserted = new Map();
    let waits = false;
    try {
      inserted = await this.insert(calls);
    } catch (error) {
      waits = isWaiting(error);
      if (!waits && !isKeyTaken?.(error)) throw error;
    }
    const recorded = await this.find(calls.filter((_, index) => !inserted.get(index)));
    return calls.map((call, index) => {
      const row = inserted.get(index);
      if (row) return this.options.toResult(row, call);
      const record = recorded.get(call);
      if (record) return this.options.replay(record);
      if (waits) return this.alone.run(() => this.insertAlone(call, insert));
      if (inserted.has(index)) return insert === insertOrFail ? notStored() : this.alone.run(() => this.insertAlone(call, insertOrFail));
      // Its key was deleted in between, or that of another call failed the statement.
      return this.submit(call);
    });
  }

  private async insert(calls: readonly InsertCall[]): Promise<Inserted> {
    const { pool, insert, insertOne } = this.options.statements();
    const [only] = calls;
    if (insertOne && only && calls.length === 1) return new Map([[0, (await insertOne.run(pool, only.values))[0] ?? (await notStored())]]);
    const columns = arraysOf(calls.map(({ values }) => values));
    return new Map((await insert.run(pool, columns)).map(({ index, row }) => [index, row]));
  }

  /** Returns the records of the calls whose keys exist. */
  private async find(calls: readonly InsertCall[]): Promise<Map<InsertCall, Recorded>> {
    const { pool, findRecorded } = this.options.statements();
    if (!findRecorded || calls.length === 0) return new Map();
    const keys = arraysOf(calls.map(({ values: [clientId, key] }) => [clientId, key]));
    const records = await retryRead(() => findRecorded.run(pool, keys));
    return new Map(records.map((record) => [calls[record.index] as InsertCall, record]));
  }

  private async insertAlone(call: InsertCall, statement: PreparedStatement<Stored>): Promise<Result> {
    const { pool, insertOrFail } = this.options.statements();
    let failure: Error | undefined;
    try {
      const [stored] = await statement.run(pool, arraysOf([call.values]));
      if (stored?.row) return this.options.toResult(stored.row, call);
    } catch (error) {
      if (!isRowError(error)) throw error;
      failure = error as Error;
    }
    // The values of a repeated request exist, too, so its key is more important than the failure.
    const recorded = (await this.find([call])).get(call);
    if (recorded) return await this.options.replay(recorded);
    if (failure) throw failure;
    return statement === insertOrFail ? notStored() : this.insertAlone(call, insertOrFail);
  }
}

/** The stored rows by the index of the call. Undefined for a row that was skipped; calls whose keys exist are missing. */
type Inserted = ReadonlyMap<number, object | undefined>;

function notStored(): Promise<never> {
  return Promise.reject(new Error('The database did not store the row, for example because of a trigger.'));
}
