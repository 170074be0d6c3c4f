import type { PoolClient } from 'pg';
import type { QueryRunner } from 'typeorm';
import type { Database } from '../database.js';
import { withDeadline } from '../connection/deadline.js';
import { repeat } from '../connection/retry.js';
import { eventStatus, type SubscriptionStatus } from './event-status.js';
import type { EventHandler } from '../persistence.js';
import { transactions } from './event-handlers.js';
import { beginAttempt, describeError, endAttempt, lockAttempt, park, parkBehind, pendingEvents, type StoredEvent } from './stored-event.js';

const STATUS_INTERVAL_MS = 10_000;
/** A handler that waits longer for a lock fails, because it has a connection of the pool. */
const LOCK_TIMEOUT_MS = 1_000;
const LOST = 'The attempts did not end: the process ended, or lost the database.';

export interface EventObserver {
  /** Called after the commit. */
  processed: (event: StoredEvent) => void;
  failed: (event: StoredEvent, error: unknown, isParked: boolean) => void;
  /** Called when the database fails. The runner then continues by itself. */
  interrupted: (error: unknown) => void;
  status: (subscriptions: readonly SubscriptionStatus[]) => void;
}

export interface EventRunnerOptions {
  /** Returns the instance of a handler, for example from Nest. */
  readonly handlerOf: (handler: EventHandler) => object;
  readonly pollMs?: number;
  /** Delay after the first attempt of an event. It doubles with each one, up to a minute. */
  readonly retryMs?: number;
  readonly maxAttempts?: number;
  readonly handlerTimeoutMs?: number;
}

type Handle = (payload: string) => Promise<unknown>;
/** `taken`: another process handles the event, or has handled it. */
type Outcome = 'handled' | 'taken' | { readonly error: unknown };

/**
 * Handles the events of all subscriptions. `EventDelivery` of apps/api starts it in any number of processes. For each event, which
 * `publishStatement` or `appendEvents` has stored once for each subscription:
 * 1. `pendingEvents` reads it, if all earlier events of its aggregate are handled or can be handled before it.
 * 2. `beginAttempt` counts the attempt and commits, so that an event whose handler ends the process is parked, too.
 * 3. `lockAttempt` begins a transaction and locks the event, so that no other process handles it.
 * 4. `handle` of its `Reaction`, which `@OnEvent` has made, calls the method, and `currentManager` returns this transaction to the adapters.
 * 5. `endAttempt` removes the event, and the transaction commits, so that the event takes effect exactly once.
 *
 * If a step fails, the transaction is rolled back. The event is handled again later, or is parked after its last attempt.
 */
export class EventRunner {
  private readonly options: Required<EventRunnerOptions>;
  private readonly stopping = new AbortController();
  private loops: Promise<unknown> = Promise.resolve();

  constructor(
    private readonly database: Database,
    private readonly observer: EventObserver,
    options: EventRunnerOptions,
  ) {
    this.options = { pollMs: 500, retryMs: 1_000, maxAttempts: 8, handlerTimeoutMs: 60_000, ...options };
  }

  start(): void {
    const { subscriptions = [] } = this.database.settings;
    if (subscriptions.length === 0) return;
    const handlesByName = subscriptions.map(({ name, handler, reactions }) => {
      const instance = this.options.handlerOf(handler);
      const handles = reactions.map(({ type, handle }) => [type, (payload: string) => handle(instance, payload)] as const);
      return [name, new Map(handles)] as const;
    });
    const serveAll = async () => {
      let pauseMs = this.options.pollMs;
      for (const [name, handles] of handlesByName) pauseMs = Math.min(pauseMs, await this.serve(name, handles));
      return pauseMs;
    };
    const reportStatus = async () => {
      this.observer.status(await eventStatus(this.database));
      return STATUS_INTERVAL_MS;
    };
    this.loops = Promise.all([serveAll, reportStatus].map((work) => repeat(this.stopping.signal, () => this.runIfOpen(work))));
  }

  /** Resolves after the running transaction. */
  async stop(): Promise<void> {
    this.stopping.abort();
    await this.loops;
  }

  /** Runs `work` if the database is open. Like `work`, returns the pause in ms before the next call. */
  private async runIfOpen(work: () => Promise<number>): Promise<number> {
    try {
      if (this.database.hasOpened) return await work();
    } catch (error) {
      this.observer.interrupted(error);
    }
    return this.options.pollMs;
  }

  /** Handles the first events of a subscription. After one that fails, the later events of its aggregate wait. */
  private async serve(subscription: string, handles: ReadonlyMap<string, Handle>): Promise<number> {
    const { pollMs, maxAttempts } = this.options;
    const failedAggregates = new Set<string>();
    let handled = 0;
    for (const event of await pendingEvents(this.database, subscription, [...handles.keys()])) {
      const aggregate = `${event.aggregateType} ${event.aggregateId}`;
      if (this.stopping.signal.aborted) break;
      if (failedAggregates.has(aggregate)) continue;
      if (event.isBehindParked) {
        await parkBehind(this.database, event);
        continue;
      }
      const isLost = event.attempts >= maxAttempts;
      const outcome = isLost ? { error: new Error(LOST) } : await this.attempt(event, handles.get(event.type) as Handle);
      // Another process serves the subscription.
      if (outcome === 'taken') return pollMs;
      if (outcome === 'handled') {
        handled++;
        this.observer.processed(event);
      } else {
        failedAggregates.add(aggregate);
        const attempts = isLost ? event.attempts : event.attempts + 1;
        const isParked = attempts >= maxAttempts && (await park(this.database, event, attempts, describeError(outcome.error)));
        this.observer.failed(event, outcome.error, isParked);
      }
    }
    return handled > 0 ? 0 : pollMs;
  }

  /** Makes an attempt on one connection, so that an attempt is only counted with a connection for its transaction. */
  private async attempt(event: StoredEvent, handle: Handle): Promise<Outcome> {
    const runner = this.database.createQueryRunner();
    try {
      const client = (await runner.connect()) as PoolClient;
      return (await beginAttempt(client, event, this.options.retryMs)) ? await this.handle(runner, client, event, handle) : 'taken';
    } finally {
      await runner.release();
    }
  }

  private async handle(runner: QueryRunner, client: PoolClient, event: StoredEvent, handle: Handle): Promise<Outcome> {
    const { handlerTimeoutMs } = this.options;
    try {
      await runner.startTransaction();
      const transaction = await lockAttempt(client, event, LOCK_TIMEOUT_MS, handlerTimeoutMs);
      if (transaction !== undefined) {
        const handled = transactions.run(runner.manager, () => handle(event.payload)).then(() => true);
        if (!(await withDeadline(handled, handlerTimeoutMs))) {
          // Nothing that the handler does later can take effect.
          client.connection.stream.destroy();
          throw new Error(`The handler did not end within ${String(handlerTimeoutMs)} ms.`);
        }
        await endAttempt(client, event, transaction);
      }
      await runner.commitTransaction();
      return transaction === undefined ? 'taken' : 'handled';
    } catch (error) {
      // Fails if the connection is lost.
      await runner.rollbackTransaction().catch(() => undefined);
      return { error };
    }
  }
}
