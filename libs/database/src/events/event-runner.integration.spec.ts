import { setTimeout as sleep } from 'node:timers/promises';
import { waitFor } from '@animal-store/local-postgres/testing';
import { describe, expect, it, jest } from '@jest/globals';
import type { Database } from '../database.js';
import { DatabaseConnection } from '../database-connection.js';
import { effects, type Hook, moveOrder, OrderMoved, recorder } from '../testing/shop.js';
import { useShop } from '../testing/use-shop.js';
import { appendEvents, registerSubscriptions } from './event-log.js';
import type { EventObserver, EventRunnerOptions } from './event-runner.js';
import { DeleteOldEvents, eventStatus, parkedEvents, retryParkedEvents } from './event-status.js';
import type { Subscription } from '../persistence.js';
import { subscribe } from './subscription.js';

const shop = useShop();

function anObserver(): jest.Mocked<EventObserver> {
  return {
    handle: jest.fn<EventObserver['handle']>((_subscription, _event, work) => work()),
    processed: jest.fn(),
    failed: jest.fn(),
    interrupted: jest.fn(),
    status: jest.fn(),
  };
}

/** Opens a process that may publish. Call `run` to let it handle events, too. */
async function open(...subscriptions: Subscription[]) {
  const dataSource = await shop.start(...subscriptions);
  const observer = anObserver();
  return { dataSource, observer, run: (options?: Partial<EventRunnerOptions>) => shop.run(dataSource, observer, options) };
}

/** Publishes several events in one transaction. */
function moveInOneTransaction(dataSource: Database, orderId: bigint, ...steps: readonly number[]): Promise<void> {
  return dataSource.transaction((manager) => appendEvents(manager, ...steps.map((step) => OrderMoved.of({ orderId, step }))));
}

const { expectEffects } = shop;
const parked = async () => (await parkedEvents(shop.admin)).map(({ aggregateId, error }) => `${aggregateId}: ${error}`);

describe('a subscription', () => {
  it('handles the events that are published after it was created, in order', async () => {
    const { dataSource: earlier } = await open(recorder('earlier'));
    await moveOrder(earlier, 1n, 1);
    const { dataSource, observer, run } = await open(recorder('later'));
    await moveInOneTransaction(dataSource, 1n, 2, 3);
    run();
    await expectEffects('later', ['1/2', '1/3']);
    expect(observer.processed.mock.calls).toEqual([['later', 2]]);
    expect(observer.handle.mock.calls.map(([name, { type, aggregateid }]) => [name, type, aggregateid])).toEqual(
      Array.from({ length: 2 }, () => ['later', 'shop.order_moved', '1']),
    );
  });

  it('keeps its position when it is opened again', async () => {
    const { dataSource } = await open(recorder('kept'));
    await moveOrder(dataSource, 1n, 1);
    const { run } = await open(recorder('kept'));
    run();
    await expectEffects('kept', ['1/1']);
  });

  it('continues after a gap of positions', async () => {
    const { dataSource, run } = await open(recorder('gap'));
    await moveOrder(dataSource, 1n, 1);
    await shop.admin.query(`SELECT setval('events.position_seq', nextval('events.position_seq') + 12000)`);
    await moveOrder(dataSource, 1n, 2);
    run();
    await expectEffects('gap', ['1/1', '1/2']);
  });

  it('is created when its process connects, before it can publish', async () => {
    const dataSource = await shop.open(recorder('connected'));
    await new DatabaseConnection(dataSource).open();
    expect((await eventStatus(shop.admin)).map(({ name }) => name)).toEqual(['connected']);
  });

  it('handles each event once, in order per aggregate, in several processes', async () => {
    const processes = await Promise.all([1, 2, 3].map(() => open(recorder('one'), recorder('two'))));
    for (const { run } of processes) run();
    const steps = Array.from({ length: 40 }, (_, step) => step);
    await Promise.all(
      [1n, 2n, 3n, 4n, 5n].map(async (orderId) => {
        for (const step of steps) await moveOrder(processes[Number(orderId) % 3]?.dataSource as Database, orderId, step);
      }),
    );
    for (const subscription of ['one', 'two']) {
      await waitFor(async () => expect(await effects(shop.admin, subscription)).toHaveLength(200), { timeoutMs: 60_000 });
      const handled = Map.groupBy(await effects(shop.admin, subscription), (effect) => effect.split('/')[0]);
      for (const [orderId, of] of handled) expect(of).toEqual(steps.map((step) => `${String(orderId)}/${String(step)}`));
    }
    for (const { observer } of processes) expect(observer.interrupted).not.toHaveBeenCalled();
  });
});

describe('an event whose transaction commits late', () => {
  it.each(['COMMIT', 'ROLLBACK'])('is waited for until its %s', async (end) => {
    const { dataSource, run } = await open(recorder('late'));
    const slow = dataSource.createQueryRunner();
    await slow.startTransaction();
    await appendEvents(slow.manager, OrderMoved.of({ orderId: 1n, step: 1 }));
    await moveOrder(dataSource, 2n, 2);
    run();
    await sleep(300);
    expect(await effects(shop.admin, 'late')).toEqual([]);
    await slow.query(end);
    await slow.release();
    await expectEffects('late', end === 'COMMIT' ? ['1/1', '2/2'] : ['2/2']);
  });

  it('is waited for if no transaction has a higher id, and the lag is reported meanwhile', async () => {
    const { dataSource, observer, run } = await open(recorder('newest'));
    const [quick, slow] = [dataSource.createQueryRunner(), dataSource.createQueryRunner()];
    await quick.startTransaction();
    await quick.query('SELECT pg_current_xact_id()');
    await slow.startTransaction();
    await appendEvents(slow.manager, OrderMoved.of({ orderId: 1n, step: 1 }));
    await appendEvents(quick.manager, OrderMoved.of({ orderId: 2n, step: 2 }));
    await quick.commitTransaction();
    run();
    await sleep(300);
    expect(await effects(shop.admin, 'newest')).toEqual([]);
    expect(observer.status).toHaveBeenCalledWith([expect.objectContaining({ name: 'newest', lag: 1 })]);
    await slow.commitTransaction();
    await expectEffects('newest', ['1/1', '2/2']);
    for (const runner of [quick, slow]) await runner.release();
  });

  it('that has drawn a position but not written its row yet is waited for', async () => {
    const { dataSource, run } = await open(recorder('drawn'));
    const slow = dataSource.createQueryRunner();
    await slow.startTransaction();
    const [drawn] = (await slow.query(
      `SELECT nextval(CASE WHEN pg_current_xact_id() IS NOT NULL THEN 'events.position_seq'::regclass END) AS position`,
    )) as { position: bigint }[];
    await moveOrder(dataSource, 2n, 2);
    run();
    await sleep(300);
    await slow.query(
      `INSERT INTO events.events (position, aggregatetype, aggregateid, type, payload)
       VALUES ($1, 'shop', '1', 'shop.order_moved', '{"orderId": 1, "step": 1}')`,
      [drawn?.position],
    );
    await slow.query('COMMIT');
    await slow.release();
    await expectEffects('drawn', ['1/1', '2/2']);
  });
});

describe('an event that fails', () => {
  /** Throws for the steps, once the effect is written. */
  const failing =
    (steps: Set<number>, error: () => Error = () => new Error('no stock')): Hook =>
    (event) => {
      if ('step' in event && steps.has(event.step)) throw error();
    };

  it('is retried with its writes undone, and the events before it are kept', async () => {
    const steps = new Set([3]);
    const { dataSource, observer, run } = await open(recorder('retried', failing(steps)));
    await moveInOneTransaction(dataSource, 1n, 1, 2, 3, 4);
    run({ maxAttempts: 1_000 });
    await waitFor(async () => {
      const [status] = await eventStatus(shop.admin);
      expect(status).toMatchObject({ lag: 2, parked: 0 });
      expect(status?.attempts).toBeGreaterThan(2);
      expect(status?.lagSeconds).toBeGreaterThan(0);
    });
    expect(await effects(shop.admin, 'retried')).toEqual(['1/1', '1/2']);
    steps.clear();
    await expectEffects('retried', ['1/1', '1/2', '1/3', '1/4']);
    expect(observer.failed).toHaveBeenCalledWith('retried', expect.objectContaining({ aggregateid: '1' }), new Error('no stock'), false);
    expect(await eventStatus(shop.admin)).toMatchObject([{ lag: 0, lagSeconds: 0, attempts: 0 }]);
  });

  it('waits longer after each failure', async () => {
    const { dataSource, observer, run } = await open(recorder('backoff', failing(new Set([1]))));
    await moveOrder(dataSource, 1n, 1);
    run({ retryMs: 40_000 });
    await waitFor(() => expect(observer.failed).toHaveBeenCalledTimes(1));
    const delay = async () => {
      const [row] = await shop.admin.query<{ delay: number }[]>(
        'SELECT extract(epoch FROM next_attempt_at - now())::float8 AS delay FROM events.subscriptions',
      );
      return row?.delay;
    };
    expect(await delay()).toBeGreaterThan(20);
    expect(await delay()).toBeLessThanOrEqual(40);
    await shop.admin.query('UPDATE events.subscriptions SET next_attempt_at = now()');
    await waitFor(() => expect(observer.failed).toHaveBeenCalledTimes(2));
    // At most a minute.
    expect(await delay()).toBeGreaterThan(40);
    expect(await delay()).toBeLessThanOrEqual(60);
    // The clock of the database is set back by an hour.
    await shop.admin.query("UPDATE events.subscriptions SET next_attempt_at = next_attempt_at + interval '1 h'");
    await waitFor(() => expect(observer.failed).toHaveBeenCalledTimes(3));
  });

  it('is parked after the last attempt with the later events of its aggregate, and the others go on', async () => {
    const steps = new Set([2]);
    const { dataSource, observer, run } = await open(recorder('parking', failing(steps)));
    await moveInOneTransaction(dataSource, 1n, 1, 2, 3);
    await moveInOneTransaction(dataSource, 5n, 4, 5);
    run();
    await expectEffects('parking', ['1/1', '5/4', '5/5']);
    await moveOrder(dataSource, 1n, 6);
    await moveOrder(dataSource, 5n, 7);
    await expectEffects('parking', ['1/1', '5/4', '5/5', '5/7']);
    const follower = '1: An earlier event of the aggregate is parked.';
    expect(await parked()).toEqual(['1: Error: no stock', follower, follower]);
    expect(observer.failed.mock.calls.map(([, , , isParked]) => isParked)).toEqual([false, false, true]);
    expect(await eventStatus(shop.admin)).toMatchObject([{ name: 'parking', lag: 0, parked: 3 }]);
  });

  it('is handled again on request, before newer events of its aggregate', async () => {
    const steps = new Set([2, 8]);
    const { dataSource, run } = await open(recorder('again', failing(steps)));
    await moveInOneTransaction(dataSource, 1n, 2, 3, 4);
    await moveInOneTransaction(dataSource, 5n, 8, 9);
    run();
    await waitFor(async () => expect(await parked()).toHaveLength(5));
    // A retry that fails leaves all of them parked.
    expect(await retryParkedEvents(shop.admin, 'again')).toBe(5);
    await waitFor(async () => expect(await shop.admin.query('SELECT FROM events.parked_events WHERE retry')).toEqual([]));
    expect(await parked()).toHaveLength(5);

    steps.clear();
    const [first] = await parkedEvents(shop.admin);
    expect(await retryParkedEvents(shop.admin, 'other', first?.position)).toBe(0);
    expect(await retryParkedEvents(shop.admin, 'again', first?.position)).toBe(3);
    await moveOrder(dataSource, 1n, 5);
    await expectEffects('again', ['1/2', '1/3', '1/4', '1/5']);
    expect(await parked()).toHaveLength(2);
    await retryParkedEvents(shop.admin, 'again');
    await expectEffects('again', ['1/2', '1/3', '1/4', '1/5', '5/8', '5/9']);
  });

  it('is parked if it cannot be parsed', async () => {
    const { dataSource, run } = await open(recorder('parsing'));
    await moveOrder(dataSource, 1n, 1);
    await shop.admin.query(`UPDATE events.events SET payload = '{"orderId": 1}'`);
    run();
    await waitFor(async () =>
      expect(await parked()).toEqual(['1: Error: The member step of an event shop.order_moved must be of the type integer.']),
    );
  });

  it('because of a deferred constraint is parked, and the others go on', async () => {
    await shop.admin.query('ALTER TABLE shop.effects ADD CONSTRAINT once UNIQUE (order_id, step) DEFERRABLE INITIALLY DEFERRED');
    const { dataSource, run } = await open(recorder('deferred'));
    await moveInOneTransaction(dataSource, 1n, 1, 1);
    await moveInOneTransaction(dataSource, 5n, 2);
    run();
    await expectEffects('deferred', ['1/1', '5/2']);
    expect(await parked()).toEqual([expect.stringContaining('duplicate key value violates unique constraint "once"')]);
    await shop.admin.query('ALTER TABLE shop.effects DROP CONSTRAINT once');
  });

  it.each(['ECONNREFUSED', '53200', '40P01'])(
    'with the code %s, as if the database were unavailable, is parked, and the others go on',
    async (code) => {
      const unavailable = () => Object.assign(new Error('no stock'), { code });
      const { dataSource, observer, run } = await open(recorder('code', failing(new Set([1]), unavailable)));
      await moveOrder(dataSource, 1n, 1);
      await moveOrder(dataSource, 5n, 2);
      run();
      await expectEffects('code', ['5/2']);
      expect(await parked()).toEqual(['1: Error: no stock']);
      expect(observer.failed).toHaveBeenCalledTimes(3);
      expect(observer.interrupted).not.toHaveBeenCalled();
    },
  );
});

describe('a process', () => {
  it('that loses its connection while it handles an event resumes, and handles the event once', async () => {
    let isFirst = true;
    const { dataSource, observer, run } = await open(
      recorder('lost', async () => {
        if (!isFirst) return;
        isFirst = false;
        await shop.admin.query(
          `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE state = 'idle in transaction' AND datname = current_database()`,
        );
      }),
    );
    await moveInOneTransaction(dataSource, 1n, 1, 2);
    run();
    await expectEffects('lost', ['1/1', '1/2']);
    expect(observer.interrupted).toHaveBeenCalledTimes(1);
    expect(observer.failed).not.toHaveBeenCalled();
  });

  it('leaves a subscription to the process that serves it, and takes over when that one stops', async () => {
    const entered = Promise.withResolvers<void>();
    const release = Promise.withResolvers<void>();
    const first = await open(
      recorder('shared', () => {
        entered.resolve();
        return release.promise;
      }),
    );
    const second = await open(recorder('shared'));
    await moveOrder(first.dataSource, 1n, 1);
    const runner = first.run();
    await entered.promise;
    second.run();
    await sleep(200);
    expect(second.observer.handle).not.toHaveBeenCalled();
    // Stopping waits for the transaction.
    const stopped = runner.stop();
    expect(await Promise.race([stopped.then(() => 'stopped'), sleep(100, 'waiting')])).toBe('waiting');
    release.resolve();
    await stopped;
    expect(await effects(shop.admin, 'shared')).toEqual(['1/1']);
    await moveOrder(second.dataSource, 1n, 2);
    await expectEffects('shared', ['1/1', '1/2']);
    expect(second.observer.processed.mock.calls).toEqual([['shared', 1]]);
  });

  it('does nothing before the database is open, and reports the status of all subscriptions afterwards', async () => {
    let isOpen = false;
    const { dataSource, observer, run } = await open(recorder('opened'));
    await moveOrder(dataSource, 1n, 1);
    run({ isOpen: () => isOpen });
    await sleep(100);
    expect(await effects(shop.admin, 'opened')).toEqual([]);
    isOpen = true;
    await expectEffects('opened', ['1/1']);
    await waitFor(() => expect(observer.status).toHaveBeenCalledWith([expect.objectContaining({ name: 'opened', parked: 0 })]));
  });
});

describe('DeleteOldEvents', () => {
  it('deletes events of more than 7 days ago that every subscription has handled and none has parked', async () => {
    const { dataSource, run } = await open(
      recorder('keeping', (event) => {
        if ('step' in event && event.step === 2) throw new Error('no stock');
      }),
    );
    await moveInOneTransaction(dataSource, 1n, 1);
    await moveInOneTransaction(dataSource, 2n, 2);
    await moveInOneTransaction(dataSource, 3n, 3);
    const runner = run({ maxAttempts: 1 });
    await expectEffects('keeping', ['1/1', '3/3']);
    await runner.stop();
    await moveOrder(dataSource, 4n, 4);
    await shop.admin.query(
      `UPDATE events.events SET occurred_at = now() - make_interval(days => CASE aggregateid WHEN '3' THEN 6 ELSE 8 END)`,
    );
    await shop.admin.query(`INSERT INTO events.events (position, aggregatetype, aggregateid, type, payload, occurred_at)
      SELECT -n, 'shop', '0', 'shop.order_moved', '{}', '2020-01-01' FROM generate_series(1, 1200) AS n`);
    // A subscription that is gone from the code, and whose events nobody publishes.
    await registerSubscriptions(await shop.open(subscribe('gone')));
    await shop.admin.query(`UPDATE events.subscriptions SET position = 0, types = '{shop.other}' WHERE name = 'gone'`);
    expect(await new DeleteOldEvents(shop.admin).execute()).toBe(1_201);
    expect(await shop.admin.query('SELECT aggregateid AS id FROM events.events ORDER BY 1')).toEqual([
      { id: '2' },
      { id: '3' },
      { id: '4' },
    ]);
  });
});
