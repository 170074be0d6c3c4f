import { INT64_MAX, INT64_MIN } from '@animal-store/kernel';
import { createTestDatabase, setOddSettings, type TestDatabase, waitFor } from '@animal-store/local-postgres/testing';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { Column, Entity, type MigrationInterface, PrimaryGeneratedColumn, type QueryRunner, type Repository, VersionColumn } from 'typeorm';
import { BatchedRepository } from './batched-repository.js';
import { type ConstraintErrors, throwConstraintErrors } from '../statements/constraint-errors.js';
import { Database, type DatabaseOptions } from '../database.js';
import { isDatabaseUnavailable } from '../connection/error-meaning.js';
import { IdempotencyKeyEntity } from './idempotency-key.entity.js';
import { migrateUp } from '../migrations/migrations.js';
import { createIdempotencyKeyTable } from '../testing/order-lines.js';

@Entity({ schema: 'shop', name: 'orders' })
class OrderEntity {
  @PrimaryGeneratedColumn('identity', { type: 'bigint', generatedIdentity: 'ALWAYS' })
  id!: bigint;

  @Column('text')
  number!: string;

  @Column('bigint', { name: 'pet_id' })
  petId!: bigint;

  @VersionColumn({ select: false, default: 1 })
  version?: number;
}

@Entity({ schema: 'shop', name: 'order_keys' })
class OrderKeyEntity extends IdempotencyKeyEntity {
  @Column('bigint', { name: 'order_id' })
  override rowId!: bigint;
}

class CreateOrders1763683200000 implements MigrationInterface {
  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query('CREATE SCHEMA shop');
    await queryRunner.query(`
      CREATE TABLE shop.orders (
        id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
        number text NOT NULL CONSTRAINT orders_number_key UNIQUE CONSTRAINT orders_number_check CHECK (number <> ''),
        pet_id bigint NOT NULL,
        version integer NOT NULL DEFAULT 1
      )`);
    await queryRunner.query(createIdempotencyKeyTable('shop.order_keys', 'order_id'));
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query('DROP SCHEMA shop CASCADE');
  }
}

const ORDER_NUMBER_TAKEN = { code: 'order_number_taken', kind: 'invalid', message: 'Another order has this number.' } as const;
const ERRORS: ConstraintErrors = { orders_number_key: ORDER_NUMBER_TAKEN };
/** Two identifiers that are the same JavaScript number, and both ends of the range. */
const IDS = [INT64_MIN, 2n ** 53n, 2n ** 53n + 1n, INT64_MAX];

let database: TestDatabase;
let dataSource: Database;
/** TypeORM's own repository. */
let orders: Repository<OrderEntity>;
let batched: BatchedRepository<OrderEntity>;

function open(options: Partial<DatabaseOptions> = {}): Promise<Database> {
  const persistence = [{ schema: 'shop', entities: [OrderEntity, OrderKeyEntity], migrations: [CreateOrders1763683200000] }];
  return new Database({ url: database.url, applicationName: 'spec', poolSize: 6, persistence, ...options }).initialize();
}

beforeAll(async () => {
  database = await createTestDatabase();
  await setOddSettings(database.url);
  dataSource = await open();
  await migrateUp(dataSource);
  orders = dataSource.getRepository(OrderEntity);
  batched = new BatchedRepository(orders, dataSource.getRepository(OrderKeyEntity));
});

beforeEach(() => dataSource.query('TRUNCATE shop.orders, shop.order_keys'));

afterAll(async () => {
  await dataSource.destroy();
  await database.drop();
});

const failure = (promise: Promise<unknown>) =>
  promise.then(
    () => undefined,
    (error: unknown) => error,
  );
const versionOf = async (id: bigint) => (await orders.findOneOrFail({ where: { id }, select: { version: true } })).version;
const insertWithId = (id: bigint) =>
  dataSource.query('INSERT INTO shop.orders (id, number, pet_id) OVERRIDING SYSTEM VALUE VALUES ($1, $2, $1)', [id, String(id)]);

describe('a column with `select: false`', () => {
  const row = { number: 'A1', petId: 1n };

  it('has its default in PostgreSQL, and is not returned by identifier, in a page or by key', async () => {
    const key = { clientId: 1n, key: 'once' };
    const inserted = await batched.insertOnce(row, key);
    const { id } = inserted.row;
    expect(inserted).toStrictEqual({ row: { id, ...row }, request: row, replayed: false });
    expect(await versionOf(id)).toBe(1);
    expect(await batched.findById(id)).toStrictEqual({ id, ...row });
    const page = await batched.page({ number: 'A1' }, { limit: 1 });
    expect(page.items).toStrictEqual([{ id, ...row }]);
    expect(page.json.text).toBe(`[{"id":${String(id)},"number":"A1","petId":1}]`);
    await orders.update({ id }, { number: 'B2' });
    expect(await batched.insertOnce({ ...row, number: 'C3' }, key)).toStrictEqual({ ...inserted, replayed: true });
    const [{ request } = {}] = await dataSource.query<{ request?: object }[]>('SELECT request FROM shop.order_keys');
    expect(request).toEqual({ number: 'A1', petId: 1 });
  });

  it('is neither inserted nor a filter', async () => {
    // @ts-expect-error the type of a new row does not have the property
    const { id } = await batched.insert({ ...row, version: 7 });
    expect(await versionOf(id)).toBe(1);
    // @ts-expect-error the type of a filter does not have the property
    await batched.page({ version: 7 }, { limit: 1 });
  });
});

describe('update', () => {
  it.each(IDS)('changes the row with the identifier %d exactly if its version is current', async (id) => {
    for (const each of IDS) await insertWithId(each);
    const petId = id === INT64_MAX ? INT64_MIN : INT64_MAX;
    expect((await orders.update({ id, version: 2 }, { petId })).affected).toBe(0);
    expect((await orders.update({ id, version: 1 }, { petId })).affected).toBe(1);
    expect(await orders.findOneBy({ id })).toEqual({ id, number: String(id), petId });
    expect(await versionOf(id)).toBe(2);
    const others = IDS.filter((other) => other !== id).map((other) => ({ id: other, number: String(other), petId: other }));
    expect((await orders.find({ order: { id: 'ASC' } })).filter((order) => order.id !== id)).toEqual(others);
  });

  it('increments exactly', async () => {
    const { id } = await batched.insert({ number: 'A1', petId: 2n ** 53n });
    await orders.increment({ id }, 'petId', String(2n ** 62n + 1n));
    expect(await batched.findById(id)).toMatchObject({ petId: 2n ** 53n + 2n ** 62n + 1n });
    expect(await versionOf(id)).toBe(2);
  });

  it('rejects a version that was not read, instead of ignoring it', async () => {
    const { id } = await batched.insert({ number: 'A1', petId: 0n });
    const { version } = (await batched.findById(id)) as OrderEntity;
    await expect(orders.update({ id, version } as object, { petId: 1n })).rejects.toThrow('undefined');
    await expect(orders.delete({ id, version } as object)).rejects.toThrow('undefined');
    expect(await batched.findById(id)).toMatchObject({ petId: 0n });
  });
});

describe('throwConstraintErrors', () => {
  const taken = expect.objectContaining({ ...ORDER_NUMBER_TAKEN, name: 'DomainError' });
  const insert = (number: string) => batched.insert({ number, petId: 0n }).catch(throwConstraintErrors(ERRORS));

  it('throws the domain error for a row of a batch, without affecting the others', async () => {
    await insert('A1');
    const numbers = ['B1', 'A1', 'B2', 'B2', '', 'B3'];
    const ends = await Promise.allSettled(numbers.map(insert));
    expect(ends.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled', 'rejected', 'rejected', 'fulfilled']);
    const reasons = ends.map((end) => (end.status === 'rejected' ? (end.reason as unknown) : undefined));
    expect([reasons[1], reasons[3]]).toEqual([taken, taken]);
    // Other constraints are bugs or have their own rules.
    expect(reasons[4]).toMatchObject({ constraint: 'orders_number_check' });
    const { items } = await batched.page({}, { limit: 10 });
    expect(items.map(({ number }) => number)).toEqual(['A1', 'B1', 'B2', 'B3']);
  });

  it('throws the domain error for an idempotency key, which is not recorded', async () => {
    const { id } = await insert('A1');
    const key = { clientId: 1n, key: 'once' };
    const insertOnce = (number: string) => batched.insertOnce({ number, petId: 0n }, key).catch(throwConstraintErrors(ERRORS));
    const ends = await Promise.allSettled([insertOnce('A1'), insertOnce('A1')]);
    expect(ends).toEqual([taken, taken].map((reason) => ({ status: 'rejected', reason })));
    expect(await dataSource.getRepository(OrderKeyEntity).count()).toBe(0);
    await orders.delete({ id });
    expect(await insertOnce('A1')).toMatchObject({ replayed: false });
  });

  it('throws the domain error for an insert, an update and a transaction of TypeORM', async () => {
    await insert('A1');
    const { id } = await insert('B2');
    const attempts = [
      () => orders.insert({ number: 'A1', petId: 0n }),
      () => orders.update({ id }, { number: 'A1' }),
      () => dataSource.transaction((manager) => manager.update(OrderEntity, { id }, { number: 'A1' })),
    ];
    for (const attempt of attempts) {
      expect(await failure(attempt().catch(throwConstraintErrors(ERRORS)))).toEqual(taken);
      const unchanged = await failure(attempt().catch(throwConstraintErrors({ orders_pkey: ORDER_NUMBER_TAKEN })));
      expect(unchanged).toMatchObject({ constraint: 'orders_number_key' });
    }
  });

  it.each([undefined, 'toString'])('throws any other error unchanged, also with the constraint %p', (constraint) => {
    const error = Object.assign(new Error('a bug'), { constraint });
    expect(() => throwConstraintErrors(ERRORS)(error)).toThrow(error);
  });
});

describe('a lost database is reported as unavailable', () => {
  const update = (source: Pick<Database, 'getRepository'>) => source.getRepository(OrderEntity).update({ id: 1n }, { petId: 1n });

  it('by a transaction whose connection is lost between statements', async () => {
    const error = await failure(
      dataSource.transaction(async (manager) => {
        const [{ pid } = { pid: 0 }] = await manager.query<{ pid: number }[]>('SELECT pg_backend_pid() AS pid');
        const { queryRunner } = manager;
        await dataSource.query('SELECT pg_terminate_backend($1)', [pid]);
        await waitFor(() => expect(queryRunner?.isReleased).toBe(true));
        await update(manager);
      }),
    );
    expect(error).toMatchObject({ message: expect.stringContaining('already released') });
    expect(isDatabaseUnavailable(error)).toBe(true);
  });
});
