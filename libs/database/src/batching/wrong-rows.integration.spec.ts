import { createTestDatabase, type TestDatabase } from '@animal-store/local-postgres/testing';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { BatchedRepository } from './batched-repository.js';
import type { StatementInterceptor } from '../connection/statement.js';
import { Database } from '../database.js';
import { migrateUp } from '../migrations/migrations.js';
import { PreparedStatement } from '../statements/prepared-statement.js';
import { aLine, OrderLineEntity, OrderLineKeyEntity, shop } from '../testing/order-lines.js';

let database: TestDatabase;
let dataSource: Database;
let lines: BatchedRepository<OrderLineEntity>;
let logins = 0;

beforeAll(async () => {
  database = await createTestDatabase();
  dataSource = await new Database({ url: database.url, applicationName: 'spec', poolSize: 2, persistence: [shop] }).initialize();
  await migrateUp(dataSource);
  dataSource.pool.on('connect', () => logins++);
  lines = new BatchedRepository(dataSource.getRepository(OrderLineEntity), dataSource.getRepository(OrderLineKeyEntity));
});

beforeEach(async () => {
  await dataSource.query('TRUNCATE shop."Order lines", shop.order_line_keys');
  const clients = await Promise.all([dataSource.pool.connect(), dataSource.pool.connect()]);
  for (const client of clients) client.release();
  logins = 0;
});

afterAll(async () => {
  await dataSource.destroy();
  await database.drop();
});

afterEach(() => {
  Object.assign(dataSource.pool, { interceptor: undefined });
});

/** Lets the next statements with a code fail. Returns the number of rows of each statement. */
function failStatements(...codes: (string | undefined)[]): number[] {
  const rows: number[] = [];
  const interceptor: StatementInterceptor = ({ name, values = [] }, run) => {
    rows.push(name?.startsWith('insert one') ? 1 : String(values[0]).split(',').length);
    const code = codes.shift();
    return code === undefined ? run() : Promise.reject(Object.assign(new Error(code), { code }));
  };
  Object.assign(dataSource.pool, { interceptor });
  return rows;
}

const count = () => dataSource.getRepository(OrderLineEntity).count();
const statusesOf = async (calls: readonly Promise<unknown>[]) => (await Promise.allSettled(calls)).map(({ status }) => status[0]).join('');

describe('an error of a statement does not cost its connection', () => {
  it.each([
    ['a batched insert', () => lines.insert(aLine({ key: 'broken' }))],
    ['a batched insert with a key', () => lines.insertOnce(aLine({ key: 'broken' }), { clientId: 1n, key: 'x' })],
    ['a query of the pool', () => dataSource.pool.query('SELECT 1 / 0')],
    ['a prepared statement', () => new PreparedStatement('divide', 'SELECT 1 / $1::int', () => 1).run(dataSource.pool, [0])],
    ['a statement with a wrong name', () => dataSource.pool.query('SELECT nothing')],
    ['a statement that is raised by a function', () => dataSource.pool.query("DO $$ BEGIN RAISE 'no'; END $$")],
    ['a statement of TypeORM', () => dataSource.query('SELECT 1 / 0')],
    ['a transaction of TypeORM', () => dataSource.transaction((manager) => manager.query('SELECT 1 / 0'))],
    ['a statement timeout', () => dataSource.pool.query('SET LOCAL statement_timeout = 1; SELECT pg_sleep(1)')],
  ])('%s', async (_name, fail) => {
    for (let i = 0; i < 20; i++) expect(await statusesOf([fail()])).toBe('r');
    expect((await dataSource.pool.query('SELECT 1 AS one')).rows).toEqual([{ one: 1 }]);
    expect(logins).toBe(0);
  });

  it('one row of 64', async () => {
    const keys = Array.from({ length: 64 }, (_, index) => (index === 40 ? 'broken' : 'good'));
    expect(await statusesOf(keys.map((key) => lines.insert(aLine({ key }))))).toBe(`${'f'.repeat(40)}r${'f'.repeat(23)}`);
    expect([logins, await count()]).toEqual([0, 63]);
  });

  it('unless a transaction is still open', async () => {
    const client = await dataSource.pool.connect();
    await client.query('BEGIN');
    await client.query('SELECT 1 / 0').catch((error: unknown) => {
      client.release(error as Error);
    });
    const other = await dataSource.pool.connect();
    await other.query('BEGIN');
    other.release();
    await Promise.all([1, 2].map(() => dataSource.pool.query('SELECT pg_sleep(0.01)')));
    expect(logins).toBe(2);
  });
});

describe('each call inserts a row', () => {
  it('also with one object', async () => {
    const row = aLine();
    const ids = await Promise.all(Array.from({ length: 5 }, () => lines.insert(row)));
    expect([new Set(ids.map(({ id }) => id)).size, await count()]).toEqual([5, 5]);
  });

  it('also with one object and different keys', async () => {
    const row = aLine();
    const results = await Promise.all(['a', 'b', 'c', 'd'].map((key) => lines.insertOnce(row, { clientId: 1n, key })));
    expect(new Set(results.map(({ row: { id } }) => id)).size).toBe(4);
    expect(results.map(({ replayed }) => replayed)).toEqual([false, false, false, false]);
    expect(await count()).toBe(4);
  });

  it('with the values of the time of the call', async () => {
    const row = { ...aLine({ key: 'before' }), dueAt: new Date(0) };
    const inserted = [lines.insert(row), lines.insert(row)];
    row.key = 'after';
    row.dueAt.setTime(Number.NaN);
    for (const { id } of await Promise.all(inserted)) expect(await lines.findById(id)).toMatchObject({ key: 'before', dueAt: new Date(0) });
  });
});

describe('a value that cannot be stored', () => {
  const throwing = Object.defineProperty(aLine(), 'key', {
    get() {
      throw new Error('no key');
    },
  });
  const wrong = (values: object) => aLine(values);

  it.each([
    ['an invalid Date', wrong({ dueAt: new Date(Number.NaN) })],
    ['a Date before the first one of PostgreSQL', wrong({ dueAt: new Date(-8.64e15) })],
    ['a bigint out of range', wrong({ clientId: 2n ** 63n })],
    ['a number out of range', wrong({ quantity: 2 ** 31 })],
    ['NaN', wrong({ quantity: Number.NaN })],
    ['a lone surrogate', wrong({ key: '\ud800' })],
    ['U+0000', wrong({ key: '\0' })],
    ['an object', wrong({ key: {} })],
    ['an object without a prototype', wrong({ note: Object.create(null) as object })],
    ['an array', wrong({ key: ['a'] })],
    ['a symbol', wrong({ key: Symbol('a') })],
    ['a function', wrong({ key: () => 'a' })],
    ['null in a column that is not nullable', wrong({ key: null })],
    ['a property that throws', throwing],
  ])('fails alone: %s', async (_name, row) => {
    const good = aLine({ key: 'good' });
    const once = (each: typeof row, key: string) => lines.insertOnce(each, { clientId: 1n, key });
    // The first call runs alone, the others in a batch.
    expect(await statusesOf([good, good, row, good].map((each) => lines.insert(each)))).toBe('ffrf');
    expect(await statusesOf([good, good, row, good].map((each, index) => once(each, String(index))))).toBe('ffrf');
    expect(await statusesOf([lines.insert(row), once(row, 'alone')])).toBe('rr');
    expect([await count(), logins]).toEqual([6, 0]);
  });

  it('does not fail a correct row with the same key', async () => {
    const key = { clientId: 1n, key: 'same' };
    const keyed = [{ key: 'broken' }, { key: 'good' }, { key: 'better' }].map((values) => lines.insertOnce(aLine(values), key));
    expect(await statusesOf(keyed)).toBe('rff');
    expect(await Promise.all(keyed.slice(1))).toMatchObject([
      { row: { key: 'good' }, replayed: false },
      { row: { key: 'good' }, replayed: true },
    ]);
  });

  it.each([
    ['a key with a lone surrogate', { clientId: 1n, key: '\udc00' }],
    ['a client out of range', { clientId: 2n ** 63n, key: 'x' }],
  ])('fails alone: %s', async (_name, key) => {
    const keys = [{ clientId: 1n, key: 'a' }, { clientId: 1n, key: 'b' }, key];
    expect(await statusesOf(keys.map((each) => lines.insertOnce(aLine(), each)))).toBe('ffr');
  });

  it.each([2n ** 63n, -(2n ** 63n) - 1n, 'x', {}, Symbol('x')])('fails alone as an identifier: %p', async (id) => {
    expect(await statusesOf([1n, 2n, id as bigint, 3n].map((each) => lines.findById(each)))).toBe('ffrf');
    expect(logins).toBe(0);
  });

  it.each([{ clientId: 2n ** 63n }, { dueAt: new Date(Number.NaN) }, { key: '\ud800' }, { key: '\0' }, { key: {} }])(
    'fails alone in a filter: %p',
    async (filter) => {
      const [name] = Object.keys(filter) as ['clientId'];
      const good = { [name]: aLine()[name] };
      expect(await statusesOf([good, good, filter as object, good].map((each, index) => lines.page(each, { limit: index + 1 })))).toBe(
        'ffrf',
      );
      expect(logins).toBe(0);
    },
  );
});

describe('a deadlock or a serialization failure', () => {
  it.each(['40P01', '40001'])('%s of a batch is repeated, at most three times', async (code) => {
    // The first one is that of the batch, the others are those of the row alone.
    failStatements(code, code, code, code);
    await lines.insert(aLine());
    failStatements(code, undefined, code, code, code);
    expect(await lines.insertOnce(aLine(), { clientId: 1n, key: code })).toMatchObject({ replayed: false });
    failStatements(code, code, code, code, code);
    await expect(lines.insert(aLine())).rejects.toMatchObject({ code });
    expect(await count()).toBe(2);
  });

  it('of a batch is followed by its rows, each alone', async () => {
    const insertAll = () => Promise.all(['alone', 'a', 'b', 'c', 'd'].map((key) => lines.insert(aLine({ key }))));
    const seen = failStatements(undefined, '40P01', undefined, '40001', '40P01');
    await insertAll();
    expect(seen).toEqual([1, 4, 1, 1, 1, 1, 1, 1]);
    const keys = ['alone', 'a', 'b', 'c', 'd'].map((key) => ({ clientId: 1n, key }));
    failStatements(undefined, '40P01', undefined, '40001', '40P01');
    const results = await Promise.all(keys.map((key) => lines.insertOnce(aLine(), key)));
    expect(results.filter(({ replayed }) => replayed)).toEqual([]);
    expect(await count()).toBe(10);
  });

  it('other errors are not repeated', async () => {
    failStatements('40003');
    await expect(lines.insert(aLine())).rejects.toMatchObject({ code: '40003' });
    // Nor by the calls that wait for one with the same key.
    const seen = failStatements('40003');
    expect(await statusesOf([1, 2, 3].map(() => lines.insertOnce(aLine(), { clientId: 1n, key: 'same' })))).toBe('rrr');
    expect(seen).toHaveLength(1);
  });
});
