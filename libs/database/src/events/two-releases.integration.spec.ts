import { setTimeout as sleep } from 'node:timers/promises';
import { waitFor } from '@animal-store/local-postgres/testing';
import { afterEach, describe, expect, it } from '@jest/globals';
import { BatchedRepository } from '../batching/batched-repository.js';
import type { Database } from '../database.js';
import { effects, moveOrder, OrderEntity, OrderMoved, OrderPlaced, recorder } from '../testing/shop.js';
import { useShop } from '../testing/use-shop.js';
import type { EventRunner } from './event-runner.js';
import { eventStatus, forgetSubscription, parkedEvents, retryParkedEvents } from './event-status.js';
import { appendEvents } from './events.js';

const shop = useShop();
const { start } = shop;
const errors: unknown[] = [];

const older = recorder('follow', undefined, [OrderPlaced]);
const newer = recorder('follow');
const withoutMoves = recorder('follow', undefined, [OrderPlaced], [OrderMoved]);

afterEach(() => expect(errors.splice(0)).toEqual([]));

function run(dataSource: Database): EventRunner {
  const interrupted = (error: unknown) => void errors.push(error);
  return shop.run(dataSource, { failed: (_event, error) => interrupted(error), interrupted });
}

const aPlacedOrder = (orderId: bigint) => OrderPlaced.of({ orderId, petId: 1n, customer: 'Ann', placedAt: new Date(), note: undefined });
const placeOrder = (dataSource: Database, orderId: bigint): Promise<void> =>
  dataSource.transaction((manager) => appendEvents(manager, aPlacedOrder(orderId)));

const expectEffects = (expected: readonly string[]) => shop.expectEffects('follow', expected);
const expectLag = (lag: number) =>
  waitFor(async () => expect(await eventStatus(shop.admin)).toMatchObject([{ lag, parked: 0, attempts: 0 }]));
const types = async () => {
  const rows = await shop.admin.query<{ types: string[] }[]>('SELECT types FROM events.subscriptions');
  return rows.flatMap((row) => row.types).sort();
};

describe('a release that adds a reaction', () => {
  it('gets the events of its type that an older process has reached, and those after them of the same aggregate', async () => {
    const old = await start(older);
    run(old);
    const release = await start(newer);
    await moveOrder(release, 1n, 1);
    await placeOrder(release, 1n);
    await moveOrder(release, 1n, 2);
    await placeOrder(old, 2n);
    // Other aggregates do not wait.
    await expectEffects(['2/0']);
    await expectLag(3);
    run(release);
    await expectEffects(['2/0', '1/1', '1/0', '1/2']);
    await expectLag(0);
  });

  it('runs beside the older one, and both handle each event once, in order per aggregate', async () => {
    const processes = [await start(older), await start(newer), await start(older)];
    for (const process of processes) run(process);
    const orders = [1n, 2n, 3n, 4n];
    const steps = Array.from({ length: 20 }, (_, index) => index + 1);
    await Promise.all(
      orders.map(async (orderId, index) => {
        for (const step of steps) {
          const process = processes[(index + step) % 3] as Database;
          await (step % 3 === 0 ? placeOrder(process, orderId) : moveOrder(process, orderId, step));
        }
      }),
    );
    await waitFor(async () => expect(await effects(shop.admin, 'follow')).toHaveLength(80), { timeoutMs: 60_000 });
    const handled = Map.groupBy(await effects(shop.admin, 'follow'), (effect) => effect.split('/')[0]);
    for (const [orderId, of] of handled)
      expect(of).toEqual(steps.map((step) => `${String(orderId)}/${step % 3 === 0 ? '0' : String(step)}`));
    await expectLag(0);
  });

  it('loses nothing if an older process registers last', async () => {
    await start(newer);
    const old = await start(older);
    expect(await types()).toEqual(['shop.order_moved', 'shop.order_placed']);
    await moveOrder(old, 1n, 1);
    await placeOrder(old, 1n);
    await placeOrder(old, 2n);
    run(old);
    await expectEffects(['2/0']);
    await expectLag(2);
    run(await start(newer));
    await expectEffects(['2/0', '1/1', '1/0']);
  });

  it('may be rolled back for good: after a release that ignores the type, what waited behind its events is handled, also if one was parked', async () => {
    await start(newer);
    const old = await start(older);
    run(old);
    await moveOrder(old, 1n, 1);
    await placeOrder(old, 1n);
    await moveOrder(old, 1n, 2);
    await placeOrder(old, 3n);
    await moveOrder(old, 4n, 1);
    await shop.admin.query(`UPDATE events.deliveries SET parked_at = now(), error = 'no stock' WHERE aggregate_id = '4'`);
    await placeOrder(old, 4n);
    await expectEffects(['3/0']);
    await waitFor(async () => expect(await parkedEvents(shop.admin)).toHaveLength(2));
    run(await start(withoutMoves));
    await expectEffects(['3/0', '1/0']);
    expect(await retryParkedEvents(shop.admin, 'follow')).toBe(2);
    await expectEffects(['3/0', '1/0', '4/0']);
    expect(await types()).toEqual(['shop.order_placed']);
    // Events of the type are no longer stored.
    await moveOrder(old, 1n, 3);
    expect(await shop.admin.query('SELECT FROM events.deliveries')).toEqual([]);
  });
});

describe('a release that removes a reaction', () => {
  it('ignores the events of its type, and later ones no longer store them', async () => {
    const old = await start(newer);
    await moveOrder(old, 1n, 1);
    await placeOrder(old, 1n);
    const release = await start(withoutMoves);
    run(release);
    await expectEffects(['1/0']);
    expect(await types()).toEqual(['shop.order_placed']);
    await moveOrder(release, 1n, 2);
    expect(await shop.admin.query('SELECT FROM events.deliveries')).toEqual([]);
    const next = await start(older);
    await placeOrder(next, 2n);
    run(next);
    await expectEffects(['1/0', '2/0']);
  });
});

describe('a subscription that only another release has', () => {
  it('is left to that release, and a process without it stores its events', async () => {
    const old = await start(older);
    run(old);
    const release = await start(older, recorder('other'));
    const orders = new BatchedRepository(old.getRepository(OrderEntity), undefined, { publishes: OrderPlaced });
    const idle = await shop.open();
    await moveOrder(idle, 7n, 1);
    const {
      result: { id },
    } = await orders.add({ petId: 1n, customer: 'Ann', placedAt: new Date(), note: null });
    await expectEffects([`${String(id)}/0`]);
    await sleep(100);
    expect(await effects(shop.admin, 'other')).toEqual([]);
    run(release);
    await waitFor(async () => expect(await effects(shop.admin, 'other')).toEqual(['7/1', `${String(id)}/0`]));
  });

  it.each([true, false])('may be forgotten after the open transaction of an event, which stores (%p) or handles it', async (isStored) => {
    const database = await start(older);
    expect(await forgetSubscription(shop.admin, 'other')).toBe(false);
    await placeOrder(database, 1n);
    let forgotten: Promise<boolean> | undefined;
    await database.transaction(async (manager) => {
      if (isStored) await appendEvents(manager, aPlacedOrder(1n));
      else await manager.query('SELECT FROM events.deliveries FOR UPDATE');
      forgotten = forgetSubscription(shop.admin, 'follow');
      await waitFor(async () => expect(await shop.admin.query('SELECT FROM pg_locks WHERE NOT granted')).not.toEqual([]));
      // Others do not wait for the handler.
      if (!isStored) await placeOrder(database, 2n);
    });
    expect(await forgotten).toBe(true);
    expect(await eventStatus(shop.admin)).toEqual([]);
    expect(await shop.admin.query('SELECT FROM events.deliveries')).toEqual([]);
  });

  it('is not forgotten while a transaction stays open, and others that store events wait for it only briefly', async () => {
    const database = await start(older);
    await database.transaction(async (manager) => {
      await appendEvents(manager, aPlacedOrder(1n));
      await expect(forgetSubscription(shop.admin, 'follow')).rejects.toMatchObject({ code: '55P03' });
    });
    expect(await eventStatus(shop.admin)).toMatchObject([{ lag: 1 }]);
  });
});
