import { changeInRanges, Database, ForwardMigration, migrateUp } from '@animal-store/database';
import { createTestDatabase, type TestDatabase } from '@animal-store/local-postgres/testing';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { Column, Entity, PrimaryGeneratedColumn, type QueryRunner, Unique } from 'typeorm';
import { describeMigrations } from './describe-migrations.js';
import { missingForLists } from './list-indexes.js';
import { breakingChanges, readSchema, unlimitedChanges } from './schema-changes.js';
import { undeclaredConstraints } from './unique-values.js';
import { useDatabase } from './use-database.js';

class CreateOrders1763683200000 extends ForwardMigration {
  override async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query('CREATE SCHEMA orders');
    await queryRunner.query(
      'CREATE TABLE orders.orders (id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, size integer NOT NULL, note text)',
    );
    await queryRunner.query('CREATE TABLE orders.parts (order_id bigint REFERENCES orders.orders)');
  }
}

class AddQuantity1763683200001 extends ForwardMigration {
  override async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query('ALTER TABLE orders.orders ADD quantity integer');
    await queryRunner.query(`CREATE FUNCTION orders.copy_size() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
      IF NEW.quantity IS DISTINCT FROM OLD.quantity THEN NEW.size := NEW.quantity; ELSE NEW.quantity := NEW.size; END IF;
      RETURN NEW;
    END $$`);
    await queryRunner.query(`CREATE TRIGGER copy_size BEFORE INSERT OR UPDATE ON orders.orders
      FOR EACH ROW EXECUTE FUNCTION orders.copy_size()`);
  }
}

class RequireQuantity1763683200002 extends ForwardMigration {
  readonly transaction = false;

  override async up(queryRunner: QueryRunner): Promise<void> {
    const update = 'UPDATE orders.orders SET quantity = size WHERE quantity IS NULL AND id BETWEEN $1 AND $2';
    await changeInRanges(queryRunner, 'orders.orders', update);
    const alter = (change: string) => queryRunner.query(`ALTER TABLE orders.orders ${change}`);
    await alter('DROP CONSTRAINT IF EXISTS quantity_set');
    await alter('ADD CONSTRAINT quantity_set CHECK (quantity IS NOT NULL) NOT VALID');
    await alter('VALIDATE CONSTRAINT quantity_set');
    await alter('ALTER quantity SET NOT NULL, DROP CONSTRAINT quantity_set');
  }
}

class DropSize1763683200003 extends ForwardMigration {
  override async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query('DROP TRIGGER copy_size ON orders.orders');
    await queryRunner.query('DROP FUNCTION orders.copy_size');
    await queryRunner.query('ALTER TABLE orders.orders DROP COLUMN size');
  }
}

const migrations = [CreateOrders1763683200000, AddQuantity1763683200001, RequireQuantity1763683200002, DropSize1763683200003];
const persistence = { schema: 'orders', entities: [], migrations };

describeMigrations(persistence, {
  preparedChanges: ['orders.orders.quantity has become NOT NULL', 'orders.orders.size is dropped or renamed'],
});

it('a column is renamed over two releases, while each release and the one before it write rows', async () => {
  const database = await createTestDatabase();
  const options = { url: database.url, applicationName: 'spec', poolSize: 2, persistence: [persistence] };
  const dataSource = await new Database(options).initialize();
  const run = async (...statements: string[]) => {
    const results = [];
    for (const statement of statements) results.push(await dataSource.query<object[]>(statement));
    return results;
  };
  const migrate = async (count: number) => {
    const next = new Database({ ...options, persistence: [{ ...persistence, migrations: migrations.slice(0, count) }] });
    await next.initialize();
    await migrateUp(next);
    await next.destroy();
  };
  try {
    await migrate(1);
    await run('INSERT INTO orders.orders (size) SELECT generate_series(1, 5001)');
    await run('INSERT INTO orders.orders (id, size) OVERRIDING SYSTEM VALUE VALUES (-9223372036854775808, 1), (9223372036854775807, 2)');
    await migrate(2);
    await run(
      'INSERT INTO orders.orders (size) VALUES (7)',
      'INSERT INTO orders.orders (quantity) VALUES (8)',
      'UPDATE orders.orders SET size = 9 WHERE id = 1',
      'UPDATE orders.orders SET quantity = 10 WHERE id = 2',
      `UPDATE orders.orders SET note = 'old' WHERE id = 3`,
    );
    await migrate(3);
    await run('INSERT INTO orders.orders (size) VALUES (11)', 'UPDATE orders.orders SET size = 12 WHERE id = 4');
    const changed = `SELECT string_agg(id || ':' || quantity, ' ' ORDER BY id) AS quantities FROM orders.orders WHERE quantity <> id`;
    expect(await run(changed)).toEqual([
      [{ quantities: '-9223372036854775808:1 1:9 2:10 4:12 5002:7 5003:8 5004:11 9223372036854775807:2' }],
    ]);
    expect(await run('SELECT FROM orders.orders WHERE size IS DISTINCT FROM quantity')).toEqual([[]]);
    await migrate(4);
    await run('INSERT INTO orders.orders (quantity) VALUES (13)');
    await expect(run('INSERT INTO orders.orders (note) VALUES (NULL)')).rejects.toMatchObject({ code: '23502' });
  } finally {
    await dataSource.destroy();
    await database.drop();
  }
});

describe('useDatabase', () => {
  const database = useDatabase(persistence);

  it('creates the tables of the context and empties them', async () => {
    const add = () => database.dataSource.query<{ id: bigint }[]>('INSERT INTO orders.orders (quantity) VALUES (1) RETURNING id');
    const [first] = await add();
    await database.dataSource.query('INSERT INTO orders.parts VALUES ($1)', [first?.id]);
    await database.empty();
    expect(await database.dataSource.query('SELECT 1 FROM orders.orders')).toEqual([]);
    expect(await add()).toEqual([{ id: 1n }]);
  });
});

describe('changes of a schema', () => {
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
    await dataSource.query(`CREATE TYPE shop.state AS ENUM ('new', 'sold')`);
    await dataSource.query(`CREATE TABLE shop.orders (id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, size integer,
    label varchar(10) NOT NULL DEFAULT '', token uuid, state shop.state)`);
  });

  afterAll(async () => {
    await dataSource.destroy();
    await database.drop();
  });

  const VIOLATED = 'is new, and writes of the previous release can violate it';
  const REWRITTEN = 'shop.orders is rewritten, so requests wait';

  async function changesOf(...statements: string[]): Promise<string[]> {
    const before = await readSchema(dataSource, 'shop');
    for (const statement of statements) await dataSource.query(statement);
    const after = await readSchema(dataSource, 'shop');
    return breakingChanges(dataSource, { before, after, statements, isTransaction: statements.length === 1 });
  }

  it.each([
    ['DROP COLUMN size', ['size is dropped or renamed']],
    ['RENAME size TO quantity', ['size is dropped or renamed']],
    ['ALTER size TYPE bigint', [REWRITTEN, 'size has the type bigint instead of integer']],
    ['ALTER label TYPE varchar(5)', [REWRITTEN, 'label has the type character varying(5) instead of character varying(10)']],
    [
      'ALTER size SET NOT NULL',
      ['size has become NOT NULL', 'size has no validated CHECK that it is NOT NULL, so requests wait for SET NOT NULL'],
    ],
    ['ALTER label DROP DEFAULT', [`label has no default instead of ''::character varying`]],
    ['ALTER label SET DEFAULT 5', [`label has the default 5 instead of ''::character varying`]],
    ['ADD note text NOT NULL', ['note is new and NOT NULL without a default']],
    ['ADD note text DEFAULT clock_timestamp()::text', [REWRITTEN]],
    ['ADD CONSTRAINT sizes CHECK (size > 0)', [`sizes ${VIOLATED}`, 'sizes is not added as NOT VALID, so requests wait']],
    ['ADD CONSTRAINT sizes CHECK (size > 0) NOT VALID', [`sizes ${VIOLATED}`]],
    [`ADD note text NOT NULL DEFAULT '' CONSTRAINT notes CHECK (note <> '')`, [`notes ${VIOLATED}`]],
    ['ADD parent bigint DEFAULT 1 CONSTRAINT parents REFERENCES shop.orders', [`parents ${VIOLATED}`]],
    ['ADD CONSTRAINT tokens UNIQUE (token)', [`tokens ${VIOLATED}`, 'tokens is not created CONCURRENTLY, so writes wait']],
    ['DROP CONSTRAINT orders_pkey', ['orders_pkey is dropped or changed']],
  ])('ALTER TABLE shop.orders %s breaks the previous release', async (change, changes) => {
    const qualified = changes.map((text) => (text.startsWith('shop.') ? text : `shop.orders.${text}`));
    expect(await changesOf(`ALTER TABLE shop.orders ${change}`)).toEqual(qualified);
  });

  it.each([
    ['CREATE INDEX sizes ON shop.orders (size)', ['sizes is not created CONCURRENTLY, so writes wait']],
    ['CREATE UNIQUE INDEX CONCURRENTLY sizes ON shop.orders (lower(label))', [`sizes ${VIOLATED}`]],
    [
      `ALTER TYPE shop.state RENAME VALUE 'sold' TO 'gone'`,
      ['state has the type shop.state of new, gone instead of shop.state of new, sold'],
    ],
    ['DROP TABLE shop.orders', ['id', 'label', 'size', 'state', 'token'].map((column) => `${column} is dropped or renamed`)],
  ])('%s breaks the previous release', async (statement, changes) => {
    expect(await changesOf(statement)).toEqual(changes.map((text) => `shop.orders.${text}`));
  });

  it.each([
    ['ALTER TABLE shop.orders ADD note text CHECK (char_length(note) < 9), ADD parent bigint REFERENCES shop.orders'],
    [`ALTER TABLE shop.orders ADD note text NOT NULL DEFAULT '-' CHECK (note <> '')`],
    ['ALTER TABLE shop.orders ALTER label DROP NOT NULL, ALTER label TYPE text, ALTER size SET DEFAULT 1'],
    ['ALTER TABLE shop.orders ALTER label TYPE varchar(20)'],
    ['CREATE TABLE shop.lines (id bigint NOT NULL UNIQUE REFERENCES shop.orders, note text NOT NULL CHECK (note > $$$$))'],
    ['CREATE INDEX CONCURRENTLY sizes ON shop.orders (size)'],
    [`ALTER TYPE shop.state ADD VALUE 'lost' BEFORE 'sold'`],
    ['ALTER TABLE shop.orders ADD CHECK (size IS NOT NULL) NOT VALID', 'ALTER TABLE shop.orders VALIDATE CONSTRAINT orders_size_check'],
  ])('%s does not break the previous release', async (...statements) => {
    const prepared = ['shop.orders.orders_size_check is new, and writes of the previous release can violate it'];
    expect(await changesOf(...statements)).toEqual(statements.length > 1 ? prepared : []);
  });

  it.each([
    'UPDATE shop.orders SET size = 1',
    ' delete from shop.orders WHERE size = 0',
    'WITH old AS (SELECT 1) UPDATE shop.orders SET size = 1',
    'ALTER TABLE shop.orders ADD note text; UPDATE ONLY shop.orders AS o SET note = label',
    '-- all\nDO $$ BEGIN DELETE FROM shop.orders; END $$',
    'TRUNCATE shop.orders',
  ])('%s has no limit', (statement) => {
    const trigger = 'CREATE TRIGGER t BEFORE UPDATE ON shop.orders FOR EACH ROW EXECUTE FUNCTION f()';
    const body = 'CREATE FUNCTION f() RETURNS trigger AS $f$ BEGIN UPDATE shop.orders SET size = 1; END $f$';
    const range = 'UPDATE shop.orders SET size = 1 WHERE size IS NULL AND id BETWEEN $1 AND $2';
    expect(unlimitedChanges([trigger, body, statement, range])).toEqual([statement]);
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
});
