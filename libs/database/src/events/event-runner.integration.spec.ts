import { setTimeout as sleep } from 'node:timers/promises';
import { waitFor } from '@animal-store/local-postgres/testing';
import { describe, expect, it, jest } from '@jest/globals';
import type { Database } from '../database.js';
import { effects, type Hook, moveOrder, OrderMoved, OrderPlaced, recorder } from '../testing/shop.js';
import { useShop } from '../testing/use-shop.js';
import { appendEvents } from './events.js';
import type { EventObserver, EventRunnerOptions } from './event-runner.js';
import { eventStatus, parkedEvents, retryParkedEvents } from './event-status.js';
import type { Subscription } from '../persistence.js';
import { parkBehind, pendingEvents } from './stored-event.js';

const shop = useShop();

function anObserver(): jest.Mocked<EventObserver> {
  return {
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

/** Returns an event behind a parked one. */
async function moveBehindParked(dataSource: Database, subscription: string) {
  await moveInOneTransaction(dataSource, 1n, 1, 2);
  await shop.admin.query(`UPDATE events.deliveries SET parked_at = now(), error = 'no stock' WHERE payload ->> 'step' = '1'`);
  const [behind] = await pendingEvents(dataSource, subscription, [OrderMoved.type]);
  if (!behind) throw new Error('no event');
  return behind;
}

const { expectEffects } = shop;
const parked = async () => (await parkedEvents(shop.admin)).map(({ aggregateId, error }) => `${aggregateId}: ${error}`);

/** Throws for the steps, once the effect is written. */
const failing =
  (steps: Set<number>, error: () => Error = () => new Error('no stock')): Hook =>
  (event) => {
    if ('step' in event && steps.has(event.step)) throw error();
  };

describe('a subscription', () => {
  it('handles the events that are published after it was created, in order', async () => {
    const { dataSource: earlier } = await open(recorder('earlier'));
    await moveOrder(earlier, 1n, 1);
    const { dataSource, observer, run } = await open(recorder('later'));
    await moveInOneTransaction(dataSource, 1n, 2, 3);
    const [timers, cleared] = [jest.spyOn(globalThis, 'setTimeout'), jest.spyOn(globalThis, 'clearTimeout')];
    run({ handlerTimeoutMs: 54_321 });
    await expectEffects('later', ['1/2', '1/3']);
    expect(observer.processed.mock.calls.map(([{ subscription, type, aggregateId }]) => [subscription, type, aggregateId])).toEqual(
      Array.from({ length: 2 }, () => ['later', 'shop.order_moved', '1']),
    );
    // Otherwise, the timer of a handler would close the connection while others use it.
    const ofHandlers = timers.mock.results.flatMap(({ value }, index) => (timers.mock.calls[index]?.[1] === 54_321 ? [value] : []));
    expect(cleared.mock.calls.flat()).toEqual(expect.arrayContaining(ofHandlers));
    expect(ofHandlers).toHaveLength(2);
    jest.restoreAllMocks();
    expect(await shop.admin.query('SELECT FROM events.deliveries WHERE subscription = $1', ['later'])).toEqual([]);
  });

  it('goes on at once while it has events, also behind one that fails, whatever the pause of others is', async () => {
    const { dataSource, run } = await open(recorder('busy', failing(new Set([1]))), recorder('idle', undefined, [OrderPlaced]));
    await moveInOneTransaction(dataSource, 1n, 1, 2);
    await moveInOneTransaction(dataSource, 5n, ...Array.from({ length: 100 }, (_, index) => index + 3));
    run({ pollMs: 600_000, retryMs: 60_000 });
    await waitFor(async () => expect(await effects(shop.admin, 'busy')).toHaveLength(100), { timeoutMs: 60_000 });
  });

  it('is created when its process connects, before it can publish', async () => {
    const dataSource = await shop.open(recorder('connected'));
    await dataSource.open();
    expect((await eventStatus(shop.admin)).map(({ name }) => name)).toEqual(['connected']);
  });
});

describe('an event whose transaction is open', () => {
  it.each(['COMMIT', 'ROLLBACK'])('delays no other event and needs no connection until its %s', async (end) => {
    const { dataSource, run } = await open(recorder('late'));
    const slow = shop.admin.createQueryRunner();
    try {
      await slow.startTransaction();
      await appendEvents(slow.manager, OrderMoved.of({ orderId: 1n, step: 1 }));
      await moveOrder(dataSource, 2n, 2);
      run();
      await expectEffects('late', ['2/2']);
      const { pool } = dataSource;
      await waitFor(() => expect([pool.waitingCount, pool.totalCount - pool.idleCount]).toEqual([0, 0]));
    } finally {
      await slow.query(end);
      await slow.release();
    }
    await moveOrder(dataSource, 2n, 3);
    await waitFor(async () =>
      expect((await effects(shop.admin, 'late')).sort()).toEqual([...(end === 'COMMIT' ? ['1/1'] : []), '2/2', '2/3']),
    );
  });
});

describe('an event that fails', () => {
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
    // The clock of the database is set back by an hour.
    await shop.admin.query("UPDATE events.deliveries SET occurred_at = now() + interval '1 h'");
    expect(await eventStatus(shop.admin)).toMatchObject([{ lag: 2, lagSeconds: 0 }]);
    steps.clear();
    await expectEffects('retried', ['1/1', '1/2', '1/3', '1/4']);
    expect(observer.failed).toHaveBeenCalledWith(expect.objectContaining({ aggregateId: '1' }), new Error('no stock'), false);
    expect(await eventStatus(shop.admin)).toMatchObject([{ lag: 0, lagSeconds: 0, attempts: 0 }]);
  });

  it('waits longer after each failure', async () => {
    const { dataSource, observer, run } = await open(recorder('backoff', failing(new Set([1]))));
    await moveOrder(dataSource, 1n, 1);
    run({ retryMs: 40_000 });
    await waitFor(() => expect(observer.failed).toHaveBeenCalledTimes(1));
    const delay = async () => {
      const [row] = await shop.admin.query<{ delay: number }[]>(
        'SELECT extract(epoch FROM next_attempt_at - now())::float8 AS delay FROM events.deliveries',
      );
      return row?.delay;
    };
    expect(await delay()).toBeGreaterThan(20);
    expect(await delay()).toBeLessThanOrEqual(40);
    await shop.admin.query('UPDATE events.deliveries SET next_attempt_at = now()');
    await waitFor(() => expect(observer.failed).toHaveBeenCalledTimes(2));
    // At most a minute.
    expect(await delay()).toBeGreaterThan(40);
    expect(await delay()).toBeLessThanOrEqual(60);
    // The clock of the database is set back by an hour.
    await shop.admin.query("UPDATE events.deliveries SET next_attempt_at = next_attempt_at + interval '1 h'");
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
    await waitFor(async () => expect(await parked()).toEqual(['1: Error: no stock', follower, follower]));
    expect(observer.failed.mock.calls.map(([, , isParked]) => isParked)).toEqual([false, false, true]);
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
    await waitFor(async () => expect(await parked()).toHaveLength(5));

    steps.clear();
    // Not only after the pause that follows the last attempt.
    await shop.admin.query(`UPDATE events.deliveries SET next_attempt_at = now() + interval '1 minute'`);
    expect(await retryParkedEvents(shop.admin, 'other')).toBe(0);
    expect(await retryParkedEvents(shop.admin, 'again')).toBe(5);
    await moveOrder(dataSource, 1n, 5);
    await expectEffects('again', ['1/2', '1/3', '1/4', '5/8', '5/9', '1/5']);
  });

  it('is parked if it cannot be parsed', async () => {
    const { dataSource, run } = await open(recorder('parsing'));
    await moveOrder(dataSource, 1n, 1);
    await shop.admin.query(`UPDATE events.deliveries SET payload = '{"orderId": 1}'`);
    run();
    await waitFor(async () =>
      expect(await parked()).toEqual(['1: Error: The member step of an event shop.order_moved must be of the type integer.']),
    );
  });

  it('because of a deferred constraint is parked, and the others go on', async () => {
    await shop.admin.query('ALTER TABLE shop.effects ADD CONSTRAINT once UNIQUE (order_id, step) DEFERRABLE INITIALLY DEFERRED');
    try {
      const { dataSource, run } = await open(recorder('deferred'));
      await moveInOneTransaction(dataSource, 1n, 1, 1);
      await moveInOneTransaction(dataSource, 5n, 2);
      run();
      await expectEffects('deferred', ['1/1', '5/2']);
      await waitFor(async () =>
        expect(await parked()).toEqual([expect.stringContaining('duplicate key value violates unique constraint "once"')]),
      );
    } finally {
      await shop.admin.query('ALTER TABLE shop.effects DROP CONSTRAINT once');
    }
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
      await waitFor(async () => expect(await parked()).toEqual(['1: Error: no stock']));
      expect(observer.failed).toHaveBeenCalledTimes(3);
      expect(observer.interrupted).not.toHaveBeenCalled();
    },
  );
});

describe('a parked event', () => {
  it('stays parked with those behind it after a second retry that fails as often, and is handled by a third', async () => {
    const steps = new Set([1]);
    const { dataSource, observer, run } = await open(recorder('twice', failing(steps)));
    await moveInOneTransaction(dataSource, 1n, 1, 2);
    run();
    for (const failures of [3, 6, 9]) {
      await waitFor(async () => expect(await parked()).toHaveLength(2));
      expect(observer.failed).toHaveBeenCalledTimes(failures);
      if (failures === 9) steps.clear();
      expect(await retryParkedEvents(shop.admin, 'twice')).toBe(2);
    }
    await expectEffects('twice', ['1/1', '1/2']);
    expect(await eventStatus(shop.admin)).toMatchObject([{ lag: 0, parked: 0, attempts: 0 }]);
  });

  it('that is being retried lets no event be parked behind it', async () => {
    const { dataSource } = await open(recorder('behind'));
    const behind = await moveBehindParked(dataSource, 'behind');
    expect(behind.isBehindParked).toBe(true);
    const operator = shop.admin.createQueryRunner();
    await operator.startTransaction();
    try {
      await retryParkedEvents(
        { transaction: (_level: unknown, work: (manager: unknown) => unknown) => work(operator.manager) } as never,
        'behind',
      );
      await parkBehind(dataSource, behind);
    } finally {
      await operator.commitTransaction();
      await operator.release();
    }
    expect(await parked()).toEqual([]);
    await parkBehind(dataSource, behind);
    expect(await parked()).toEqual([]);
  });

  it('is retried together with an event that is just being parked behind it', async () => {
    const { dataSource } = await open(recorder('meanwhile'));
    const behind = await moveBehindParked(dataSource, 'meanwhile');
    let retried: Promise<number> | undefined;
    await dataSource.transaction(async (manager) => {
      await parkBehind(manager as never, behind);
      retried = retryParkedEvents(shop.admin, 'meanwhile');
      const waiting = `SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`;
      await waitFor(async () => expect(await shop.admin.query(waiting)).toHaveLength(1));
    });
    expect(await retried).toBe(2);
    expect(await parked()).toEqual([]);
  });
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
    expect(observer.failed).toHaveBeenCalledTimes(1);
    expect(observer.interrupted).not.toHaveBeenCalled();
  });

  it.each([
    60_000,
    // The event is due again while it is handled.
    10,
  ])('leaves an aggregate to the process that handles its event, and stops after this event (%d ms)', async (retryMs) => {
    const entered = Promise.withResolvers<void>();
    const release = Promise.withResolvers<void>();
    const first = await open(
      recorder('shared', (event) => {
        entered.resolve();
        return 'step' in event && event.step === 1 ? release.promise : undefined;
      }),
    );
    const second = await open(recorder('shared'));
    await moveInOneTransaction(first.dataSource, 1n, 1, 2);
    const runner = first.run({ retryMs });
    try {
      await entered.promise;
      // The attempt is committed.
      expect(await eventStatus(shop.admin)).toMatchObject([{ attempts: 1 }]);
      const due = 'SELECT FROM events.deliveries WHERE attempts = 1 AND next_attempt_at <= now()';
      await waitFor(async () => expect(await shop.admin.query(due)).toHaveLength(retryMs < 1_000 ? 1 : 0));
      await moveOrder(second.dataSource, 5n, 5);
      second.run();
      await sleep(100);
      expect((await effects(shop.admin, 'shared')).filter((effect) => effect.startsWith('1/'))).toEqual([]);
    } finally {
      const stopped = runner.stop();
      expect(await Promise.race([stopped.then(() => 'stopped'), sleep(100, 'waiting')])).toBe('waiting');
      release.resolve();
      await stopped;
    }
    await waitFor(async () => expect((await effects(shop.admin, 'shared')).sort()).toEqual(['1/1', '1/2', '5/5']));
    expect(first.observer.processed).toHaveBeenCalledTimes(1);
    expect(second.observer.failed).not.toHaveBeenCalled();
  });

  it('does nothing before the database is open, and afterwards reports failures of the database and the status of all subscriptions', async () => {
    const { dataSource, observer, run } = await open(recorder('opened'));
    dataSource.hasOpened = false;
    await moveOrder(dataSource, 1n, 1);
    run();
    await sleep(100);
    expect(await effects(shop.admin, 'opened')).toEqual([]);
    await shop.admin.query('ALTER TABLE events.deliveries RENAME TO gone');
    dataSource.hasOpened = true;
    await waitFor(() => expect(observer.interrupted).toHaveBeenCalledWith(expect.objectContaining({ code: '42P01' })));
    await shop.admin.query('ALTER TABLE events.gone RENAME TO deliveries');
    await expectEffects('opened', ['1/1']);
    await waitFor(() => expect(observer.status).toHaveBeenCalledWith([expect.objectContaining({ name: 'opened', parked: 0 })]));
  });
});

describe('the status', () => {
  it('counts a backlog up to 10,000 events', async () => {
    await open(recorder('backlog'));
    await shop.admin
      .query(`INSERT INTO events.deliveries (subscription, aggregate_type, aggregate_id, type, payload, occurred_at, parked_at)
      SELECT 'backlog', 'shop', n, 'shop.order_moved', '{}', now() - interval '1 h', CASE WHEN n > 10001 THEN now() END
      FROM generate_series(1, 20003) AS n`);
    const [status] = await eventStatus(shop.admin);
    expect(status).toMatchObject({ lag: 10_000, parked: 10_000 });
    expect(status?.lagSeconds).toBeGreaterThanOrEqual(3_600);
    await shop.admin.query('ANALYZE events.deliveries');
    const explained = { query: (text: string, values: unknown[]) => shop.admin.query(`EXPLAIN ${text}`, values) } as never;
    const plan = JSON.stringify(await pendingEvents(explained, 'backlog', [OrderMoved.type]));
    expect(new Set(plan.match(/deliveries_[a-z]+_idx/g))).toEqual(new Set(['deliveries_aggregate_idx', 'deliveries_pending_idx']));
  });
});
