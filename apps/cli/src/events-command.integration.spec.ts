import { query } from '@animal-store/local-postgres/testing';
import { beforeEach, describe, expect, it } from '@jest/globals';
import { json, useAnimalStore } from './testing/run-animal-store.js';

const store = useAnimalStore();

const TIME = String.raw`\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ`;
const ISO_TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;

beforeEach(async () => {
  await query(store.url, 'TRUNCATE events.deliveries, events.subscriptions');
});

/** Adds two events that are not handled, and three that are parked, two of them of the order 7. */
async function addEvents(): Promise<void> {
  await query(store.url, `INSERT INTO events.subscriptions (name, types) VALUES ('pets', '{orders.order_placed}'), ('idle', '{}')`);
  await query(
    store.url,
    `INSERT INTO events.deliveries
       (position, subscription, aggregate_type, aggregate_id, type, payload, occurred_at, attempts, parked_at, error)
     OVERRIDING SYSTEM VALUE
     SELECT position, 'pets', 'orders', id, 'orders.order_placed', '{}', now() - interval '90 s', 2, CASE WHEN error <> '' THEN now() END, error
     FROM unnest('{1,2,9007199254740993,4,5}'::int8[], '{7,7,8,7,9}'::text[], ARRAY[E'Error: no\n\x1bstock', 'waits', 'waits', NULL, NULL])
       AS given (position, id, error)`,
  );
}

const retried = async () => {
  const rows = await query(
    store.url,
    'SELECT position::text FROM events.deliveries WHERE parked_at IS NULL AND attempts = 0 ORDER BY events.deliveries.position',
  );
  return rows.map((row) => (row as { position: string }).position);
};

describe('animal-store events', () => {
  it('list prints the lag of each subscription', async () => {
    expect((await store.run('events', 'list')).stdout).toBe('No subscriptions.\n');
    await addEvents();
    const { stdout } = await store.run('events', 'list');
    expect(stdout).toMatch(/^NAME +LAG +PARKED +ATTEMPTS +LAG SECONDS\nidle +0 +0 +0 +0\npets +2 +3 +2 +9\d\S*\n$/);
    expect(json(await store.run('events', 'list', '--json'))).toEqual([
      { name: 'idle', lag: 0, lagSeconds: 0, attempts: 0, parked: 0 },
      { name: 'pets', lag: 2, lagSeconds: expect.any(Number), attempts: 2, parked: 3 },
    ]);
  });

  it('parked prints parked events with their errors', async () => {
    expect((await store.run('events', 'parked')).stdout).toBe('No parked events.\n');
    await addEvents();
    const [header, first, , third] = (await store.run('events', 'parked')).stdout.split('\n');
    expect(header).toMatch(/^SUBSCRIPTION +POSITION +TYPE +AGGREGATE ID +OCCURRED AT +PARKED AT +ERROR$/);
    expect(first).toMatch(new RegExp(String.raw`^pets +1 +orders\.order_placed +7 +${TIME} +${TIME} +Error: no\\x0a\\x1bstock$`));
    expect(third).toMatch(/^pets +9007199254740993 /);
    const { stdout } = await store.run('events', 'parked', '--json');
    expect(stdout).toContain('"position": 9007199254740993');
    expect((JSON.parse(stdout) as unknown[])[1]).toEqual({
      subscription: 'pets',
      position: 2,
      type: 'orders.order_placed',
      aggregateId: '7',
      occurredAt: expect.stringMatching(ISO_TIME),
      parkedAt: expect.stringMatching(ISO_TIME),
      error: 'waits',
    });
  });

  it('retry marks all parked events of a subscription', async () => {
    await addEvents();
    expect(await store.run('events', 'retry', 'pets')).toMatchObject({ exitCode: 0, stdout: '3 parked events are retried.\n' });
    expect(await retried()).toEqual(['1', '2', '9007199254740993']);
  });

  it('retry fails if no event of the subscription is parked', async () => {
    await addEvents();
    const stderr = 'error: the subscription other has no parked event\n';
    expect(await store.run('events', 'retry', 'other')).toEqual({ exitCode: 1, stdout: '', stderr });
    expect(await retried()).toEqual([]);
  });

  it('forget removes a subscription with its events', async () => {
    await addEvents();
    expect(await store.run('events', 'forget', 'pets')).toEqual({
      exitCode: 0,
      stdout: 'The subscription pets is forgotten.\n',
      stderr: '',
    });
    expect(await query(store.url, 'SELECT name FROM events.subscriptions')).toEqual([{ name: 'idle' }]);
    expect((await store.run('events', 'parked')).stdout).toBe('No parked events.\n');
    expect(await store.run('events', 'forget', 'pets')).toMatchObject({ exitCode: 1, stderr: 'error: there is no subscription pets\n' });
  });
});
