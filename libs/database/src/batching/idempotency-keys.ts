import { DomainError, IDEMPOTENCY_KEY_LIFETIME_HOURS, IDEMPOTENCY_KEY_REUSED } from '@animal-store/kernel';
import { escapeIdentifier } from 'pg';
import { Column, type DataSource, type EntityMetadata, PrimaryColumn } from 'typeorm';
import { Database } from '../database.js';
import type { KeyTable } from '../statements/insert-statements.js';
import { shardingOf } from '../statements/sharding.js';
import { qualifiedName } from '../statements/table.js';

/** A context extends it for a table in its own schema: `@Column('bigint', { name: 'pet_id' }) override rowId!: bigint`. */
export abstract class IdempotencyKeyEntity {
  /** No foreign key: clients belong to the context `access`. */
  @PrimaryColumn('bigint', { name: 'client_id' })
  clientId!: bigint;

  @PrimaryColumn('text')
  key!: string;

  /** 0 for a command. */
  abstract rowId: bigint;

  /** The values of the row in the first request, by property name. For a command, an array of its request and its result. */
  @Column('jsonb')
  request!: object;

  /** Set by the database. */
  @Column('timestamptz', { name: 'created_at', default: () => 'now()' })
  createdAt!: Date;
}

export function isKeyTable({ target }: EntityMetadata): boolean {
  return typeof target === 'function' && target.prototype instanceof IdempotencyKeyEntity;
}

export function keyTableOf(metadata: EntityMetadata): KeyTable {
  const { databaseName = '' } = metadata.findColumnWithPropertyName('rowId') ?? {};
  return { name: qualifiedName(metadata), rowId: escapeIdentifier(databaseName) };
}

/** A command is not repeated by a creation or by another command with its key. */
export function keyReused(): DomainError {
  return new DomainError(IDEMPOTENCY_KEY_REUSED, 'The Idempotency-Key was already used for another request; use a new key.');
}

/** Large enough for 200,000 keys per second, and small enough that a deletion holds its locks for a fraction of a second. */
const BATCH_SIZE = 10_000;

/** Deletes expired keys by the database's clock, and returns their number. Two at a time could deadlock: Citus lacks SKIP LOCKED. */
export class ExpireIdempotencyKeys {
  constructor(readonly dataSource: DataSource) {}

  async execute(): Promise<number> {
    let total = 0;
    for (const metadata of this.dataSource.entityMetadatas.filter(isKeyTable)) {
      const { name } = keyTableOf(metadata);
      const { setsLockTimeout } = shardingOf(metadata, Database.of(this).settings);
      let deleted: number;
      do {
        [, deleted] = await this.dataSource.query<[unknown, number]>(
          `DELETE FROM ${name} WHERE ${setsLockTimeout} AND created_at <= (SELECT max(created_at) FROM (
             SELECT created_at FROM ${name} WHERE created_at < now() - make_interval(hours => $1) ORDER BY created_at LIMIT $2
           ) AS oldest)`,
          [IDEMPOTENCY_KEY_LIFETIME_HOURS, BATCH_SIZE],
        );
        total += deleted;
      } while (deleted >= BATCH_SIZE);
    }
    return total;
  }
}
