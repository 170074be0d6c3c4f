import { waitFor } from '@animal-store/local-postgres/testing';
import { beforeEach, describe, expect, it } from '@jest/globals';
import type { EntityManager } from 'typeorm';
import type { Database } from '../database.js';
import { OrderMoved } from '../testing/shop.js';
import { useShop } from '../testing/use-shop.js';
import type { EventRunner, EventRunnerOptions } from './event-runner.js';
import { eventStatus, parkedEvents, retryParkedEvents } from './event-status.js';
import { currentManager, EventSubscription, OnEvent, subscriptionOf } from './event-handlers.js';
import { appendEvents } from './events.js';

const POISON = 13;
const MAX_ATTEMPTS = 3;

const shop = useShop();
let calls: Map<number, number>;
let failures: unknown[];
let parked: number;

beforeEach(() => {
  [calls, failures, parked] = [new Map(), [], 0];
});

type Handler = (manager: EntityManager, step: number) => unknown;

/** Opens a process whose handler writes an effect, and then calls `handler` for the step 13 and those above it. */
async function open(handler: Handler): Promise<Database> {
  @EventSubscription('poison')
  class Poison {
    constructor(private readonly database: Database) {}

    @OnEvent(OrderMoved)
    async moved({ orderId, step }: { orderId: bigint; step: number }): Promise<void> {
      calls.set(step, (calls.get(step) ?? 0) + 1);
      const manager = currentManager(this.database);
      await manager.query(`INSERT INTO shop.effects (subscription, order_id, step) VALUES ('poison', $1, $2)`, [orderId, step]);
      if (step >= POISON) await handler(manager, step);
    }
  }
  return shop.start(subscriptionOf(Poison));
}

function run(database: Database, options: Partial<EventRunnerOptions> = {}): EventRunner {
  const failed = (_event: unknown, error: unknown, isParked: boolean) => {
    failures.push(error);
    if (isParked) parked++;
  };
  return shop.run(database, { failed }, { retryMs: 5, maxAttempts: MAX_ATTEMPTS, handlerTimeoutMs: 30_000, ...options });
}

/** Publishes the steps in one transaction, each for the order with its number. */
function publish(database: Database, ...steps: readonly number[]): Promise<void> {
  return database.transaction((manager) => appendEvents(manager, ...steps.map((step) => OrderMoved.of({ orderId: BigInt(step), step }))));
}

const expectEffects = (...steps: readonly number[]) =>
  shop.expectEffects(
    'poison',
    steps.map((step) => `${String(step)}/${String(step)}`),
  );
const expectErrors = (...expected: readonly unknown[]) =>
  waitFor(async () => expect((await parkedEvents(shop.admin)).map(({ error }) => error)).toEqual(expected));

describe('an event that fails', () => {
  const revoked = Proxy.revocable({}, {});
  revoked.revoke();
  const cyclic: Record<string, unknown> = { text: 'loop\0' };
  cyclic['self'] = cyclic;
  const throwing = {
    toString: () => {
      throw new Error('no text');
    },
  };
  const values: [unknown, unknown][] = [
    [new Error('a\0b'), 'Error: a\uFFFDb'],
    [new Error('\ud800'), 'Error: \uFFFD'],
    [new Error(`${'x'.repeat(992)}😀`), `Error: ${'x'.repeat(992)}\uFFFD`],
    [new Error('y'.repeat(10_000_000)), `Error: ${'y'.repeat(993)}`],
    ['\0', '\uFFFD'],
    [undefined, 'undefined'],
    [throwing, expect.stringMatching(/^\{ toString: /)],
    [cyclic, expect.stringContaining('[Circular *1]')],
    [revoked.proxy, expect.any(String)],
  ];

  it('is parked after the last attempt, whatever it throws', async () => {
    const database = await open((_manager, step) => {
      throw values[step - POISON]?.[0];
    });
    await publish(database, ...values.map((_, index) => POISON + index), 1);
    run(database);
    await expectEffects(1);
    await expectErrors(...values.map(([, expected]) => expected));
    expect([...calls.values()]).toEqual([...values.map(() => MAX_ATTEMPTS), expect.any(Number)]);
  });
});

it('a handler has limits for locks and statements, also if the role has none, and commits durably', async () => {
  const limits = `SELECT concat_ws(' ', current_setting('lock_timeout'), current_setting('statement_timeout'), current_setting('synchronous_commit')) AS text`;
  const database = await open(async (manager) => {
    throw new Error((await manager.query<{ text: string }[]>(limits))[0]?.text);
  });
  await publish(database, POISON);
  run(database);
  await expectErrors('Error: 1s 30s local');
});

const terminate = 'SELECT pg_terminate_backend(pg_backend_pid())';

describe('an event whose handler ends its transaction', () => {
  it.each(['ROLLBACK', 'ROLLBACK; BEGIN', terminate])(
    'by %s is parked after the last attempt, and the others are handled once',
    async (sql) => {
      const database = await open((manager) => manager.query(sql));
      await publish(database, 1, 2, POISON, 3, 4);
      run(database);
      await expectEffects(1, 2, 3, 4);
      await expectErrors(sql === terminate ? expect.stringMatching(/terminat/) : 'Error: The handler ended its transaction.');
      expect(calls.get(POISON)).toBe(MAX_ATTEMPTS);
      expect(await eventStatus(shop.admin)).toMatchObject([{ lag: 0, attempts: 0 }]);
    },
  );

  it('by a statement that fails, also if the handler catches the error, is parked', async () => {
    const database = await open((manager) => manager.query('SELECT 1 / 0').catch(() => undefined));
    await publish(database, 1, POISON, 2);
    run(database);
    await expectEffects(1, 2);
    await expectErrors(expect.stringContaining('current transaction is aborted'));
    expect(calls.get(POISON)).toBe(MAX_ATTEMPTS);
  });

  it('is parked after at most as many attempts if several processes try it', async () => {
    const databases = await Promise.all([1, 2, 3].map(() => open((manager) => manager.query(terminate))));
    await publish(databases[0] as Database, POISON, 1);
    for (const database of databases) run(database);
    await expectEffects(1);
    await expectErrors(expect.any(String));
    // An attempt also counts if another process begins the next one before its handler is called.
    expect(calls.get(POISON)).toBeLessThanOrEqual(MAX_ATTEMPTS);
  });
});

it('an event whose attempts have all ended with their processes is parked', async () => {
  const database = await open(() => undefined);
  await publish(database, POISON, 1);
  await shop.admin.query(`UPDATE events.deliveries SET attempts = $1 WHERE payload ->> 'step' = '13'`, [MAX_ATTEMPTS]);
  await shop.admin.transaction(async (manager) => {
    await manager.query('SELECT FROM events.deliveries FOR UPDATE');
    run(database);
    await waitFor(() => expect(failures.length).toBeGreaterThan(1));
  });
  await expectEffects(1);
  await expectErrors('Error: The attempts did not end: the process ended, or lost the database.');
  expect(parked).toBe(1);
  expect(calls.has(POISON)).toBe(false);
  await retryParkedEvents(shop.admin, 'poison');
  await expectEffects(1, POISON);
});

describe('an event whose handler does not end', () => {
  it('is parked after the last attempt, and what the handler does later has no effect', async () => {
    const late: Promise<unknown>[] = [];
    const release = Promise.withResolvers<void>();
    const database = await open((manager) => {
      const insert = `INSERT INTO shop.effects (subscription, order_id, step) VALUES ('poison', 0, 0)`;
      const work = release.promise.then(() => manager.query(insert));
      late.push(work);
      return work;
    });
    await publish(database, 1, POISON, 2);
    run(database, { handlerTimeoutMs: 100 });
    await expectEffects(1, 2);
    await expectErrors('Error: The handler did not end within 100 ms.');
    expect(calls.get(POISON)).toBe(MAX_ATTEMPTS);
    expect(failures[0]).toEqual(new Error('The handler did not end within 100 ms.'));
    release.resolve();
    expect((await Promise.allSettled(late)).map(({ status }) => status)).toEqual(Array.from({ length: MAX_ATTEMPTS }, () => 'rejected'));
    await expectEffects(1, 2);
  });

  it('because it waits for a lock fails soon, and is handled after the lock was released', async () => {
    const other = shop.admin.createQueryRunner();
    await other.query('SELECT pg_advisory_lock(13)');
    try {
      const database = await open((manager) => manager.query('SELECT pg_advisory_xact_lock(13)'));
      await publish(database, POISON);
      run(database, { maxAttempts: 1_000 });
      await waitFor(() => expect(failures.map(String)).toContain('QueryFailedError: canceling statement due to lock timeout'));
    } finally {
      await other.query('SELECT pg_advisory_unlock(13)');
      await other.release();
    }
    await expectEffects(POISON);
  });
});
