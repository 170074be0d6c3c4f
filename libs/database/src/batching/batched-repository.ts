import {
  DomainError,
  type EventDefinition,
  IDEMPOTENCY_KEY_REUSED,
  type IdempotencyKey,
  type JsonPage,
  JsonText,
  MAX_PAGE_SIZE,
  type OrderValue,
  type Outcome,
  type PageRequest,
} from '@animal-store/kernel';
import type { Repository } from 'typeorm';
import type { DatabasePool } from '../connection/database-pool.js';
import { hasTrait, isReadItemError } from '../connection/error-meaning.js';
import { retryRead } from '../connection/retry.js';
import { Database } from '../database.js';
import { Batcher, BatchSlots } from '../statements/batcher.js';
import { type Recorded, STORED } from '../statements/insert-statements.js';
import { checkedValue, PreparedStatement } from '../statements/prepared-statement.js';
import { isPublishing } from '../statements/publication.js';
import { isSharded, shardingOf } from '../statements/sharding.js';
import { names, Table } from '../statements/table.js';
import { BatchedInserts, type InsertCall, type Inserted } from './batched-inserts.js';
import { BatchedLists } from './batched-lists.js';
import { type IdempotencyKeyEntity, keyReused } from './idempotency-keys.js';

/** An entity whose identifier PostgreSQL generates: `@PrimaryGeneratedColumn('identity', { type: 'bigint' }) id!: bigint`. */
export interface EntityWithId {
  id: bigint;
}

/** A row without its identifier. */
export type NewRow<Entity extends EntityWithId> = { readonly [Property in keyof Omit<Entity, 'id'>]: Entity[Property] };

/** Selects rows with exactly these values. Undefined members are ignored. Requires an index; see `Persistence.lists`. */
export type Filter<Entity extends EntityWithId> = {
  readonly [Property in keyof NewRow<Entity>]?: NonNullable<NewRow<Entity>[Property]> | undefined;
};

/** The properties that may order a list: all except nullable ones and booleans. */
export type OrderProperty<Entity extends EntityWithId> = {
  [Property in keyof NewRow<Entity>]: Entity[Property] extends OrderValue ? Property & string : never;
}[keyof NewRow<Entity>];

const MAX_FINDS = 256;
const CONCURRENT_READS = 2;
/** One without keys and one with keys. */
const CONCURRENT_INSERTS = 2;

/** Runs concurrent calls of a TypeORM repository in one statement. A read sees all writes that were committed before the call. */
export class BatchedRepository<Entity extends EntityWithId> {
  private pool!: DatabasePool;
  private table!: Table;
  private inserts!: BatchedInserts<Entity>;
  private keyedInserts: BatchedInserts<Entity> | undefined;
  private readonly pendingByKey = new Map<string, Promise<Inserted<Entity>>>();
  private find!: PreparedStatement<object>;
  /** A call that runs alone has its own statement, because PostgreSQL executes it faster. */
  private findOne!: PreparedStatement<object>;
  private finds!: Batcher<bigint, Entity | undefined>;
  private lists!: BatchedLists<Entity>;

  /** @param options the event of each inserted row: its aggregate is the row, and its members are columns */
  constructor(
    private readonly repository: Repository<Entity>,
    private readonly keys?: Repository<IdempotencyKeyEntity>,
    private readonly options: { readonly publishes?: EventDefinition } = {},
  ) {
    Database.of(repository.manager).whenInitialized((database) => this.prepare(database));
  }

  /** Builds the statements when the metadata exists. An entity that is not supported fails the start, not the first request. */
  private prepare({ pool, replicas, settings }: Database): void {
    const { metadata, queryRunner } = this.repository;
    const keys = this.keys?.metadata;
    if (queryRunner?.isTransactionActive)
      throw new Error("A BatchedRepository is not part of a transaction: use TypeORM's repository in it.");
    if (keys && isSharded(keys, settings.persistence) !== isSharded(metadata, settings.persistence))
      throw new Error(`${metadata.name} and ${keys.name} must both be sharded, or both be in \`unsharded\`.`);
    const table = new Table(metadata);
    const sharding = shardingOf(metadata, settings);
    this.pool = pool;
    this.table = table;

    const event = isPublishing(settings) ? this.options.publishes : undefined;
    const maxWaitMs = settings.statementTimeoutMs || Infinity;
    const replay = (recorded: Recorded) => this.replay(recorded);
    const insertOptions = { pool, metadata, table, sharding, event, maxWaitMs, replay, slots: new BatchSlots(CONCURRENT_INSERTS) };
    this.inserts = new BatchedInserts(insertOptions);
    this.keyedInserts = keys && new BatchedInserts({ ...insertOptions, keys });

    const select = `SELECT ${names([table.id, ...table.columns])} FROM ${table.name} WHERE ${table.id.name}`;
    this.find = new PreparedStatement(`find ${table.label}`, `${select} = ANY (${sharding.ids})`, table.toRow);
    this.findOne = new PreparedStatement(`find one ${table.label}`, `${select} = $1`, table.toRow);
    const slots = new BatchSlots(CONCURRENT_READS);
    this.finds = new Batcher({ maxSize: MAX_FINDS, slots, isItemError: isReadItemError, run: (ids) => this.runFinds(ids) });
    this.lists = new BatchedLists({
      table,
      sharding,
      executor: replicas ?? pool,
      // Pages may wait for a replica. With separate slots, `findById` does not wait for pages.
      slots: replicas ? new BatchSlots(CONCURRENT_READS) : slots,
    });
  }

  /**
   * Inserts a row, and resolves with what was stored, after the commit. With a key, inserts both in one transaction; if the key exists,
   * resolves with the row of the first call, also of another process. A row that violates a constraint fails without affecting others.
   * @param request the values that the client has sent, without those that differ for each call, such as the time
   * @throws DomainError IDEMPOTENCY_KEY_REUSED if the key was used for a request with other values
   */
  async add(row: NewRow<Entity>, key?: IdempotencyKey, request: Partial<NewRow<Entity>> = row): Promise<Outcome<Entity>> {
    // Reads each value once, so that later changes of the row have no effect.
    const values = this.table.columns.map(({ property }) => checkedValue(property, row[property as keyof NewRow<Entity>]));
    const call = { request: row, values };
    const { result, replayed, request: first } = await (key ? this.insertOnce(call, key) : this.inserts.submit(call));
    if (replayed && !isSameRequest(request, first)) throw new DomainError(IDEMPOTENCY_KEY_REUSED);
    return { result, replayed };
  }

  private async insertOnce({ request, values }: InsertCall, key: IdempotencyKey): Promise<Inserted<Entity>> {
    if (!this.keyedInserts) throw new Error('An idempotency key requires a repository for keys.');
    const name = `${String(key.clientId)} ${key.key}`;
    for (let first = this.pendingByKey.get(name); first; first = this.pendingByKey.get(name)) {
      const outcome = await first.catch((error: unknown) => {
        // An error of another row, which then was not inserted.
        if (!hasTrait(error, 'row')) throw error;
      });
      if (outcome) return { ...outcome, replayed: true };
    }
    const keyValues = [key.clientId, key.key].map((part) => checkedValue('The idempotency key', part));
    const inserted = this.keyedInserts.submit({ request, values: [...keyValues, ...values] });
    this.pendingByKey.set(name, inserted);
    try {
      return await inserted;
    } finally {
      this.pendingByKey.delete(name);
    }
  }

  private async replay({ id, request }: Recorded): Promise<Inserted<Entity>> {
    // The record of a command is an array.
    if (Array.isArray(request)) throw keyReused();
    const { [STORED]: stored = request } = request;
    const row = await this.completed(id, stored as Recorded['request']);
    return { result: { id, ...row } as Entity, request: stored === request ? row : await this.completed(id, request), replayed: true };
  }

  /** Returns recorded values. Columns that were added since have their current values, or null if the row no longer exists. */
  private async completed(id: bigint, recorded: Recorded['request']): Promise<NewRow<Entity>> {
    const properties = this.table.columns.map(({ property }) => property);
    const [row] = properties.every((property) => Object.hasOwn(recorded, property)) ? [] : await this.runFinds([id]);
    const current = { ...row } as Record<string, unknown>;
    const valueOf = (property: string) => (Object.hasOwn(recorded, property) ? recorded[property] : (current[property] ?? null));
    return Object.fromEntries(properties.map((property) => [property, valueOf(property)])) as NewRow<Entity>;
  }

  async findById(id: bigint): Promise<Entity | undefined> {
    checkedValue('id', id);
    return this.finds.submit(id);
  }

  /** Returns the rows with these identifiers by their identifier, in one statement. */
  async findByIds(ids: readonly bigint[]): Promise<Map<bigint, Entity>> {
    const distinct = [...new Set(ids)];
    if (distinct.length > MAX_PAGE_SIZE) throw new RangeError(`ids must have at most ${String(MAX_PAGE_SIZE)} different identifiers`);
    for (const id of distinct) checkedValue('id', id);
    const rows = distinct.length === 0 ? [] : await this.runFinds(distinct);
    return new Map(rows.flatMap((row) => (row ? [[row.id, row] as const] : [])));
  }

  private async runFinds(ids: readonly bigint[]): Promise<(Entity | undefined)[]> {
    const { pool, find, findOne } = this;
    const rows = (await retryRead(() => (ids.length === 1 ? findOne.run(pool, ids) : find.run(pool, [ids])))) as Entity[];
    const byId = new Map(rows.map((row) => [row.id, row]));
    return ids.map((id) => byId.get(id));
  }

  /** Returns a page of rows, by identifier or in the order of the request. Requires an index; see `Persistence.lists`. */
  page(filter: Filter<Entity>, request: PageRequest<OrderProperty<Entity>>): Promise<JsonPage<Entity>> {
    const { limit } = request;
    if (!Number.isInteger(limit) || limit < 1 || limit > MAX_PAGE_SIZE)
      throw new RangeError(`limit must be an integer from 1 to ${String(MAX_PAGE_SIZE)}`);
    return this.lists.find(filter, request);
  }
}

function isSameRequest(repeated: object, first: object): boolean {
  const jsonOf = (request: object, name: string) => JsonText.of((request as Readonly<Record<string, unknown>>)[name]).text;
  return Object.keys(repeated).every((name) => jsonOf(repeated, name) === jsonOf(first, name));
}
