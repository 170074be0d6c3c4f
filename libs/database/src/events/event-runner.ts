import { setTimeout as sleep } from 'node:timers/promises';
import type { DataSource, EntityManager } from 'typeorm';
import { subscriptionsOf } from '../data-source.js';
import { mayRecover } from '../database-unavailable.js';
import { eventStatus, type SubscriptionStatus } from './event-status.js';
import { type Subscription, typesOf } from './subscription.js';

const POLL_MS = 500;
const SETTLE_POLL_MS = 5;
const STATUS_INTERVAL_MS = 10_000;
const BATCH_SIZE = 64;
const MAX_ATTEMPTS = 8;
const RETRY_MS = 1_000;
const MAX_RETRY_MS = 60_000;
const MAX_ERROR_LENGTH = 1_000;

export interface StoredEvent {
  readonly position: bigint;
  readonly aggregatetype: string;
  readonly aggregateid: string;
  readonly type: string;
  readonly payload: string;
  /** The request that published the event. */
  readonly traceparent: string | null;
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

/** The last position at a point in time. */
interface LogEnd {
  readonly position: bigint;
  /** Changes when the server restarts or another one takes over. */
  readonly server: string;
}

interface State {
  readonly position: bigint;
  readonly attempts: number;
  readonly isDue: boolean;
}

interface Turn {
  readonly state: State;
  readonly isRetry: boolean;
  readonly event: StoredEvent;
  readonly index: number;
}

const SERVER = 'extract(epoch FROM pg_postmaster_start_time())::text';
const EVENT = `event.position, event.aggregatetype, event.aggregateid, event.type, event.payload::text, event.traceparent`;

/**
 * Handles the events of all subscriptions. Any number of processes may run it. A row lock gives a subscription to one of them at a time, and
 * the position commits together with the writes of the handlers.
 */
export class EventRunner {
  private readonly subscriptions: ReadonlyMap<string, Subscription>;
  private readonly stopping = new AbortController();
  private readonly pollMs: number;
  private statusReportedAt = -STATUS_INTERVAL_MS;
  private unsettledEnd: (LogEnd & { readonly nextId: string }) | undefined;
  private loop = Promise.resolve();

  constructor(
    private readonly dataSource: DataSource,
    private readonly observer: EventObserver,
    private readonly options: EventRunnerOptions,
  ) {
    this.subscriptions = new Map(subscriptionsOf(dataSource).map((subscription) => [subscription.name, subscription]));
    this.pollMs = options.pollMs ?? POLL_MS;
  }

  start(): void {
    if (this.subscriptions.size > 0) this.loop = this.run();
  }

  /** Resolves after the running transaction. */
  async stop(): Promise<void> {
    this.stopping.abort();
    await this.loop;
  }

  private async run(): Promise<void> {
    while (!this.stopping.signal.aborted) {
      let hasMore = false;
      try {
        if (this.options.isOpen()) {
          await this.reportStatus();
          hasMore = await this.serveAll();
        }
      } catch (error) {
        this.observer.interrupted(error);
      }
      if (!hasMore) await this.pause(this.pollMs);
    }
  }

  private async pause(ms: number): Promise<void> {
    await sleep(ms, undefined, { signal: this.stopping.signal, ref: false }).catch(() => undefined);
  }

  /** Reports the status of the subscriptions every 10 s. */
  private async reportStatus(): Promise<void> {
    const now = performance.now();
    if (now - this.statusReportedAt < STATUS_INTERVAL_MS) return;
    this.statusReportedAt = now;
    this.observer.status(await eventStatus(this.dataSource));
  }

  /** Serves each subscription with events or retries once. Returns whether there may be more. */
  private async serveAll(): Promise<boolean> {
    const due = await this.dataSource.query<{ name: string }[]>(
      `SELECT name FROM events.subscriptions AS subscription WHERE name = ANY ($1) AND (
         (position < (SELECT max(position) FROM events.events) AND next_attempt_at <= now())
         OR EXISTS (SELECT FROM events.parked_events WHERE subscription = subscription.name AND retry))`,
      [[...this.subscriptions.keys()]],
    );
    if (due.length === 0) return false;
    const end = await this.settledEnd();
    let hasMore = false;
    for (const { name } of due) {
      if (!end || this.stopping.signal.aborted) return false;
      try {
        if (await this.serve(this.subscriptions.get(name) as Subscription, end)) hasMore = true;
      } catch (error) {
        this.observer.interrupted(error);
      }
    }
    return hasMore;
  }

  /**
   * Returns the end of the log if no earlier event can appear any more. A transaction has its id before it draws a position. So whichever
   * drew a position up to the end has a lower id than a transaction that starts afterwards, and has ended when that id is the lowest
   * running one. Until then, the end is kept for the next call.
   */
  private async settledEnd(): Promise<LogEnd | undefined> {
    const { position, server, nextId } = (this.unsettledEnd ??= await this.readEnd());
    for (let pauseMs = SETTLE_POLL_MS; pauseMs <= this.pollMs; pauseMs *= 2) {
      const [running] = await this.dataSource.query<{ isSettled: boolean }[]>(
        `SELECT pg_snapshot_xmin(pg_current_snapshot()) >= $1::xid8 AS "isSettled" WHERE ${SERVER} = $2`,
        [nextId, server],
      );
      if (running?.isSettled !== false) this.unsettledEnd = undefined;
      if (!running) return undefined;
      if (running.isSettled) return { position, server };
      await this.pause(pauseMs);
    }
    return undefined;
  }

  private async readEnd(): Promise<LogEnd & { readonly nextId: string }> {
    const [end] = await this.dataSource.query<[LogEnd]>(
      `SELECT coalesce(max(position), 0) AS position, ${SERVER} AS server FROM events.events`,
    );
    const [{ nextId }] = await this.dataSource.query<[{ nextId: string }]>('SELECT pg_current_xact_id()::text AS "nextId"');
    return { ...end, nextId };
  }

  /** Handles up to `limit` events in one transaction. Returns whether there may be more. */
  private async serve(subscription: Subscription, end: LogEnd, limit = BATCH_SIZE): Promise<boolean> {
    const { name } = subscription;
    let turn: Turn | undefined;
    const begin = (next: Turn) => {
      turn = next;
    };
    try {
      const handled = await this.dataSource.transaction('READ COMMITTED', (manager) =>
        this.handleNext(manager, subscription, end, limit, begin),
      );
      if (handled > 0) this.observer.processed(name, handled);
      return handled > 0;
    } catch (error) {
      const failed = turn;
      if (!failed || mayRecover(error)) throw error;
      // The events before it succeed without it.
      if (failed.index > 0) return this.serve(subscription, end, failed.index);
      const isParked = await this.recordFailure(name, failed, error);
      this.observer.failed(name, failed.event, error, isParked);
      return isParked;
    }
  }

  /** Returns the number of events. */
  private async handleNext(
    manager: EntityManager,
    subscription: Subscription,
    end: LogEnd,
    limit: number,
    begin: (turn: Turn) => void,
  ): Promise<number> {
    const { name } = subscription;
    const [state] = await manager.query<State[]>(
      `SELECT position, attempts, next_attempt_at <= now() AS "isDue" FROM events.subscriptions
       WHERE name = $1 AND ${SERVER} = $2 FOR UPDATE SKIP LOCKED`,
      [name, end.server],
    );
    if (!state) return 0;
    const [retried] = await manager.query<StoredEvent[]>(
      `SELECT ${EVENT}, false AS "isBlocked" FROM events.parked_events AS parked JOIN events.events AS event USING (position)
       WHERE subscription = $1 AND retry ORDER BY position LIMIT 1`,
      [name],
    );
    if (retried) {
      begin({ state, isRetry: true, event: retried, index: 0 });
      await this.handle(manager, subscription, retried);
      const aggregate = [name, retried.aggregatetype, retried.aggregateid];
      await manager.query('DELETE FROM events.parked_events WHERE subscription = $1 AND position = $2', [name, retried.position]);
      await manager.query(`UPDATE events.parked_events SET retry = true WHERE ${OF_AGGREGATE}`, aggregate);
      return 1;
    }
    if (!state.isDue) return 0;
    // An event that failed is retried alone.
    const size = state.attempts > 0 ? 1 : limit;
    const events = await manager.query<StoredEvent[]>(
      `SELECT ${EVENT}, EXISTS (
         SELECT FROM events.parked_events WHERE (subscription, aggregatetype, aggregateid) = ($1, event.aggregatetype, event.aggregateid)
       ) AS "isBlocked"
       FROM events.events AS event WHERE position > $2 AND position <= $3 AND type = ANY ($4) ORDER BY position LIMIT $5`,
      [name, state.position, end.position, typesOf(subscription), size],
    );
    for (const [index, event] of events.entries()) {
      begin({ state, isRetry: false, event, index });
      if (event.isBlocked) await park(manager, name, event, 'An earlier event of the aggregate is parked.');
      else await this.handle(manager, subscription, event);
    }
    const position = events.length < size ? end.position : events.at(-1)?.position;
    await manager.query('UPDATE events.subscriptions SET position = greatest(position, $2), attempts = 0 WHERE name = $1', [
      name,
      position,
    ]);
    return events.length;
  }

  private async handle(manager: EntityManager, { name, reactions }: Subscription, event: StoredEvent): Promise<void> {
    const reaction = reactions.find(({ type }) => type === event.type);
    if (!reaction) throw new Error(`The subscription ${name} no longer handles the event ${event.type}.`);
    await this.observer.handle(name, event, () => reaction.handle(manager, event.payload));
  }

  /** Returns whether the event is parked. Does nothing if another process has served the subscription in the meantime. */
  private recordFailure(name: string, { state, isRetry, event }: Turn, error: unknown): Promise<boolean> {
    const { maxAttempts = MAX_ATTEMPTS, retryMs = RETRY_MS } = this.options;
    const reason = String(error).slice(0, MAX_ERROR_LENGTH);
    return this.dataSource.transaction(async (manager) => {
      if (isRetry) {
        await manager.query(`UPDATE events.parked_events SET retry = false WHERE ${OF_AGGREGATE}`, [
          name,
          event.aggregatetype,
          event.aggregateid,
        ]);
        await manager.query('UPDATE events.parked_events SET error = $3 WHERE subscription = $1 AND position = $2', [
          name,
          event.position,
          reason,
        ]);
        return true;
      }
      const attempts = state.attempts + 1;
      const isParked = attempts >= maxAttempts;
      const [, changed] = await manager.query<[unknown, number]>(
        `UPDATE events.subscriptions SET position = $4, attempts = $5, next_attempt_at = now() + make_interval(secs => $6)
         WHERE name = $1 AND position = $2 AND attempts = $3`,
        isParked
          ? [name, state.position, state.attempts, event.position, 0, 0]
          : [name, state.position, state.attempts, state.position, attempts, Math.min(retryMs * 2 ** (attempts - 1), MAX_RETRY_MS) / 1000],
      );
      if (isParked && changed === 1) await park(manager, name, event, reason);
      return isParked;
    });
  }
}

const OF_AGGREGATE = '(subscription, aggregatetype, aggregateid) = ($1, $2, $3)';

async function park(manager: EntityManager, subscription: string, event: StoredEvent, error: string): Promise<void> {
  await manager.query(
    'INSERT INTO events.parked_events (subscription, aggregatetype, aggregateid, position, error) VALUES ($1, $2, $3, $4, $5)',
    [subscription, event.aggregatetype, event.aggregateid, event.position, error],
  );
}
