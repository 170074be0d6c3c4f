import { createTestDatabase, setOddSettings, type TestDatabase, waitFor } from '@animal-store/local-postgres/testing';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { Column, Entity, type MigrationInterface, PrimaryGeneratedColumn, type QueryRunner, type Repository, VersionColumn } from 'typeorm';
import { BatchedRepository } from './batched-repository.js';
import { type ConstraintErrors, throwConstraintErrors } from '../statements/constraint-errors.js';
import { Database, type DatabaseOptions } from '../database.js';
import { isDatabaseUnavailable } from '../connection/error-meaning.js';
import { IdempotencyKeyEntity } from './idempotency-keys.js';
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

const ERRORS: ConstraintErrors = {
  orders_number_key: { code: 'order_number_taken', kind: 'invalid', message: 'Another order has this number.' },
};

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

describe('throwConstraintErrors', () => {
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
