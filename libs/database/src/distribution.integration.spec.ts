import { createTestDatabase, type TestDatabase } from '@animal-store/local-postgres/testing';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Client } from 'pg';
import { Column, type DataSource, Entity, PrimaryColumn, PrimaryGeneratedColumn } from 'typeorm';
import { createDataSource } from './data-source.js';
import { distributedTables, tablesToDistribute } from './distribution.js';
import { IdempotencyKeyEntity } from './idempotency-key.entity.js';
import { migrateUp } from './migrations.js';

@Entity({ schema: 'shop', name: 'Order lines' })
class OrderLineEntity {
  @PrimaryGeneratedColumn('identity', { type: 'bigint' })
  id!: bigint;
}

@Entity({ schema: 'shop', name: 'order_line_keys' })
class OrderLineKeyEntity extends IdempotencyKeyEntity {
  @Column('bigint', { name: 'line_id' })
  override rowId!: bigint;
}

@Entity({ schema: 'staff', name: 'people' })
class PersonEntity {
  @PrimaryColumn('bigint')
  id!: bigint;
}

const PERSISTENCE = [
  { schema: 'shop', entities: [OrderLineEntity, OrderLineKeyEntity], migrations: [] },
  { schema: 'staff', entities: [PersonEntity], migrations: [], sharded: false },
];
const TABLES = [
  { name: '"shop"."Order lines"', column: 'id' },
  { name: '"shop"."order_line_keys"', column: 'key' },
];

/** What the migrations use of Citus, which npm does not have: the extension, its table, and a function that records its call there. */
const CITUS = `
  SET allow_system_table_mods = on;
  UPDATE pg_extension SET extname = 'citus' WHERE extname = 'plpgsql';
  CREATE TABLE pg_catalog.pg_dist_partition (logicalrelid regclass, partmethod "char", distribution text, unsafe_triggers text);
  CREATE FUNCTION pg_catalog.create_distributed_table(text, text) RETURNS void LANGUAGE sql AS
    $$ INSERT INTO pg_dist_partition VALUES (to_regclass($1), 'h', $2, current_setting('citus.enable_unsafe_triggers')) $$;`;

let database: TestDatabase;
let client: Client;
let sources: DataSource[];

async function open(citus: boolean): Promise<DataSource> {
  const dataSource = createDataSource({ url: database.url, applicationName: 'spec', poolSize: 1, persistence: PERSISTENCE, citus });
  await dataSource.initialize();
  sources.push(dataSource);
  return dataSource;
}

beforeAll(async () => {
  sources = [];
  database = await createTestDatabase();
  client = new Client({ connectionString: database.url });
  await client.connect();
  await client.query(`CREATE SCHEMA shop; CREATE TABLE shop."Order lines" (id bigint); CREATE TABLE shop.order_line_keys (key text)`);
});

afterAll(async () => {
  await Promise.all(sources.map((source) => source.destroy()));
  await client.end();
  await database.drop();
});

it('distributes the tables of contexts that are sharded, those of idempotency keys by key', async () => {
  expect(distributedTables(await open(true))).toEqual(TABLES);
});

it('distributes nothing if Citus is off', async () => {
  expect(await tablesToDistribute(await open(false))).toEqual([]);
});

it('cannot tell what to distribute without the extension, which migrations report', async () => {
  const dataSource = await open(true);
  expect(await tablesToDistribute(dataSource)).toBeUndefined();
  const reported: (string | undefined)[] = [];
  await migrateUp(dataSource, { onDistributed: (table) => void reported.push(table) });
  await migrateUp(dataSource);
  expect(reported).toEqual([undefined]);
});

describe('with the extension', () => {
  beforeAll(async () => {
    await client.query(CITUS);
  });

  it('migrations distribute each table once, and report it', async () => {
    const dataSource = await open(true);
    const reported: (string | undefined)[] = [];
    const onDistributed = (table: string | undefined) => void reported.push(table);
    expect(await tablesToDistribute(dataSource)).toEqual(TABLES);
    await client.query(
      `SELECT set_config('citus.enable_unsafe_triggers', 'on', false), create_distributed_table('shop."Order lines"', 'id')`,
    );
    expect(await tablesToDistribute(dataSource)).toEqual(TABLES.slice(1));
    await migrateUp(dataSource, { onDistributed });
    await migrateUp(dataSource, { onDistributed });
    expect(reported).toEqual(['"shop"."order_line_keys"']);
    const { rows } = await client.query(`SELECT logicalrelid::text AS name, distribution, unsafe_triggers FROM pg_dist_partition`);
    expect(rows).toEqual([
      { name: 'shop."Order lines"', distribution: 'id', unsafe_triggers: 'on' },
      { name: 'shop.order_line_keys', distribution: 'key', unsafe_triggers: 'on' },
    ]);
  });
});
