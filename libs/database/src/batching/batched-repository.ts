import {
  type EventDefinition,
  type IdempotencyKey,
  type JsonPage,
  MAX_PAGE_SIZE,
  type OrderedPageRequest,
  type OrderValue,
  type PageRequest,
  type Position,
} from '@animal-store/kernel';
import type { DatabaseError } from 'pg';
import type { Repository } from 'typeorm';
import { Batcher, BatchSlots, Failure } from '../statements/batcher.js';
import { Database } from '../database.js';
import { isConflict, isReadItemError, isRowError } from '../connection/error-meaning.js';
import { activeTraceParent, type Publication, publicationOf } from '../statements/publication.js';
import { BatchedLists } from './batched-lists.js';
import { type IdempotencyKeyEntity, keyReused, keyTableOf } from './idempotency-key.entity.js';
import { arraysOf, checkedValue, type Values } from '../statements/prepared-statement.js';
import { retryConflict, retryRead } from '../connection/retry.js';
import {
  findOneStatement,
  findRecordedStatement,
  findStatement,
  insertOneStatement,
  insertOnceStatement,
  insertStatement,
  insertUniqueStatement,
  type MaybeInserted,
} from '../statements/statements.js';
import { isSharded, shardingOf } from '../statements/sharding.js';
import { Table } from '../statements/table.js';
import { UNIQUE_VIOLATION, uniqueValuesOf, violationOf } from '../statements/unique-values.js';

/** An entity whose identifier PostgreSQL generates: `@PrimaryGeneratedColumn('identity', { type: 'bigint' }) id!: bigint`. */
export interface EntityWithId {
  id: bigint;
}

/**
 * A row without its identifier. Optional properties of an entity are for columns with `select: false`: TypeORM's own repository reads and
 * writes them, and PostgreSQL sets their default.
 */
export type NewRow<Entity extends EntityWithId> = {
  readonly [
    Property in keyof Entity as Property extends 'id' ? never : undefined extends Entity[Property] ? never : Property
  ]: Entity[Property];
};

/**
 * Selects rows with exactly these values, null included. Undefined members are ignored. Requires an index on the columns, in the order of
 * the entity, and the identifier.
 */
export type Filter<Entity extends EntityWithId> = { readonly [Property in keyof NewRow<Entity>]?: NewRow<Entity>[Property] | undefined };

export interface InsertOnceResult<Entity extends EntityWithId> {
  readonly id: bigint;
  /** The row of the first call with the key. */
  readonly row: NewRow<Entity>;
  /** Whether an earlier call with the same key inserted the row. */
  readonly replayed: boolean;
}

/** An item of a page. */
export type Item<Entity extends EntityWithId, Listed extends keyof NewRow<Entity>> = Pick<Entity, 'id' | Listed>;

/** The properties that may order a list: those of the items, except nullable ones and booleans. */
export type OrderProperty<Entity extends EntityWithId, Listed extends keyof NewRow<Entity>> = {
  [Property in Listed]: Entity[Property] extends OrderValue ? Property & string : never;
}[Listed];

interface KeyedRow<Entity extends EntityWithId> {
  readonly row: NewRow<Entity>;
  readonly values: Values;
  readonly key: IdempotencyKey;
}

export interface BatchedRepositoryOptions<Listed> {
  /** The event of each inserted row. It has the row's identifier as that of its aggregate, and the columns with the names of its members. */
  readonly publishes?: EventDefinition;
  /** The properties of an item in a page, in addition to the identifier. The default is all. `findById` returns all. */
  readonly columns?: readonly Listed[];
}

const MAX_INSERTS = 128;
const MAX_FINDS = 256;

const CONCURRENT_READS = 2;

/**
 * Wraps a TypeORM repository and runs concurrent calls in one statement. Concurrent inserts commit together. Each read sees all writes
 * that were committed before the call. Names and types come from the entity.
 */
export class BatchedRepository<Entity extends EntityWithId, Listed extends keyof NewRow<Entity> = keyof NewRow<Entity>> {
  /** The items are the values of the columns, and with an event TRACE_PARENT. */
  private readonly inserts: Batcher<Values, bigint>;
  private readonly keyedInserts: Batcher<KeyedRow<Entity>, InsertOnceResult<Entity>>;
  private readonly pendingByKey = new Map<string, Promise<InsertOnceResult<Entity>>>();
  private readonly finds: Batcher<bigint, Entity | undefined>;
  private readonly lists: BatchedLists<Item<Entity, Listed>>;
  private statements: ReturnType<typeof prepare<Entity>> | undefined;
  /** The event, if it may have a subscription. */
  private readonly event: Publication | undefined;

  /** @param keys stores the idempotency keys of `insertOnce` */
  constructor(
    private readonly repository: Repository<Entity>,
    private readonly keys?: Repository<IdempotencyKeyEntity>,
    { publishes, columns }: BatchedRepositoryOptions<Listed> = {},
  ) {
    const { replicas, settings } = Database.of(repository.manager);
    this.event = publishes && publicationOf(settings, publishes);
    const insertOptions = { maxSize: MAX_INSERTS, isItemError: isInsertItemError };
    this.inserts = new Batcher({ ...insertOptions, run: (rows) => this.runInserts(rows) });
    this.keyedInserts = new Batcher({ ...insertOptions, run: (keyedRows) => this.runKeyedInserts(keyedRows) });
    const { concurrentReads = CONCURRENT_READS } = settings;
    const slots = new BatchSlots(concurrentReads);
    this.finds = new Batcher({ maxSize: MAX_FINDS, slots, isItemError: isReadItemError, run: (ids) => this.runFinds(ids) });
    // Pages may wait for a replica. With separate slots, `findById` does not wait for pages.
    this.lists = new BatchedLists(replicas ? new BatchSlots(concurrentReads) : slots, () => this.prepared(), columns);
  }

  /** Inserts a row and resolves with its identifier after the commit. A row that violates a constraint fails without affecting others. */
  insert(row: NewRow<Entity>): Promise<bigint> {
    return orRejected(() => this.inserts.submit(this.valuesOf(row)));
  }

  /**
   * Inserts the row and its key in one transaction. If the key exists, returns the row of the first call, even for concurrent calls
   * in other processes. The caller checks whether that row equals its own.
   */
  insertOnce(row: NewRow<Entity>, key: IdempotencyKey): Promise<InsertOnceResult<Entity>> {
    const name = `${String(key.clientId)} ${key.key}`;
    const first = this.pendingByKey.get(name);
    if (first) return this.repeat(first, row, key);
    return orRejected(() => {
      for (const part of [key.clientId, key.key]) checkedValue('The idempotency key', part);
      const inserted = this.keyedInserts.submit({ row, values: this.valuesOf(row), key });
      this.pendingByKey.set(name, inserted);
      const forget = () => this.pendingByKey.delete(name);
      inserted.then(forget, forget);
      return inserted;
    });
  }

  /** Waits for a call with the same key. If that one has a wrong row, inserts this one. */
  private async repeat(
    first: Promise<InsertOnceResult<Entity>>,
    row: NewRow<Entity>,
    key: IdempotencyKey,
  ): Promise<InsertOnceResult<Entity>> {
    const result = await first.catch(unlessRowError);
    return result ? { ...result, replayed: true } : this.insertOnce(row, key);
  }

  findById(id: bigint): Promise<Entity | undefined> {
    return orRejected(() => {
      checkedValue('id', id);
      return this.finds.submit(id);
    });
  }

  /**
   * Returns a page of rows, by identifier or in the order of the request. Equal concurrent calls share one result. Each combination of
   * filters and order requires an index; see `Persistence.lists`.
   */
  page(filter: Filter<Entity>, request: PageRequest): Promise<JsonPage<Item<Entity, Listed>>>;
  page(
    filter: Filter<Entity>,
    request: OrderedPageRequest<OrderProperty<Entity, Listed>>,
  ): Promise<JsonPage<Item<Entity, Listed>, Position>>;
  page(filter: Filter<Entity>, request: PageRequest | OrderedPageRequest): Promise<JsonPage<Item<Entity, Listed>, bigint | Position>> {
    const { limit } = request;
    if (!Number.isInteger(limit) || limit < 1 || limit > MAX_PAGE_SIZE)
      throw new RangeError(`limit must be an integer from 1 to ${String(MAX_PAGE_SIZE)}`);
    return this.lists.find(filter, request);
  }

  /** Builds the statements on the first call, because the metadata does not exist before the DataSource is connected. */
  private prepared(): ReturnType<typeof prepare<Entity>> {
    return (this.statements ??= prepare(this.repository, this.keys, this.event));
  }

  private runInserts(rows: readonly Values[]): Promise<(bigint | Failure)[]> {
    const { pool, insertOne } = this.prepared();
    const only = rows.length === 1 ? rows[0] : undefined;
    if (!only) return this.insertAll(rows);
    return retryConflict(() => (insertOne ? insertOne.run(pool, only) : this.insertAll(rows)));
  }

  private async insertAll(rows: readonly Values[]): Promise<(bigint | Failure)[]> {
    const { pool, insert, insertUnique } = this.prepared();
    if (!insertUnique) return insert.run(pool, arraysOf(rows));
    const results: (bigint | Failure)[] = [];
    for (const { index, id } of await insertUnique.run(pool, arraysOf(rows))) {
      const insertAlone = async () => (await insert.run(pool, arraysOf([rows[index] as Values])))[0] as bigint;
      results[index] = id ?? (await this.rejected(insertAlone));
    }
    return results;
  }

  /** Returns the error of a row whose values exist. Only the error of a statement names which of several constraints it violates. */
  private rejected<Result>(insertAlone: () => Promise<Result>): Promise<Result | Failure> {
    const { onlyConstraint } = this.prepared();
    if (onlyConstraint) return Promise.resolve(new Failure(violationOf(onlyConstraint)));
    return retryConflict(insertAlone).catch((error: unknown) => new Failure(error));
  }

  /** Requires that no two rows have the same key. */
  private async runKeyedInserts(keyedRows: readonly KeyedRow<Entity>[]): Promise<(InsertOnceResult<Entity> | Failure)[]> {
    const { pool, insertOnce, findRecorded } = this.prepared();
    if (!insertOnce || !findRecorded) throw new Error('insertOnce requires a repository for idempotency keys.');
    const results = new Map<KeyedRow<Entity>, InsertOnceResult<Entity> | Failure>();
    for (let pending = keyedRows; pending.length > 0; pending = pending.filter((keyed) => !results.has(keyed))) {
      const keys = [pending.map(({ key }) => key.clientId), pending.map(({ key }) => key.key)];
      const columns = arraysOf(pending.map(({ values }) => values));
      const insert = () => this.insertKeyed([...keys, ...columns]);
      const rejected: KeyedRow<Entity>[] = [];
      // Another attempt at a batch is one at its halves, unless some of its rows are inserted.
      for (const { index, id } of await (keyedRows.length > 1 && results.size === 0 ? insert() : retryConflict(insert))) {
        const keyed = pending[index] as KeyedRow<Entity>;
        if (id === undefined) rejected.push(keyed);
        else results.set(keyed, { id, row: keyed.row, replayed: false });
      }
      if (results.size === keyedRows.length) break;
      // Keys that are neither inserted nor found were deleted in between, so the loop inserts them again.
      for (const { index, id, row } of await retryRead(() => findRecorded.run(pool, keys))) {
        const keyed = pending[index] as KeyedRow<Entity>;
        if (results.has(keyed)) continue;
        // The record of a command is an array.
        const isOfCommand = Array.isArray(row);
        results.set(keyed, isOfCommand ? new Failure(keyReused()) : { id, row: await this.completed(id, row), replayed: true });
      }
      // The values of a repeated request exist, too, so only the others are rejected.
      for (const keyed of rejected.filter((each) => !results.has(each))) {
        const { row, values, key } = keyed;
        const outcome = await this.rejected(() => insertOnce.run(pool, [[key.clientId], [key.key], ...arraysOf([values])]));
        if (outcome instanceof Failure) results.set(keyed, outcome);
        else for (const { id } of outcome) results.set(keyed, { id, row, replayed: false });
      }
    }
    return keyedRows.map((keyed) => results.get(keyed) as InsertOnceResult<Entity> | Failure);
  }

  private async insertKeyed(parameters: readonly Values[]): Promise<readonly MaybeInserted[]> {
    const { pool, insertOnce, insertUniqueOnce } = this.prepared();
    if (!insertUniqueOnce) return insertOnce?.run(pool, parameters) ?? [];
    return insertUniqueOnce.run(pool, parameters).catch((error: unknown) => {
      const { code, schema, table } = error as Partial<DatabaseError>;
      const metadata = this.keys?.metadata;
      // Another process has inserted one of the keys in the meantime, so the statement had no effect. Now the key can be found.
      if (code === UNIQUE_VIOLATION && table === metadata?.tableName && schema === metadata?.schema) return [];
      throw error;
    });
  }

  /** Reads each value once, so that later changes of the row have no effect. @throws TypeError if the database cannot store a value */
  private valuesOf(row: NewRow<Entity>): Values {
    const { columns } = this.prepared().table;
    const values = columns.map(({ property }) => checkedValue(property, row[property as keyof NewRow<Entity>]));
    if (this.event) values.push(activeTraceParent());
    return values;
  }

  /** Returns the recorded row. Columns that were added since have their current values, or null if the row no longer exists. */
  private async completed(id: bigint, recorded: Readonly<Record<string, unknown>>): Promise<NewRow<Entity>> {
    const properties = this.prepared().table.columns.map(({ property }) => property);
    const [row] = properties.every((property) => Object.hasOwn(recorded, property)) ? [] : await this.runFinds([id]);
    const current = { ...row } as Record<string, unknown>;
    const valueOf = (property: string) => (Object.hasOwn(recorded, property) ? recorded[property] : (current[property] ?? null));
    return Object.fromEntries(properties.map((property) => [property, valueOf(property)])) as NewRow<Entity>;
  }

  private async runFinds(ids: readonly bigint[]): Promise<(Entity | undefined)[]> {
    const { pool, find, findOne } = this.prepared();
    const rows = (await retryRead(() => (ids.length === 1 ? findOne.run(pool, ids) : find.run(pool, [ids])))) as Entity[];
    const byId = new Map(rows.map((row) => [row.id, row]));
    return ids.map((id) => byId.get(id));
  }
}

/** Builds the statements of an entity. Requires a connected DataSource. */
function prepare<Entity extends EntityWithId>(
  repository: Repository<Entity>,
  keys: Repository<IdempotencyKeyEntity> | undefined,
  event: Publication | undefined,
) {
  const { pool, replicas, settings } = Database.of(repository.manager);
  if (repository.queryRunner?.isTransactionActive)
    throw new Error("A BatchedRepository is not part of a transaction: use TypeORM's repository in it.");
  if (keys && isSharded(keys.metadata, settings.persistence) !== isSharded(repository.metadata, settings.persistence))
    throw new Error(`${repository.metadata.name} and ${keys.metadata.name} must both be sharded, or both be in \`unsharded\`.`);
  const table = new Table(repository.metadata);
  const keyTable = keys && keyTableOf(keys.metadata);
  const sharding = shardingOf(repository.metadata, settings);
  // Those of a distributed table are not handled.
  const uniqueValues = sharding.insertsOne ? uniqueValuesOf(repository.metadata, table) : [];
  const order = [...new Set([...uniqueValues.flatMap(({ columns }) => columns), table.id])];
  const [first, another] = uniqueValues;
  // A violation of any other constraint, such as the primary key, is an error.
  const onlyConstraint = another || first?.isIndex ? undefined : first;
  // Two inserts without a check before could wait for each other's row.
  const isExclusive = uniqueValues.some(({ isExclusion }) => isExclusion);
  return {
    pool,
    sharding,
    /** Executes the statements of pages. */
    lists: replicas ?? pool,
    table,
    declared: settings.persistence.flatMap(({ lists = [] }) => lists.filter(({ entity }) => entity === repository.metadata.target)),
    insert: insertStatement(table, event),
    insertOne: event || isExclusive || !sharding.insertsOne ? undefined : insertOneStatement(table),
    insertOnce: keyTable && insertOnceStatement(table, keyTable, event),
    onlyConstraint,
    insertUnique: first && insertUniqueStatement(table, order, onlyConstraint?.constraint, event),
    insertUniqueOnce: first && keyTable && insertUniqueStatement(table, order, onlyConstraint?.constraint, event, keyTable),
    findRecorded: keyTable && findRecordedStatement(table, keyTable, sharding),
    find: findStatement(table, sharding),
    findOne: findOneStatement(table),
  };
}

/**
 * Turns an error of `call` into a rejection. An `async` function would resolve some microtasks later: callers that wait for a batch would miss
 * the start of the next one.
 */
function orRejected<Result>(call: () => Promise<Result>): Promise<Result> {
  try {
    return call();
  } catch (error) {
    return Promise.resolve().then(() => {
      throw error;
    });
  }
}

/** Ignores an error of another row, which then was not inserted. */
function unlessRowError(error: unknown): undefined {
  if (!isRowError(error)) throw error;
}

/** Whether a row, or its order in the batch, may have caused the error. */
function isInsertItemError(error: unknown): boolean {
  return isRowError(error) || isConflict(error);
}
