import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { waitFor } from '@animal-store/local-postgres/testing';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import type { Database } from '../database.js';
import { appendEvents } from '../events/events.js';
import { registerSubscriptions } from '../statements/publication.js';
import { eventStatus, parkedEvents } from '../events/event-status.js';
import { createShop, effects, OrderMoved, recorder, type Shop } from './shop.js';

const PROGRAM = join(import.meta.dirname, '../../dist/testing/event-process.js');
const POISON_PROGRAM = join(import.meta.dirname, '../../dist/testing/poison-process.js');
const PROCESSES = 3;
const KILLS = 12;
/** Includes the starts of the processes on a busy machine. */
const TIMEOUT_MS = 600_000;

let shop: Shop;
let dataSource: Database;
let errors = '';

beforeAll(async () => {
  shop = await createShop();
  dataSource = await shop.open(recorder('one'), recorder('two'));
  await registerSubscriptions(dataSource);
});

afterAll(() => shop.close());

/** Resolves when the process has published an event. */
async function start(): Promise<ChildProcess> {
  const child = spawn(process.execPath, [PROGRAM, shop.database.url], { stdio: ['ignore', 'pipe', 'pipe'] });
  child.stderr.on('data', (text) => (errors += String(text)));
  await once(child.stdout, 'data');
  return child;
}

async function kill(child: ChildProcess): Promise<void> {
  const exited = once(child, 'exit');
  child.kill('SIGKILL');
  await exited;
}

it(
  'processes that are killed at any time lose no event and handle none twice',
  async () => {
    const children = await Promise.all(Array.from({ length: PROCESSES }, start));
    for (let kills = 0; kills < KILLS; kills++) {
      await sleep(Math.random() * 300);
      const index = kills % PROCESSES;
      await kill(children[index] as ChildProcess);
      children[index] = await start();
    }
    for (const child of children) await kill(child);
    // Another process handles what they have published.
    const last = await start();
    const pending = () => dataSource.query('SELECT FROM events.deliveries WHERE position <= $1', [newest?.position]);
    const [newest] = await dataSource.query<{ position: bigint }[]>('SELECT max(position) AS position FROM events.deliveries');
    await waitFor(async () => expect(await pending()).toHaveLength(0), { timeoutMs: TIMEOUT_MS / 2 });
    await kill(last);

    const published = Map.groupBy(await effects(dataSource, 'published'), (effect) => effect.split('/')[0]);
    expect(published.size).toBeGreaterThan(20);
    for (const { name, parked } of await eventStatus(dataSource)) {
      expect(parked).toBe(0);
      const remaining = await dataSource.query<{ effect: string }[]>(
        `SELECT format('%s/%s', aggregate_id, coalesce(payload ->> 'step', '0')) AS effect FROM events.deliveries WHERE subscription = $1 ORDER BY position`,
        [name],
      );
      const handled = [...(await effects(dataSource, name)), ...remaining.map(({ effect }) => effect)];
      for (const [order, of] of Map.groupBy(handled, (effect) => effect.split('/')[0]))
        expect(of).toEqual([`${String(order)}/0`, ...(published.get(order) ?? [])]);
    }
    const [orders] = await dataSource.query<{ stored: number; placed: number }[]>(
      `SELECT (SELECT count(*)::int4 FROM shop.orders) AS stored, count(*)::int4 AS placed FROM shop.effects WHERE subscription = 'one' AND step = 0`,
    );
    expect(orders?.stored).toBeGreaterThanOrEqual(orders?.placed ?? 0);
    expect(errors).toBe('');
  },
  TIMEOUT_MS,
);

describe('an event whose handler ends the process', () => {
  beforeEach(() => dataSource.query('TRUNCATE events.deliveries, shop.effects'));

  it.each(['exit', 'kill', 'reject', 'block'])(
    'by %s is parked after the last attempt, and the others are handled once',
    async (way) => {
      await registerSubscriptions(dataSource);
      await dataSource.transaction((manager) =>
        appendEvents(manager, ...[1, 2, 13, 4, 5].map((step) => OrderMoved.of({ orderId: BigInt(step), step }))),
      );
      let deaths = 0;
      for (;;) {
        const child = spawn(process.execPath, [POISON_PROGRAM, shop.database.url, way], { stdio: ['ignore', 'pipe', 'ignore'] });
        const exited = once(child, 'exit');
        child.stdout.once('data', () => {
          deaths++;
          // As a container platform does after its liveness probe has failed.
          if (way === 'block') child.kill('SIGKILL');
        });
        const isParked = waitFor(async () => expect(await parkedEvents(dataSource)).toHaveLength(1));
        if ((await Promise.race([exited.then(() => 'exited'), isParked.then(() => 'parked')])) === 'exited') {
          isParked.catch(() => undefined);
          continue;
        }
        await waitFor(async () => expect(await effects(dataSource, 'one')).toEqual(['1/1', '2/2', '4/4', '5/5']));
        await kill(child);
        break;
      }
      expect(deaths).toBe(3);
      expect(await parkedEvents(dataSource)).toMatchObject([{ aggregateId: '13', error: expect.stringContaining('the process ended') }]);
    },
    TIMEOUT_MS,
  );
});
