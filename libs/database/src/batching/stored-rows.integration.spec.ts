import { defineEvent } from '@animal-store/kernel';
import { createTestDatabase, type TestDatabase } from '@animal-store/local-postgres/testing';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import type { StatementInterceptor } from '../connection/statement.js';
import { Database } from '../database.js';
import { migrateUp } from '../migrations/migrations.js';
import { PreparedStatement } from '../statements/prepared-statement.js';
import { registerSubscriptions } from '../statements/publication.js';
import { aLine, OrderLineEntity, OrderLineKeyEntity, shop as linesOfShop } from '../testing/order-lines.js';
import { createShop, OrderEntity, OrderKeyEntity, OrderPlaced, recorder, type Shop } from '../testing/shop.js';
import { BatchedRepository } from './batched-repository.js';

let shop: Shop;
let database: Database;
let plain: BatchedRepository<OrderEntity>;
let publishing: BatchedRepository<OrderEntity>;
let keys = 0;

const OrderNamed = defineEvent('shop.order_named', 'orderId', { orderId: 'int64', customer: 'text' });

beforeAll(async () => {
  shop = await createShop();
  database = await shop.open(recorder('all'), recorder('named', undefined, [OrderNamed]));
  await registerSubscriptions(database);
  plain = repositoryOf();
  publishing = repositoryOf({ publishes: OrderPlaced });
});
afterEach(() => database.query('DROP FUNCTION IF EXISTS shop.probe CASCADE; TRUNCATE shop.orders, shop.order_keys, events.deliveries'));
afterAll(() => shop.close());

function repositoryOf(options?: { publishes: typeof OrderPlaced | typeof OrderNamed }): BatchedRepository<OrderEntity> {
  return new BatchedRepository(database.getRepository(OrderEntity), database.getRepository(OrderKeyEntity), options);
}

/** Creates a BEFORE INSERT trigger. */
const trigger = (body: string, table = 'orders') =>
  database.query(`
    CREATE OR REPLACE FUNCTION shop.probe() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN ${body} END $$;
    CREATE OR REPLACE TRIGGER probe BEFORE INSERT ON shop.${table} FOR EACH ROW EXECUTE FUNCTION shop.probe()`);
const anOrder = (customer = 'Ann') => ({ petId: 7n, customer, placedAt: new Date('2026-11-22T10:00:00.123Z'), note: null });
const aKey = () => ({ clientId: 1n, key: String(++keys) });
/** Inserts four rows in two statements, the first one alone. On a busy machine, the order of their identifiers may differ. */
const four = <Result>(insert: (customer: string) => Promise<Result>) => Promise.allSettled(['a', 'b', 'c', 'd'].map(insert));
const events = () =>
  database.query<{ type: string; payload: object }[]>(`SELECT type, payload FROM events.deliveries ORDER BY type, payload->>'customer'`);
const stored = () => database.getRepository(OrderEntity).find({ order: { customer: 'ASC' } });

const INSERTS: [string, (customer: string) => Promise<OrderEntity>][] = [
  ['an insert', async (customer) => (await plain.add(anOrder(customer))).result],
  ['an insert with an event', async (customer) => (await publishing.add(anOrder(customer))).result],
  ['an insert with a key', async (customer) => (await plain.add(anOrder(customer), aKey())).result],
  ['an insert with a key and an event', async (customer) => (await publishing.add(anOrder(customer), aKey())).result],
];

describe.each(INSERTS)('what a trigger stored is the result of %s', (name, insert) => {
  it('if it changes the row: result, event and record', async () => {
    await trigger(`NEW.customer := upper(NEW.customer); NEW.note := 'trigger'; RETURN NEW;`);
    const results = (await four(insert)).map((end) => (end.status === 'fulfilled' ? end.value : (end.reason as unknown)));
    const rows = await stored();
    expect(rows.map(({ customer, note }) => [customer, note])).toEqual(['A', 'B', 'C', 'D'].map((customer) => [customer, 'trigger']));
    expect(results).toEqual(rows);
    const payloads = (await events()).map(({ payload }) => payload);
    expect(payloads).toEqual(name.includes('event') ? rows.map(({ customer, note }) => expect.objectContaining({ customer, note })) : []);
  });

  it('if it rejects the row: an error, and nothing is stored', async () => {
    await trigger(`IF NEW.customer IN ('a', 'c') THEN RETURN NULL; END IF; RETURN NEW;`);
    const ends = await four(insert);
    expect(ends.map(({ status }) => status[0]).join('')).toBe('rfrf');
    expect(ends[0]).toMatchObject({ reason: { message: expect.stringContaining('did not store the row') } });
    expect((await stored()).map(({ customer }) => customer)).toEqual(['b', 'd']);
    expect(await events()).toHaveLength(name.includes('event') ? 2 : 0);
    expect(await database.getRepository(OrderKeyEntity).count()).toBe(name.includes('key') ? 2 : 0);
    await trigger('RAISE unique_violation;');
    expect((await four(insert)).map(({ status }) => status[0]).join('')).toBe('rrrr');
  });

  it.each(['NEW.id + 1000000', '-NEW.id'])(
    'if it changes the identifier to %s: the row with that identifier, or an error and no row',
    async (id) => {
      await trigger(`NEW.id := ${id}; RETURN NEW;`);
      const ends = await four(insert);
      const rows = await stored();
      const results = ends.map((end, index) => (end.status === 'fulfilled' ? end.value : 'abcd'[index]));
      const storedAs = (customer: string) => rows.find((row) => row.customer === customer) ?? customer;
      expect(results).toEqual(['a', 'b', 'c', 'd'].map(storedAs));
      for (const end of ends)
        if (end.status === 'rejected') expect(end.reason).toMatchObject({ message: expect.stringContaining('must not change') });
    },
  );
});

it('a repeated request gets the row that a trigger changed, and its request is compared with what was sent', async () => {
  await trigger('NEW.customer := upper(NEW.customer); RETURN NEW;');
  const key = aKey();
  const first = await plain.add(anOrder('ann'), key);
  expect(first.result.customer).toBe('ANN');
  expect(await repositoryOf().add(anOrder('ann'), key)).toEqual({ ...first, replayed: true });
  await expect(repositoryOf().add(anOrder('ANN'), key)).rejects.toMatchObject({ code: 'idempotency_key_reused' });
});

it('a repeated request fails if a trigger changed the key of the first one', async () => {
  await trigger(`NEW.key := 'x' || NEW.key; RETURN NEW;`, 'order_keys');
  const key = aKey();
  await plain.add(anOrder(), key);
  await expect(plain.add(anOrder(), key)).rejects.toMatchObject({ code: '23505' });
});

it('repositories of one entity with different events, keys or columns have their own statements on a connection', async () => {
  const source = database;
  const one = await source.pool.connect();
  one.release();
  for (const repository of [publishing, plain, repositoryOf({ publishes: OrderNamed })]) {
    await repository.add(anOrder(), aKey());
    await Promise.all([1, 2, 3].map(() => repository.add(anOrder())));
  }
  expect((await events()).map(({ type }) => type)).toEqual([
    ...Array.from({ length: 4 }, () => 'shop.order_named'),
    ...Array.from({ length: 4 }, () => 'shop.order_placed'),
  ]);
});

describe('with columns of many types', () => {
  let database: TestDatabase;
  let dataSource: Database;
  let lines: BatchedRepository<OrderLineEntity>;
  let logins = 0;

  beforeAll(async () => {
    database = await createTestDatabase();
    dataSource = await new Database({ url: database.url, applicationName: 'spec', poolSize: 2, persistence: [linesOfShop] }).initialize();
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
  const statusesOf = async (calls: readonly Promise<unknown>[]) =>
    (await Promise.allSettled(calls)).map(({ status }) => status[0]).join('');

  describe('an error of a statement does not cost its connection', () => {
    it.each([
      ['a batched insert', () => lines.add(aLine({ key: 'broken' }))],
      ['a batched insert with a key', () => lines.add(aLine({ key: 'broken' }), { clientId: 1n, key: 'x' })],
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
      const ids = await Promise.all(Array.from({ length: 5 }, () => lines.add(row)));
      expect([new Set(ids.map(({ result: { id } }) => id)).size, await count()]).toEqual([5, 5]);
    });

    it('also with one object and different keys', async () => {
      const row = aLine();
      const results = await Promise.all(['a', 'b', 'c', 'd'].map((key) => lines.add(row, { clientId: 1n, key })));
      expect(new Set(results.map(({ result: { id } }) => id)).size).toBe(4);
      expect(results.map(({ replayed }) => replayed)).toEqual([false, false, false, false]);
      expect(await count()).toBe(4);
    });

    it('with the values of the time of the call', async () => {
      const row = { ...aLine({ key: 'before' }), dueAt: new Date(0) };
      const inserted = [lines.add(row), lines.add(row)];
      row.key = 'after';
      row.dueAt.setTime(Number.NaN);
      for (const {
        result: { id },
      } of await Promise.all(inserted))
        expect(await lines.findById(id)).toMatchObject({ key: 'before', dueAt: new Date(0) });
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
      const once = (each: typeof row, key: string) => lines.add(each, { clientId: 1n, key });
      // The first call runs alone, the others in a batch.
      expect(await statusesOf([good, good, row, good].map((each) => lines.add(each)))).toBe('ffrf');
      expect(await statusesOf([good, good, row, good].map((each, index) => once(each, String(index))))).toBe('ffrf');
      expect(await statusesOf([lines.add(row), once(row, 'alone')])).toBe('rr');
      expect([await count(), logins]).toEqual([6, 0]);
    });

    it('does not fail a correct row with the same key', async () => {
      const key = { clientId: 1n, key: 'same' };
      const keyed = [{ key: 'broken' }, { key: 'good' }, { key: 'good' }].map((values) => lines.add(aLine(values), key));
      expect(await statusesOf(keyed)).toBe('rff');
      expect(await Promise.all(keyed.slice(1))).toMatchObject([
        { result: { key: 'good' }, replayed: false },
        { result: { key: 'good' }, replayed: true },
      ]);
    });

    it.each([
      ['a key with a lone surrogate', { clientId: 1n, key: '\udc00' }],
      ['a client out of range', { clientId: 2n ** 63n, key: 'x' }],
    ])('fails alone: %s', async (_name, key) => {
      const keys = [{ clientId: 1n, key: 'a' }, { clientId: 1n, key: 'b' }, key];
      expect(await statusesOf(keys.map((each) => lines.add(aLine(), each)))).toBe('ffr');
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

  it('a statement has at most 256 identifiers or 32 pages, and eight waiting pages begin another one', async () => {
    const finds = failStatements();
    await Promise.all(Array.from({ length: 300 }, (_, id) => lines.findById(BigInt(id))));
    expect(finds).toEqual([1, 256, 43]);
    const pages = failStatements();
    await Promise.all(Array.from({ length: 60 }, (_, id) => lines.page({}, { limit: 1, after: { id: BigInt(id) } })));
    expect(pages).toEqual([1, 8, 32, 19]);
  });

  it('a read is repeated after a lost connection: of a row, a page, and the record of a key', async () => {
    const key = { clientId: 1n, key: 'repeated' };
    const { result } = await lines.add(aLine(), key);
    failStatements('57P01', undefined, '57P01', undefined, undefined, '57P01');
    expect(await lines.findById(result.id)).toEqual(result);
    expect((await lines.page({}, { limit: 1 })).items).toEqual([result]);
    expect(await lines.add(aLine(), key)).toEqual({ result, replayed: true });
  });

  describe('a deadlock or a serialization failure', () => {
    it.each(['40P01', '40001'])('%s of a batch is repeated, at most three times', async (code) => {
      // The first one is that of the batch, the others are those of the row alone.
      failStatements(code, code, code, code);
      await lines.add(aLine());
      failStatements(code, undefined, code, code, code);
      expect(await lines.add(aLine(), { clientId: 1n, key: code })).toMatchObject({ replayed: false });
      failStatements(code, code, code, code, code);
      await expect(lines.add(aLine())).rejects.toMatchObject({ code });
      expect(await count()).toBe(2);
    });

    it('of a batch is followed by its rows, each alone', async () => {
      const insertAll = () => Promise.all(['alone', 'a', 'b', 'c', 'd'].map((key) => lines.add(aLine({ key }))));
      const seen = failStatements(undefined, '40P01', undefined, '40001', '40P01');
      await insertAll();
      expect(seen).toEqual([1, 4, 1, 1, 1, 1, 1, 1]);
      const keys = ['alone', 'a', 'b', 'c', 'd'].map((key) => ({ clientId: 1n, key }));
      failStatements(undefined, '40P01', undefined, '40001', '40P01');
      const results = await Promise.all(keys.map((key) => lines.add(aLine(), key)));
      expect(results.filter(({ replayed }) => replayed)).toEqual([]);
      expect(await count()).toBe(10);
    });

    it('other errors are not repeated', async () => {
      failStatements('40003');
      await expect(lines.add(aLine())).rejects.toMatchObject({ code: '40003' });
      // Nor by the calls that wait for one with the same key.
      const seen = failStatements('40003');
      expect(await statusesOf([1, 2, 3].map(() => lines.add(aLine(), { clientId: 1n, key: 'same' })))).toBe('rrr');
      expect(seen).toHaveLength(1);
    });
  });
});
