import { randomBytes } from 'node:crypto';
import { createTestDatabase, query, type TestDatabase, waitFor } from '@animal-store/local-postgres/testing';
import { afterAll, beforeAll, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { Client } from 'pg';
import { Column, Entity, PrimaryGeneratedColumn, type QueryRunner } from 'typeorm';
import { BatchedRepository } from '../batching/batched-repository.js';
import { Database, migrationStatus, pendingMigrations } from '../database.js';
import { shardingOf } from '../statements/sharding.js';
import { OrderLineEntity, OrderLineKeyEntity, shop } from '../testing/order-lines.js';
import { distributedTables, tablesToDistribute } from './distribution.js';
import { grantStatements } from './grants.js';
import { ForwardMigration, migrateUp, MigrationError, withoutLockTimeout } from './migrations.js';

const MIGRATION_LOCK = 7_302_947_561_038_214n;

/** The last statement of the migration without a transaction. */
let statement = '';
const settings: unknown[] = [];

class CreateShop1763683200000 extends ForwardMigration {
  override async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query('CREATE SCHEMA shop');
    await queryRunner.query('CREATE TABLE shop.lines (id bigint)');
  }
}

/** PostgreSQL rejects CREATE INDEX CONCURRENTLY inside a transaction. */
class IndexLines1763683200001 extends ForwardMigration {
  readonly transaction = false;

  override async up(queryRunner: QueryRunner): Promise<void> {
    const show = async () => settings.push(...((await queryRunner.query('SHOW lock_timeout')) as unknown[]));
    await show();
    await withoutLockTimeout(queryRunner, async () => {
      await show();
      await queryRunner.query('CREATE INDEX CONCURRENTLY lines_by_id ON shop.lines (id)');
    });
    await show();
    await queryRunner.query(statement);
  }
}

const [CREATE, INDEX] = ['CreateShop1763683200000', 'IndexLines1763683200001'];

let database: TestDatabase;
let dataSource: Database;
let holder: Client;

const open = () =>
  new Database({
    url: database.url,
    applicationName: 'spec',
    poolSize: 2,
    // The later migration is registered first.
    persistence: [IndexLines1763683200001, CreateShop1763683200000].map((migration) => ({
      schema: 'shop',
      entities: [],
      migrations: [migration],
    })),
  });
const status = async () => (await migrationStatus(dataSource)).map(({ name, applied }) => [name, applied]);

beforeAll(async () => {
  database = await createTestDatabase();
  const name = new URL(database.url).pathname.slice(1);
  for (const timeout of ['statement_timeout', 'idle_in_transaction_session_timeout', 'lock_timeout', 'transaction_timeout'])
    await query(process.env['TEST_POSTGRES_URL'] ?? '', `ALTER DATABASE ${name} SET ${timeout} = 300`);
  dataSource = await open().initialize();
  holder = new Client({ connectionString: database.url });
  await holder.connect();
});
beforeEach(async () => {
  statement = 'SELECT pg_sleep(0.4)';
  settings.length = 0;
  await dataSource.query('DROP SCHEMA IF EXISTS shop CASCADE; DROP TABLE IF EXISTS public.schema_migrations');
});
afterAll(async () => {
  await holder.end();
  await dataSource.destroy();
  await database.drop();
});

it('on an empty database, all migrations are pending, in the order of their timestamps', async () => {
  expect(await status()).toEqual([
    [CREATE, false],
    [INDEX, false],
  ]);
  expect(await pendingMigrations(dataSource)).toEqual([CREATE, INDEX]);
});

it('none is pending only because the table of migrations cannot be read', async () => {
  await dataSource.query('CREATE TABLE public.schema_migrations (id bigint)');
  await expect(status()).rejects.toMatchObject({ code: '42703' });
});

it('each is applied once, however short the timeouts of the database are', async () => {
  expect(await migrateUp(dataSource)).toEqual([CREATE, INDEX]);
  expect(await migrateUp(dataSource)).toEqual([]);
  expect(await pendingMigrations(dataSource)).toEqual([]);
  expect(settings).toEqual(['5s', '0', '5s'].map((lock_timeout) => ({ lock_timeout })));
});

it('a failed one is reported with its name, its error and its statement, and those before it stay applied', async () => {
  statement = 'SELECT nothing FROM shop.lines';
  const failure = `Migration "${INDEX}" failed, error: column "nothing" does not exist`;
  const log = jest.spyOn(console, 'log');
  await expect(migrateUp(dataSource)).rejects.toEqual(new MigrationError(`${failure}\nin the statement ${statement}`));
  expect(log).not.toHaveBeenCalled();
  log.mockRestore();
  expect(await status()).toEqual([
    [CREATE, true],
    [INDEX, false],
  ]);
});

it.each(['SELECT 1', 'SELECT 1 / 0'])('after %s, the connections of the pool have the timeouts that they had before', async (last) => {
  statement = last;
  await migrateUp(dataSource).catch(() => undefined);
  const timeouts = `SELECT array_agg(setting ORDER BY name) AS settings FROM pg_settings WHERE name IN ('lock_timeout', 'statement_timeout')`;
  const asBefore = [{ settings: ['0', '300'] }];
  expect(await Promise.all([1, 2].map(() => dataSource.query(timeouts)))).toEqual([asBefore, asBefore]);
});

it.each(['42P01', '3F000', '42501', '55000', '23505'])('an error %s of a statement is not one that a repetition cures', async (code) => {
  statement = `DO $$ BEGIN RAISE 'no' USING ERRCODE = '${code}'; END $$`;
  await expect(migrateUp(dataSource)).rejects.toBeInstanceOf(MigrationError);
});

it.each(['55P03', '40P01', '57P01'])('an error %s of a statement is one that a repetition may cure', async (code) => {
  statement = `DO $$ BEGIN RAISE 'no' USING ERRCODE = '${code}'; END $$`;
  await expect(migrateUp(dataSource)).rejects.toMatchObject({ code, message: `Migration "${INDEX}" failed, error: no` });
});

it('none is reverted', async () => {
  await expect(new CreateShop1763683200000().down()).rejects.toThrow('migrations go forward only');
});

describe('the migration lock', () => {
  it('is awaited for a limited time, before anything is created', async () => {
    await holder.query('SELECT pg_advisory_lock($1)', [MIGRATION_LOCK]);
    await expect(migrateUp(dataSource, { maxWaitMs: 300 })).rejects.toEqual(
      new MigrationError('another process has been migrating the database for 0.3 s'),
    );
    expect(await query(database.url, `SELECT to_regclass('public.schema_migrations') AS created`)).toEqual([{ created: null }]);
    const migrated = migrateUp(dataSource);
    await holder.query('SELECT pg_advisory_unlock($1)', [MIGRATION_LOCK]);
    expect(await migrated).toHaveLength(2);
  });
});

describe('a database', () => {
  it('opens after another process has migrated the database', async () => {
    const connecting = open();
    const onWaiting = jest.fn();
    const opened = connecting.open({ onWaiting });
    await waitFor(() => expect(onWaiting).toHaveBeenCalled());
    expect(connecting.hasOpened).toBe(false);
    await migrateUp(dataSource);
    await opened;
    expect(connecting.hasOpened).toBe(true);
    await connecting.open();
    await connecting.close();
    expect(connecting.hasOpened).toBe(false);
  });
});

describe('grants', () => {
  /** Roles belong to the whole server, so the names are unique. */
  const suffix = randomBytes(6).toString('hex');
  const [databaseOwner, owner, member, indirect, superuser, writer, runner] = [
    `database_${suffix}`,
    `owner_${suffix}`,
    `member_${suffix}`,
    `indirect_${suffix}`,
    `super_${suffix}`,
    `writer_${suffix}`,
    `runner_${suffix}`,
  ] as const;
  const odd = `odd "' \\ $$ ${suffix}`;
  const roles = [databaseOwner, owner, member, indirect, superuser, writer, runner, odd].map((role) => `"${role.replaceAll('"', '""')}"`);
  const persistence = [{ schema: `shop'"2"`, entities: [], migrations: [] }];
  let database: TestDatabase;

  const apply = (role: string) => query(database.url, grantStatements(persistence, 'service', role).join(';'));
  const privileges = () =>
    query(
      database.url,
      `SELECT nspacl::text, (SELECT json_agg(relacl::text ORDER BY oid) FROM pg_class WHERE relnamespace = n.oid) AS tables FROM pg_namespace n
     WHERE nspname IN ('shop''"2"', 'public')`,
    );

  beforeAll(async () => {
    database = await createTestDatabase();
    await query(
      database.url,
      roles.map((role) => `CREATE ROLE ${role}`).join(';'),
      `ALTER ROLE ${superuser} SUPERUSER; GRANT ${owner} TO ${member}; GRANT ${member} TO ${indirect}; GRANT pg_write_all_data TO ${writer};
     GRANT pg_execute_server_program TO ${runner};
     ALTER DATABASE ${new URL(database.url).pathname.slice(1)} OWNER TO ${databaseOwner};
     CREATE SCHEMA "shop'""2""";
     CREATE TABLE public.schema_migrations (id integer);
     CREATE TABLE "shop'""2""".orders (id bigserial);
     ALTER TABLE "shop'""2""".orders OWNER TO ${owner};`,
    );
  });

  afterAll(async () => {
    await database.drop();
    await query(process.env['TEST_POSTGRES_URL'] ?? '', `DROP ROLE ${roles.join()}`);
  });

  it('run one after the other', async () => {
    await Promise.all(Array.from({ length: 8 }, () => apply(odd)));
  });

  it.each([
    ...[owner, databaseOwner, member, indirect, superuser, writer, runner, 'pg_monitor'].map((name) => [
      name,
      `the role ${name} is, or is a member of, a superuser, an owner of the database or its tables, or a role of PostgreSQL: use another role`,
    ]),
    ['none', 'role name "none" is reserved'],
    ...['public', 'PUBLIC', 'current_user', owner.toUpperCase()].map((name) => [name, `role "${name}" does not exist`]),
  ])('the role %s gets no privileges and loses none', async (role, message) => {
    const before = await privileges();
    await expect(apply(role)).rejects.toThrow(message);
    expect(await privileges()).toEqual(before);
  });

  it('another role gets them, whatever its name is', async () => {
    await apply(odd);
    expect(JSON.stringify(await privileges())).toContain(suffix);
  });
});

describe('distribution', () => {
  @Entity({ schema: 'shop', name: 'coupons' })
  class CouponEntity {
    @PrimaryGeneratedColumn('identity', { type: 'bigint' })
    id!: bigint;

    @Column('text', { unique: true })
    code!: string;
  }

  @Entity({ schema: 'staff', name: 'people' })
  class PersonEntity {
    @PrimaryGeneratedColumn('identity', { type: 'bigint' })
    id!: bigint;

    @Column('text')
    name!: string;
  }

  const PERSISTENCE = [
    { ...shop, entities: [...shop.entities, CouponEntity], unsharded: [CouponEntity] },
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
  let sources: Database[];

  async function open(citus: boolean): Promise<Database> {
    const dataSource = new Database({ url: database.url, applicationName: 'spec', poolSize: 1, persistence: PERSISTENCE, citus });
    await dataSource.initialize();
    sources.push(dataSource);
    return dataSource;
  }

  beforeAll(async () => {
    sources = [];
    database = await createTestDatabase();
    client = new Client({ connectionString: database.url });
    await client.connect();
    await migrateUp(await open(false));
    await client.query('CREATE TABLE shop.coupons (id bigint GENERATED BY DEFAULT AS IDENTITY, code text NOT NULL UNIQUE)');
  });

  afterAll(async () => {
    await Promise.all(sources.map((source) => source.destroy()));
    await client.end();
    await database.drop();
  });

  it('distributes the tables of sharded contexts that are not listed in `unsharded`, those of idempotency keys by key', async () => {
    const dataSource = await open(true);
    expect(distributedTables(dataSource)).toEqual(TABLES);
    // Errors name the shard.
    const sharding = shardingOf(dataSource.getMetadata(OrderLineKeyEntity), dataSource.settings);
    expect(sharding.tableOf('order_line_keys_102008')).toBe('order_line_keys');
  });

  it.each([
    [OrderLineEntity, true, 3],
    [CouponEntity, true, 1],
    [OrderLineEntity, false, 1],
    [PersonEntity, true, 1],
  ])('concurrent pages of %p, with Citus on: %p, take %d statements', async (entity, citus, expected) => {
    const dataSource = await open(citus);
    await client.query(`CREATE SCHEMA IF NOT EXISTS staff; CREATE TABLE IF NOT EXISTS staff.people (id bigint, name text)`);
    const rows = new BatchedRepository<{ id: bigint }>(dataSource.getRepository(entity));
    const execute = jest.spyOn(dataSource.pool, 'withClient');
    const pages = [1, 2, 3, 4].map((limit) => rows.page({}, { limit }));
    for (const { items } of await Promise.all(pages)) expect(items).toEqual([]);
    // The first page is requested before the others.
    expect(execute).toHaveBeenCalledTimes(1 + expected);
  });

  it('rejects an entity in `unsharded` without its idempotency keys, whether Citus is on or off', async () => {
    const dataSource = await open(false);
    expect(() => new BatchedRepository(dataSource.getRepository(CouponEntity), dataSource.getRepository(OrderLineKeyEntity))).toThrow(
      'CouponEntity and OrderLineKeyEntity must both be sharded, or both be in `unsharded`.',
    );
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
});
