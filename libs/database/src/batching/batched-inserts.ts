import type { EventDefinition, Outcome } from '@animal-store/kernel';
import type { DatabaseError } from 'pg';
import type { EntityMetadata } from 'typeorm';
import type { DatabasePool } from '../connection/database-pool.js';
import { hasTrait } from '../connection/error-meaning.js';
import { retryConflict, retryRead } from '../connection/retry.js';
import { Batcher, BatchSlots } from '../statements/batcher.js';
import {
  findRecordedStatement,
  insertStatement,
  type Recorded,
  simpleInsertStatements,
  type Stored,
} from '../statements/insert-statements.js';
import { arraysOf, type PreparedStatement, type Values } from '../statements/prepared-statement.js';
import type { Sharding } from '../statements/sharding.js';
import { type Table, uniqueColumnsOf } from '../statements/table.js';
import { keyTableOf } from './idempotency-keys.js';

const MAX_INSERTS = 128;
/** Connections for rows that run alone. */
const MAX_ALONE = 2;
const UNIQUE_VIOLATION = '23505';
const LOCK_NOT_AVAILABLE = '55P03';

export interface InsertCall {
  readonly request: object;
  /** The parameters of the statements. With a key, they begin with the client and the key. */
  readonly values: Values;
}

export interface Inserted<Row> extends Outcome<Row> {
  /** The values of the first call with the key. They differ from the row only if a trigger changed it. */
  readonly request: object;
}

interface InsertOptions<Row> {
  readonly pool: DatabasePool;
  readonly metadata: EntityMetadata;
  readonly table: Table;
  readonly sharding: Sharding;
  readonly slots: BatchSlots;
  readonly event?: EventDefinition | undefined;
  /** The table of the keys. Without it, calls have no keys. */
  readonly keys?: EntityMetadata;
  /** After this time, an insert fails that waits for another transaction. */
  readonly maxWaitMs: number;
  /** Returns the result of the first call with a key. */
  readonly replay: (recorded: Recorded) => Promise<Inserted<Row>>;
}

/** Inserts the rows of concurrent calls in one statement, finds the keys that were not inserted, and repeats only the other calls. */
export class BatchedInserts<Row> {
  private readonly batcher: Batcher<InsertCall, Inserted<Row>>;
  private readonly aloneSlots = new BatchSlots(MAX_ALONE);
  /** Inserts several rows. Skips rows with keys or unique values that exist. */
  private readonly insertRows: PreparedStatement<Stored>;
  /** Inserts a row, or fails with the error of the constraint that it violates. The same statement if no values are unique. */
  private readonly insertOrFail: PreparedStatement<Stored>;
  /** Insert one or several rows without keys, events and unique values. */
  private readonly simple: { readonly one: PreparedStatement<object>; readonly many: PreparedStatement<object> } | undefined;
  private readonly findRecorded: PreparedStatement<Recorded> | undefined;

  constructor(private readonly options: InsertOptions<Row>) {
    const { metadata, table, sharding, event, slots } = options;
    this.batcher = new Batcher({
      maxSize: MAX_INSERTS,
      isItemError: (error) => hasTrait(error, 'row'),
      slots,
      run: (calls) => this.run(calls),
    });
    const keys = options.keys && keyTableOf(options.keys);
    // Those of a distributed table are not handled.
    const unique = sharding.insertsOne ? uniqueColumnsOf(metadata, table) : undefined;
    this.insertOrFail = insertStatement(table, sharding, { event, keys });
    this.insertRows = unique ? insertStatement(table, sharding, { event, keys, unique }) : this.insertOrFail;
    this.findRecorded = keys && findRecordedStatement(table, keys, sharding);
    if (sharding.insertsOne && !keys && !event && !unique) this.simple = simpleInsertStatements(table, sharding);
  }

  submit(call: InsertCall): Promise<Inserted<Row>> {
    return this.batcher.submit(call);
  }

  /**
   * Inserts the rows of a batch in one statement. The outcome of each call is one of these:
   * - Its row was stored: this is the result.
   * - Its key exists: the result is that of the first call with the key.
   * - The statement failed, and stored nothing, because another transaction has just recorded the key of another call: it joins the next batch.
   * - The statement waited for a lock or was a victim of a deadlock, and stored nothing: the call runs alone, until it gets the lock.
   * - Its row was skipped, because its unique values exist or a trigger rejected it: the call runs alone, and fails with the reason.
   *
   * All other errors fail the batch. If it is the error of a row, `Batcher` runs both halves of the batch, until only this row fails.
   */
  private async run(calls: readonly InsertCall[]): Promise<(Inserted<Row> | Promise<Inserted<Row>>)[]> {
    let stored: ReadonlyMap<number, object> = new Map();
    let failure: 'key taken' | 'waiting' | undefined;
    try {
      stored = await this.insert(calls);
    } catch (error) {
      failure = isLockTimeout(error) || hasTrait(error, 'conflict') ? 'waiting' : this.isKeyTaken(error) ? 'key taken' : undefined;
      if (!failure) throw error;
    }
    const recorded = await this.find(calls.filter((_, index) => !stored.has(index)));
    return calls.map((call, index) => {
      const row = stored.get(index);
      if (row) return insertedOf<Row>(row, call);
      const record = recorded.get(call);
      if (record) return this.options.replay(record);
      // Without any record, for example because a trigger changed the keys, the next batch would fail, too, and so on.
      if (failure === 'key taken' && recorded.size > 0) return this.submit(call);
      return this.runAlone(call, failure ? this.insertRows : this.insertOrFail);
    });
  }

  /** Returns the stored rows by the index of the call. */
  private async insert(calls: readonly InsertCall[]): Promise<ReadonlyMap<number, object>> {
    const { simple, options } = this;
    const [only] = calls;
    if (simple && only && calls.length === 1) return new Map((await simple.one.run(options.pool, only.values)).entries());
    const columns = arraysOf(calls.map(({ values }) => values));
    if (simple) return new Map((await simple.many.run(options.pool, columns)).entries());
    return new Map((await this.insertRows.run(options.pool, columns)).map(({ index, row }) => [index, row]));
  }

  private async find(calls: readonly InsertCall[]): Promise<Map<InsertCall, Recorded>> {
    const { findRecorded, options } = this;
    if (!findRecorded || calls.length === 0) return new Map();
    const keys = arraysOf(calls.map(({ values: [clientId, key] }) => [clientId, key]));
    const records = await retryRead(() => findRecorded.run(options.pool, keys));
    return new Map(records.map((record) => [calls[record.index] as InsertCall, record]));
  }

  /** Runs a call that would delay or fail a batch, few at a time. One that still waits for a lock goes to the end of the queue. */
  private async runAlone(call: InsertCall, statement: PreparedStatement<Stored>): Promise<Inserted<Row>> {
    const deadline = performance.now() + this.options.maxWaitMs;
    for (;;) {
      await new Promise<void>((begin) => this.aloneSlots.acquire(begin));
      try {
        return await retryConflict(() => this.insertAlone(call, statement));
      } catch (error) {
        if (!isLockTimeout(error) || performance.now() > deadline) throw error;
      } finally {
        this.aloneSlots.release(false);
      }
    }
  }

  /** Inserts a row, or learns why it is not inserted: only the error of a statement names the constraint. */
  private async insertAlone(call: InsertCall, statement: PreparedStatement<Stored>): Promise<Inserted<Row>> {
    let failure: Error | undefined;
    try {
      const [stored] = await statement.run(this.options.pool, arraysOf([call.values]));
      if (stored) return insertedOf<Row>(stored.row, call);
    } catch (error) {
      if (!hasTrait(error, 'row')) throw error;
      failure = error as Error;
    }
    // The values of a repeated request exist, too, so its key is more important than the failure.
    const recorded = (await this.find([call])).get(call);
    if (recorded) return await this.options.replay(recorded);
    if (failure) throw failure;
    if (statement !== this.insertOrFail) return this.insertAlone(call, this.insertOrFail);
    throw new Error('The database did not store the row, for example because of a trigger.');
  }

  /** Whether another transaction recorded a key of the statement, which had no effect. */
  private isKeyTaken(error: unknown): boolean {
    const { keys, sharding } = this.options;
    const { code, schema, table } = error as Partial<DatabaseError>;
    return code === UNIQUE_VIOLATION && sharding.tableOf(table) === keys?.tableName && schema === (keys?.schema ?? 'public');
  }
}

function insertedOf<Row>(row: object, { request }: InsertCall): Inserted<Row> {
  return { result: row as Row, replayed: false, request };
}

function isLockTimeout(error: unknown): boolean {
  return (error as { code?: unknown }).code === LOCK_NOT_AVAILABLE;
}
