import { setTimeout as sleep } from 'node:timers/promises';
import type { EntityManager } from 'typeorm';
import type { Database } from '../database.js';
import { repeat } from '../repeat.js';
import { eventStatus, type SubscriptionStatus } from './event-status.js';
import type { Reaction } from './subscription.js';

/** Key of the advisory lock of the process that handles events. The number is arbitrary but must be unique. */
const EVENT_LOCK = 7_302_947_561_038_215n;
const STATUS_INTERVAL_MS = 10_000;
const SETTLE_POLL_MS = 5;
const BATCH_SIZE = 128;
/** Maximum number of positions in a turn. Without current statistics, PostgreSQL reads and sorts all events of the turn for each batch. */
const MAX_POSITIONS = 5_000;
const MAX_RETRY_MS = 60_000;
const MAX_ERROR_LENGTH = 1_000;

export interface StoredEvent {
  /** The subscription that handles the event. */
  readonly subscription: string;
  readonly position: bigint;
  readonly aggregatetype: string;
  readonly aggregateid: string;
  readonly type: string;
  readonly payload: string;
  /** The request that published the event. */
  readonly traceparent: string | null;
  /** Whether the event was parked and is retried. */
  readonly isRetry: boolean;
  /** Whether an earlier event of the aggregate is parked. */
  readonly isBlocked: boolean;
}

export interface EventObserver {
  /** Runs `work`, which handles the event. */
  handle: (subscription: string, event: StoredEvent, work: () => Promise<unknown>) => Promise<unknown>;
  /** Called after the commit. */
  processed: (subscription: string, events: number) => void;
  failed: (subscription: string, event: StoredEvent, error: unknown, isParked: boolean) => void;
  /** Called when the database fails. The runner then continues by itself. */
  interrupted: (error: unknown) => void;
  status: (subscriptions: readonly SubscriptionStatus[]) => void;
}

export interface EventRunnerOptions {
  /** Whether the database is connected and migrated. */
  readonly isOpen: () => boolean;
  readonly pollMs?: number;
  /** Delay after the first failure of an event. It doubles with each failure, up to a minute. */
  readonly retryMs?: number;
  /** Number of failures after which an event is parked. */
  readonly maxAttempts?: number;
}

/** A subscription that may handle the events after `position`, up to `end`. */
interface Turn {
  readonly subscription: string;
  readonly position: bigint;
  readonly end: bigint;
}

const EVENT = `$1::text AS subscription, event.position, event.aggregatetype, event.aggregateid, event.type, event.payload::text, event.traceparent`;
const SAME_AGGREGATE = '(subscription, aggregatetype, aggregateid) = ($1, $2, $3)';
const aggregateOf = ({ subscription, aggregatetype, aggregateid }: StoredEvent) => [subscription, aggregatetype, aggregateid];

/**
 * Handles the events of all subscriptions. Any number of processes may run it. An advisory lock lets one of them handle events at a time,
 * and the position of a subscription commits together with the writes of its handlers.
 */
export class EventRunner {
  /** By the name of the subscription and the type of the event. */
  private readonly reactions: ReadonlyMap<string, ReadonlyMap<string, Reaction>>;
  private readonly options: Required<EventRunnerOptions>;
  private readonly stopping = new AbortController();
  private loops: Promise<unknown> = Promise.resolve();

  constructor(
    private readonly database: Database,
    private readonly observer: EventObserver,
    options: EventRunnerOptions,
  ) {
    const { subscriptions = [] } = database.settings;
    this.reactions = new Map(subscriptions.map(({ name, reactions }) => [name, new Map(reactions.map((each) => [each.type, each]))]));
    this.options = { pollMs: 500, retryMs: 1_000, maxAttempts: 8, ...options };
  }

  start(): void {
    if (this.reactions.size === 0) return;
    const loops = [() => this.serve(), () => this.reportStatus()];
    this.loops = Promise.all(loops.map((work) => repeat(this.stopping.signal, () => this.attempt(work))));
  }

  /** Resolves after the running transaction. */
  async stop(): Promise<void> {
    this.stopping.abort();
    await this.loops;
  }

  /** Runs `work` if the database is open. Like `work`, returns the pause in ms before the next call. */
  private async attempt(work: () => Promise<number>): Promise<number> {
    try {
      if (this.options.isOpen()) return await work();
    } catch (error) {
      this.observer.interrupted(error);
    }
    return this.options.pollMs;
  }

  private async reportStatus(): Promise<number> {
    this.observer.status(await eventStatus(this.database));
    return STATUS_INTERVAL_MS;
  }

  /** Serves one subscription in a transaction. */
  private async serve(): Promise<number> {
    const events = await this.database.transaction('READ COMMITTED', async (manager) => {
      const turn = await this.nextTurn(manager);
      return turn ? this.handleNext(manager, turn) : [];
    });
    if (!events[0]) return this.options.pollMs;
    this.observer.processed(events[0].subscription, events.length);
    return 0;
  }

  /**
   * Waits until no transaction can add an event before the end of the turn. Returns undefined if no subscription is due, or if another
   * process handles events.
   *
   * A transaction has its id before it draws a position, and this one draws its id after it has read the end. So whichever drew a position
   * up to the end has a lower id, and has ended when the id of this transaction is the lowest running one.
   */
  private async nextTurn(manager: EntityManager): Promise<Turn | undefined> {
    const [due] = await manager.query<{ name: string; end: bigint }[]>(
      `SELECT name, "end" FROM events.subscriptions, (SELECT coalesce(max(position), 0) AS "end" FROM events.events) AS log
       WHERE name = ANY ($1) AND pg_try_advisory_xact_lock($2) AND (
         (position < "end" AND (attempts = 0 OR next_attempt_at NOT BETWEEN now() AND now() + $3 * interval '1 ms'))
         OR EXISTS (SELECT FROM events.parked_events WHERE subscription = name AND retry))
       ORDER BY random() LIMIT 1`,
      // An attempt after a longer time was planned before the database's clock was set back.
      [[...this.reactions.keys()], EVENT_LOCK, MAX_RETRY_MS],
    );
    while (due && !this.stopping.signal.aborted) {
      const [turn] = await manager.query<(Turn & { isSettled: boolean })[]>(
        `SELECT name AS subscription, position, least($2, position + $3) AS "end", pg_current_xact_id() = pg_snapshot_xmin(pg_current_snapshot()) AS "isSettled"
         FROM events.subscriptions WHERE name = $1`,
        [due.name, due.end, MAX_POSITIONS],
      );
      if (turn?.isSettled) return turn;
      await sleep(SETTLE_POLL_MS);
    }
    return undefined;
  }

  /** Handles a retry, or else the next events until one fails. Returns those that have not failed. */
  private async handleNext(manager: EntityManager, { subscription, position, end }: Turn): Promise<readonly StoredEvent[]> {
    const retries = await manager.query<StoredEvent[]>(
      `SELECT ${EVENT}, true AS "isRetry", false AS "isBlocked"
       FROM events.parked_events AS parked JOIN events.events AS event USING (position)
       WHERE subscription = $1 AND retry ORDER BY position LIMIT 1`,
      [subscription],
    );
    if (retries.length > 0) return this.handleAll(manager, retries);
    const events = await manager.query<StoredEvent[]>(
      `SELECT ${EVENT}, false AS "isRetry", EXISTS (
         SELECT FROM events.parked_events WHERE (subscription, aggregatetype, aggregateid) = ($1, event.aggregatetype, event.aggregateid)
       ) AS "isBlocked"
       FROM events.events AS event WHERE position > $2 AND position <= $3 AND type = ANY ($4) ORDER BY position LIMIT $5`,
      [subscription, position, end, [...(this.reactions.get(subscription)?.keys() ?? [])], BATCH_SIZE],
    );
    const handled = await this.handleAll(manager, events);
    const isAtEnd = handled.length === events.length && events.length < BATCH_SIZE;
    const last = isAtEnd ? end : handled.at(-1)?.position;
    if (last !== undefined) await moveTo(manager, subscription, last);
    return handled;
  }

  private async handleAll(manager: EntityManager, events: readonly StoredEvent[]): Promise<readonly StoredEvent[]> {
    let count = 0;
    try {
      await manager.transaction(async (savepoint) => {
        for (const event of events) {
          count++;
          await this.handle(savepoint, event);
        }
        // Deferred constraints fail here rather than at the commit.
        await savepoint.query('SET CONSTRAINTS ALL IMMEDIATE');
      });
      return events;
    } catch (error) {
      const failed = events[count - 1];
      if (!failed) throw error;
      // The events before it succeed without it.
      if (count > 1) return this.handleAll(manager, events.slice(0, count - 1));
      // Throws if the handler failed because the connection is lost.
      const isParked = await this.recordFailure(manager, failed, error);
      this.observer.failed(failed.subscription, failed, error, isParked);
      return [];
    }
  }

  private async handle(manager: EntityManager, event: StoredEvent): Promise<void> {
    const { subscription, type, payload } = event;
    if (event.isBlocked) return park(manager, event, 'An earlier event of the aggregate is parked.');
    const reaction = this.reactions.get(subscription)?.get(type);
    if (!reaction) throw new Error(`The subscription ${subscription} no longer handles the event ${type}.`);
    await this.observer.handle(subscription, event, () => reaction.handle(manager, payload));
    if (!event.isRetry) return;
    await manager.query('DELETE FROM events.parked_events WHERE subscription = $1 AND position = $2', [subscription, event.position]);
    await manager.query(`UPDATE events.parked_events SET retry = true WHERE ${SAME_AGGREGATE}`, aggregateOf(event));
  }

  /** Returns whether the event is parked. */
  private async recordFailure(manager: EntityManager, event: StoredEvent, error: unknown): Promise<boolean> {
    const reason = String(error).slice(0, MAX_ERROR_LENGTH);
    if (event.isRetry) {
      await manager.query(
        `UPDATE events.parked_events SET retry = false, error = CASE position WHEN $4 THEN $5 ELSE error END WHERE ${SAME_AGGREGATE}`,
        [...aggregateOf(event), event.position, reason],
      );
      return true;
    }
    const { maxAttempts, retryMs } = this.options;
    const [[state]] = await manager.query<[{ isParked: boolean }[]]>(
      `UPDATE events.subscriptions SET attempts = (attempts + 1) % $2::int4, next_attempt_at = now() + least($3 * 2 ^ attempts, $4) * interval '1 ms'
       WHERE name = $1 RETURNING attempts = 0 AS "isParked"`,
      [event.subscription, maxAttempts, retryMs, MAX_RETRY_MS],
    );
    if (!state?.isParked) return false;
    await park(manager, event, reason);
    await moveTo(manager, event.subscription, event.position);
    return true;
  }
}

async function moveTo(manager: EntityManager, subscription: string, position: bigint): Promise<void> {
  await manager.query('UPDATE events.subscriptions SET position = greatest(position, $2), attempts = 0 WHERE name = $1', [
    subscription,
    position,
  ]);
}

async function park(manager: EntityManager, event: StoredEvent, error: string): Promise<void> {
  await manager.query(
    'INSERT INTO events.parked_events (subscription, aggregatetype, aggregateid, position, error) VALUES ($1, $2, $3, $4, $5)',
    [...aggregateOf(event), event.position, error],
  );
}
