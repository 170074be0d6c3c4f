import { Database } from '@animal-store/database';
import { createTestDatabase, type TestDatabase } from '@animal-store/local-postgres/testing';
import { afterAll, beforeAll, beforeEach, expect, it } from '@jest/globals';
import { Column, Entity, PrimaryGeneratedColumn, type QueryRunner, Unique } from 'typeorm';
import { missingForLists } from './list-indexes.js';
import { breakingSchemaChanges, readColumns, unlimitedChanges } from './schema-changes.js';
import { undeclaredConstraints } from './unique-values.js';

@Entity({ schema: 'shop', name: 'orders' })
@Unique('orders_label_key', ['label'])
class OrderEntity {
  @PrimaryGeneratedColumn('identity', { type: 'bigint' })
  id!: bigint;

  @Column({ type: 'integer', name: 'size' })
  quantity!: number;

  @Column('varchar')
  label!: string;
}

const listed = { entity: OrderEntity, filters: [[], ['quantity']], orderBy: 'label' };
const persistence = { schema: 'shop', entities: [OrderEntity], migrations: [], lists: [{ entity: OrderEntity, filters: [[]] }, listed] };

let database: TestDatabase;
let dataSource: Database;

beforeAll(async () => {
  database = await createTestDatabase();
  dataSource = await new Database({ url: database.url, applicationName: 'spec', poolSize: 1, persistence: [persistence] }).initialize();
});

beforeEach(async () => {
  await dataSource.query('DROP SCHEMA IF EXISTS shop CASCADE');
  await dataSource.query('CREATE SCHEMA shop');
  await dataSource.query(`CREATE TABLE shop.orders (id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, size integer,
    label varchar(10) NOT NULL DEFAULT '', token uuid)`);
});

afterAll(async () => {
  await dataSource.destroy();
  await database.drop();
});

async function changesOf(statement: string, droppedColumns?: readonly string[]): Promise<string[]> {
  const before = await readColumns(dataSource, 'shop');
  await dataSource.query(statement);
  return breakingSchemaChanges(before, await readColumns(dataSource, 'shop'), droppedColumns);
}

it.each([
  ['ALTER TABLE shop.orders DROP COLUMN size', ['shop.orders.size is dropped or renamed']],
  ['ALTER TABLE shop.orders RENAME size TO quantity', ['shop.orders.size is dropped or renamed']],
  ['ALTER TABLE shop.orders ALTER size TYPE bigint', ['shop.orders.size has the type bigint instead of integer']],
  [
    'ALTER TABLE shop.orders ALTER label TYPE varchar(5)',
    ['shop.orders.label has the type character varying(5) instead of character varying(10)'],
  ],
  ['ALTER TABLE shop.orders ALTER size SET NOT NULL', ['shop.orders.size has become NOT NULL']],
  ['ALTER TABLE shop.orders ALTER label DROP DEFAULT', ['shop.orders.label has lost its default']],
  ['ALTER TABLE shop.orders ADD note text NOT NULL', ['shop.orders.note is new and NOT NULL without a default']],
  ['DROP TABLE shop.orders', ['id', 'label', 'size', 'token'].map((column) => `shop.orders.${column} is dropped or renamed`)],
])('%s breaks the previous release', async (statement, changes) => {
  expect(await changesOf(statement)).toEqual(changes);
});

it('a column may be dropped if the previous release does not use it, but nothing else about it may change', async () => {
  const droppedColumns = ['shop.orders.size'];
  expect(await changesOf('ALTER TABLE shop.orders ALTER size SET NOT NULL', droppedColumns)).toEqual([
    'shop.orders.size has become NOT NULL',
  ]);
  expect(await changesOf('ALTER TABLE shop.orders DROP COLUMN size, DROP COLUMN token', droppedColumns)).toEqual([
    'shop.orders.token is dropped or renamed',
  ]);
});

it.each([
  'ALTER TABLE shop.orders ADD note text',
  `ALTER TABLE shop.orders ADD note text NOT NULL DEFAULT ''`,
  'ALTER TABLE shop.orders ADD double_size integer NOT NULL GENERATED ALWAYS AS (2 * coalesce(size, 0)) STORED',
  'ALTER TABLE shop.orders ALTER label DROP NOT NULL',
  'CREATE TABLE shop.lines (id bigint NOT NULL, note text NOT NULL)',
  'CREATE INDEX ON shop.orders (size)',
])('%s does not break the previous release', async (statement) => {
  expect(await changesOf(statement)).toEqual([]);
});

it.each([
  'UPDATE shop.orders SET size = 1',
  ' delete from shop.orders WHERE size = 0',
  'WITH old AS (SELECT 1) UPDATE shop.orders SET size = 1',
])('%s has no limit', async (statement) => {
  const up = async (runner: QueryRunner) => {
    await runner.query('CREATE TRIGGER t BEFORE UPDATE ON shop.orders FOR EACH ROW EXECUTE FUNCTION f()');
    await runner.query(statement);
    await runner.query('UPDATE shop.orders SET size = 1 WHERE size IS NULL AND id BETWEEN $1 AND $2', [1n, 5_000n]);
  };
  expect(await unlimitedChanges({ up, down: up })).toEqual([statement]);
});

it('lists require an index on each combination of filters, the column of the order, and the identifier', async () => {
  const collation = 'COLLATE "C" of shop.orders.label';
  const wanted = [
    collation,
    'CREATE INDEX ON shop.orders USING btree (label, id)',
    'CREATE INDEX ON shop.orders USING btree (size, label, id)',
  ];
  expect(await missingForLists(dataSource, persistence)).toEqual(wanted);
  for (const statement of wanted.slice(1)) {
    await dataSource.query(`${statement} WHERE size > 0`);
    await dataSource.query(statement.replace('label', 'label DESC'));
    await dataSource.query(statement.replace('label, id', 'id, label'));
  }
  expect(await missingForLists(dataSource, persistence)).toEqual(wanted);
  for (const statement of wanted.slice(1)) await dataSource.query(statement);
  expect(await missingForLists(dataSource, persistence)).toEqual([collation]);
  await dataSource.query('ALTER TABLE shop.orders ALTER label TYPE varchar(10) COLLATE "C"');
  expect(await missingForLists(dataSource, persistence)).toEqual([]);
  const misspelt = { ...persistence, lists: [{ ...listed, orderBy: 'lable' }] };
  await expect(missingForLists(dataSource, misspelt)).rejects.toThrow(
    'A list of OrderEntity names lable, which is not one of its columns.',
  );
});

it('entities declare the unique and exclusion constraints of their tables', async () => {
  const absent = 'OrderEntity declares orders_label_key, which does not exist';
  expect(await undeclaredConstraints(dataSource)).toEqual([absent]);
  await dataSource.query(`ALTER TABLE shop.orders ADD CONSTRAINT sizes EXCLUDE USING gist (int4range(size, size, '[]') WITH &&)`);
  await dataSource.query('CREATE UNIQUE INDEX tokens ON shop.orders (token) WHERE size > 0');
  const undeclared = ["OrderEntity lacks @Exclusion('sizes', …)", "OrderEntity lacks @Index('tokens', …, { unique: true })"];
  expect(await undeclaredConstraints(dataSource)).toEqual([...undeclared, absent]);
  await dataSource.query('CREATE UNIQUE INDEX orders_label_key ON shop.orders (label)');
  const onlyIndex = "OrderEntity lacks @Index('orders_label_key', …, { unique: true })";
  expect(await undeclaredConstraints(dataSource)).toEqual([onlyIndex, ...undeclared]);
  await dataSource.query('DROP INDEX shop.orders_label_key');
  await dataSource.query('ALTER TABLE shop.orders ADD CONSTRAINT orders_label_key UNIQUE (label)');
  expect(await undeclaredConstraints(dataSource)).toEqual(undeclared);
});
