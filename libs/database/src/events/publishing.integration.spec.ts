import { defineEvent, INT64_MAX, INT64_MIN } from '@animal-store/kernel';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { BatchedRepository, type NewRow } from '../batching/batched-repository.js';
import { Database } from '../database.js';
import { createShop, OrderEntity, OrderKeyEntity, OrderMoved, OrderPlaced, recorder, type Shop } from '../testing/shop.js';
import { registerSubscriptions } from '../statements/publication.js';
import { appendEvents } from './events.js';

const placedAt = new Date('2026-11-22T10:00:00.123Z');
const anOrder = (overrides: Partial<NewRow<OrderEntity>> = {}): NewRow<OrderEntity> => ({
  petId: 7n,
  customer: 'Ann',
  placedAt,
  note: null,
  ...overrides,
});

let shop: Shop;
let dataSource: Database;
let orders: BatchedRepository<OrderEntity>;

const ordersOf = (source: Database) =>
  new BatchedRepository(source.getRepository(OrderEntity), source.getRepository(OrderKeyEntity), { publishes: OrderPlaced });

interface Row {
  subscription: string;
  aggregateType: string;
  aggregateId: string;
  type: string;
  payload: string;
}

const stored = () =>
  dataSource.query<Row[]>(
    `SELECT subscription, aggregate_type AS "aggregateType", aggregate_id AS "aggregateId", type, payload::text
     FROM events.deliveries ORDER BY position`,
  );
const placedOf = async () => (await stored()).map(({ payload }) => OrderPlaced.parse(payload));

beforeAll(async () => {
  shop = await createShop();
  dataSource = await shop.open(recorder('all'));
  orders = ordersOf(dataSource);
});

beforeEach(async () => {
  await dataSource.query('TRUNCATE events.deliveries, events.subscriptions, shop.orders, shop.order_keys');
  await registerSubscriptions(dataSource);
});

afterAll(() => shop.close());

describe('appendEvents', () => {
  it('stores events in order, for each subscription to their type', async () => {
    await registerSubscriptions(await shop.open(recorder('placed', undefined, [OrderPlaced]), recorder('more')));
    await dataSource.transaction((manager) =>
      appendEvents(manager, OrderMoved.of({ orderId: INT64_MAX, step: 1 }), OrderMoved.of({ orderId: INT64_MIN, step: 2 })),
    );
    const events = await stored();
    for (const subscription of ['all', 'more']) {
      const row = { subscription, aggregateType: 'shop', type: 'shop.order_moved' };
      expect(events.filter((event) => event.subscription === subscription)).toEqual([
        { ...row, aggregateId: '9223372036854775807', payload: '{"step": 1, "orderId": 9223372036854775807}' },
        { ...row, aggregateId: '-9223372036854775808', payload: '{"step": 2, "orderId": -9223372036854775808}' },
      ]);
    }
    expect(events).toHaveLength(4);
  });

  it('requires a transaction', async () => {
    await expect(appendEvents(dataSource.manager, OrderMoved.of({ orderId: 1n, step: 1 }))).rejects.toThrow('requires the manager');
  });
});

describe('a batched insert', () => {
  it('stores an event for each row, with the values of its columns', async () => {
    const rows = [anOrder({ petId: INT64_MAX, customer: '"Ann"' }), anOrder({ petId: INT64_MIN, note: 'soon' }), anOrder()];
    const outcomes = await Promise.all(rows.map((row) => orders.add(row)));
    const events = await placedOf();
    expect(events).toEqual(
      rows.map(({ petId, customer, note }, i) => ({ orderId: outcomes[i]?.result.id, petId, customer, placedAt, ...(note && { note }) })),
    );
    expect((await stored())[0]).toMatchObject({
      aggregateType: 'shop',
      aggregateId: String(outcomes[0]?.result.id),
      type: 'shop.order_placed',
    });
  });

  it('with an idempotency key stores one event, also for concurrent repetitions in several processes', async () => {
    const other = ordersOf(await shop.open(recorder('all')));
    const key = { clientId: 1n, key: 'first' };
    const results = await Promise.all([orders, other, orders, other].map((each) => each.add(anOrder(), key)));
    await orders.add(anOrder(), key);
    expect(await placedOf()).toEqual([{ orderId: results[0]?.result.id, petId: 7n, customer: 'Ann', placedAt }]);
    await orders.add(anOrder(), { ...key, key: 'second' });
    expect(await stored()).toHaveLength(2);
  });

  it('fails if the event has a member without a column', async () => {
    const publishes = defineEvent('shop.order_lost', 'orderId', { orderId: 'int64', reason: 'text' });
    const source = await shop.open(recorder('lost', undefined, [publishes]));
    const lost = () => new BatchedRepository(source.getRepository(OrderEntity), undefined, { publishes });
    expect(lost).toThrow('has the member reason, but the inserted row has no such column');
  });
});

it('without a subscription in any release, or with Citus, an event is not stored', async () => {
  const citus = await new Database({ ...dataSource.settings, citus: true }).initialize();
  for (const source of [citus, await shop.open()]) {
    if (source !== citus) await source.query('TRUNCATE events.subscriptions');
    await ordersOf(source).add(anOrder());
    await ordersOf(source).add(anOrder(), { clientId: 1n, key: `not stored ${String(source === citus)}` });
    await source.transaction((manager) => appendEvents(manager, OrderMoved.of({ orderId: 1n, step: 1 })));
  }
  await citus.destroy();
  expect(await stored()).toEqual([]);
});
