import { waitFor } from '@animal-store/local-postgres/testing';
import { afterAll, afterEach, beforeAll, beforeEach, expect } from '@jest/globals';
import type { Database } from '../database.js';
import { registerSubscriptions } from '../statements/publication.js';
import { type EventObserver, EventRunner, type EventRunnerOptions } from '../events/event-runner.js';
import type { EventHandler, Subscription } from '../persistence.js';
import { createShop, effects, type Shop, SILENT_OBSERVER } from './shop.js';

/** A shop for the specs of a file. It is emptied before each spec, and what handles events is stopped after each. */
export function useShop() {
  let shop: Shop;
  let admin: Database;
  const runners: EventRunner[] = [];
  beforeAll(async () => {
    shop = await createShop();
    admin = await shop.open();
  });
  beforeEach(() => admin.query('TRUNCATE events.deliveries, events.subscriptions, shop.effects'));
  afterEach(() => Promise.all(runners.splice(0).map((runner) => runner.stop())));
  afterAll(() => shop.close());

  return {
    get admin(): Database {
      return admin;
    },
    open: (...subscriptions: Subscription[]) => shop.open(...subscriptions),
    /** Opens a process that may publish. Call `run` to let it handle events, too. */
    start: async (...subscriptions: Subscription[]): Promise<Database> => {
      const database = await shop.open(...subscriptions);
      await registerSubscriptions(database);
      return database;
    },
    run: (database: Database, observer: Partial<EventObserver>, options: Partial<EventRunnerOptions> = {}): EventRunner => {
      const handlerOf = (handler: EventHandler) => new handler(database as never);
      const defaults = { handlerOf, pollMs: 10, retryMs: 10, maxAttempts: 3 };
      const runner = new EventRunner(database, { ...SILENT_OBSERVER, ...observer }, { ...defaults, ...options });
      runners.push(runner);
      runner.start();
      return runner;
    },
    expectEffects: (subscription: string, expected: readonly string[]) =>
      waitFor(async () => expect(await effects(admin, subscription)).toEqual(expected)),
  };
}
