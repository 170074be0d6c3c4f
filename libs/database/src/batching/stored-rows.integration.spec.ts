import { defineEvent } from '@animal-store/kernel';
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import type { Database } from '../database.js';
import { registerSubscriptions } from '../statements/publication.js';
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
afterEach(() => database.query('DROP TRIGGER IF EXISTS probe ON shop.orders; TRUNCATE shop.orders, shop.order_keys, events.deliveries'));
afterAll(() => shop.close());

function repositoryOf(options?: { publishes: typeof OrderPlaced | typeof OrderNamed }): BatchedRepository<OrderEntity> {
  return new BatchedRepository(database.getRepository(OrderEntity), database.getRepository(OrderKeyEntity), options);
}

/** Creates a BEFORE INSERT trigger. */
const trigger = (body: string) =>
  database.query(`
    CREATE OR REPLACE FUNCTION shop.probe() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN ${body} END $$;
    CREATE TRIGGER probe BEFORE INSERT ON shop.orders FOR EACH ROW EXECUTE FUNCTION shop.probe()`);
const anOrder = (customer = 'Ann') => ({ petId: 7n, customer, placedAt: new Date('2026-11-22T10:00:00.123Z'), note: null });
const aKey = () => ({ clientId: 1n, key: String(++keys) });
/** Inserts four rows in two statements: the first one alone. */
const four = <Result>(insert: (customer: string) => Promise<Result>) => Promise.allSettled(['a', 'b', 'c', 'd'].map(insert));
const events = () =>
  database.query<{ type: string; payload: object }[]>('SELECT type, payload FROM events.deliveries ORDER BY type, aggregate_id');
const stored = () => database.getRepository(OrderEntity).find({ order: { id: 'ASC' } });

const INSERTS: [string, (customer: string) => Promise<OrderEntity>][] = [
  ['an insert', (customer) => plain.insert(anOrder(customer))],
  ['an insert with an event', (customer) => publishing.insert(anOrder(customer))],
  ['an insert with a key', async (customer) => (await plain.insertOnce(anOrder(customer), aKey())).row],
  ['an insert with a key and an event', async (customer) => (await publishing.insertOnce(anOrder(customer), aKey())).row],
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
  const first = await plain.insertOnce(anOrder('ann'), key);
  expect(first.row.customer).toBe('ANN');
  expect(await repositoryOf().insertOnce(anOrder('other'), key)).toEqual({ ...first, replayed: true });
  expect(first.request).toEqual(anOrder('ann'));
});

it('repositories of one entity with different events, keys or columns have their own statements on a connection', async () => {
  const source = database;
  const one = await source.pool.connect();
  one.release();
  for (const repository of [publishing, plain, repositoryOf({ publishes: OrderNamed })]) {
    await repository.insertOnce(anOrder(), aKey());
    await Promise.all([1, 2, 3].map(() => repository.insert(anOrder())));
  }
  expect((await events()).map(({ type }) => type)).toEqual([
    ...Array.from({ length: 4 }, () => 'shop.order_named'),
    ...Array.from({ length: 4 }, () => 'shop.order_placed'),
  ]);
});
