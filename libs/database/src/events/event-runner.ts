import type { PoolClient } from 'pg';
import type { EntityManager } from 'typeorm';
import type { Database } from '../database.js';
import { isReadyForQuery } from '../connection/pg-internals.js';
import { repeat } from '../connection/retry.js';
import { eventStatus, type SubscriptionStatus } from './event-status.js';
import { describeError, eventsOf, failRetry, park, type StoredEvent, unpark } from './stored-event.js';
import type { Reaction } from '../persistence.js';
import { backoffMs, beginTurn, moveTo, resumeTurn, type Turn } from './turn.js';
import { OverdueError, Watchdog } from './watchdog.js';

const STATUS_INTERVAL_MS = 10_000;

export interface EventObserver {
  /** Runs `work`, which handles the event. */
  handle: (subscription: string, event: StoredEvent, work: () => Promise<unknown>) => Promise<unknown>;
  /** Called after the commit. */
  processed: (subscription: string, events: number) => void;
  /** Called after the commit. */
  failed: (subscription: string, event: StoredEvent, error: unknown, isParked: boolean) => void;
  /** Called when the database fails. The runner then continues by itself. */
  interrupted: (error: unknown) => void;
  status: (subscriptions: readonly SubscriptionStatus[]) => void;
}

export interface EventRunnerOptions {
  /** Whether the database is connected and migrated. */
  readonly isOpen: () => boolean;
  readonly pollMs?: number;
  /** Delay after the first attempt of an event. It doubles with each one, up to a minute. */
  readonly retryMs?: number;
  /** Number of attempts after which an event is parked. */
  readonly maxAttempts?: number;
  /** Maximum time of a handler. */
  readonly handlerTimeoutMs?: number;
  /** How long an event that only another release handles is left to its processes. After that, it is parked for them. */
  readonly leaveMs?: number;
}

interface Failure {
  readonly event: StoredEvent;
  readonly error: unknown;
  readonly isParked: boolean;
}

interface Result {
  /** Events that were handled, or parked behind another one. */
  readonly handled: readonly StoredEvent[];
  readonly failure?: Failure | undefined;
}

/**
 * Handles the events of all subscriptions. Any number of processes may run it. An advisory lock lets one of them handle events at a time,
 * and the position of a subscription commits together with the writes of its handlers.
 *
 * A turn has two transactions. The first one counts the attempt, so that an event whose handler ends the process is parked, too.
 */
export class EventRunner {
  /** By the name of the subscription and the type of the event. */
  private readonly reactions: ReadonlyMap<string, ReadonlyMap<string, Reaction>>;
  private readonly types: Readonly<Record<string, readonly string[]>>;
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
    this.types = Object.fromEntries(subscriptions.map(({ name, reactions }) => [name, reactions.map(({ type }) => type)]));
    this.options = { pollMs: 500, retryMs: 1_000, maxAttempts: 8, handlerTimeoutMs: 60_000, leaveMs: 5_000, ...options };
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

  /** Serves one subscription. */
  private async serve(): Promise<number> {
    const { types, options } = this;
    const { signal } = this.stopping;
    const turn = await this.database.transaction('READ COMMITTED', (manager) => beginTurn(manager, { types, signal, ...options }));
    if (!turn) return options.pollMs;
    const { handled, failure } = await this.handleTurn(turn);
    if (failure) this.observer.failed(turn.subscription, failure.event, failure.error, failure.isParked);
    if (handled.length === 0) return options.pollMs;
    this.observer.processed(turn.subscription, handled.length);
    return 0;
  }

  private async handleTurn(turn: Turn): Promise<Result> {
    const { options } = this;
    try {
      return await this.database.transaction('READ COMMITTED', async (manager) => {
        const resumed = await resumeTurn(manager, turn, this.stopping.signal, options.handlerTimeoutMs);
        return resumed ? this.handleEvents(manager, resumed, await eventsOf(manager, resumed)) : { handled: [] };
      });
    } catch (error) {
      if (isOverdue(error)) return { handled: [], failure: { event: error.event, error, isParked: false } };
      throw error;
    }
  }

  /** Handles the events until one fails. */
  private async handleEvents(manager: EntityManager, turn: Turn, events: readonly StoredEvent[]): Promise<Result> {
    const { maxAttempts, handlerTimeoutMs } = this.options;
    const client = (await manager.queryRunner?.connect()) as PoolClient;
    if (events[0] && turn.attempts > maxAttempts) {
      const error = new Error('The attempts did not end: the process ended, lost its transaction, or was too slow.');
      return { handled: [], failure: await this.recordFailure(manager, turn, events[0], error) };
    }
    let remaining = events;
    let failed: { event: StoredEvent; error: unknown } | undefined;
    while (remaining.length > 0) {
      let count = 0;
      const blocked = new Set<string>();
      await manager.query('SAVEPOINT handlers');
      try {
        await new Watchdog(client, handlerTimeoutMs).run(remaining, (event) => {
          count++;
          return this.handle(manager, client, event, blocked);
        });
        // Deferred constraints fail here rather than at the commit.
        await manager.query('SET CONSTRAINTS ALL IMMEDIATE');
        await manager.query('RELEASE SAVEPOINT handlers');
        break;
      } catch (error) {
        if (isOverdue(error)) throw error;
        // Fails if the handler has ended the transaction or the connection.
        await manager.query('ROLLBACK TO SAVEPOINT handlers').catch(() => {
          throw error;
        });
        failed = { event: remaining[count - 1] as StoredEvent, error };
        // The events before it succeed without it.
        remaining = remaining.slice(0, count - 1);
      }
    }
    if (!failed) {
      if (!turn.isRetry) await moveTo(manager, turn.subscription, turn.end, maxAttempts);
      return { handled: remaining };
    }
    return { handled: remaining, failure: await this.recordFailure(manager, turn, failed.event, failed.error, remaining.at(-1)) };
  }

  /** @param blocked the aggregates with an event that this transaction has parked */
  private async handle(manager: EntityManager, client: PoolClient, event: StoredEvent, blocked: Set<string>): Promise<void> {
    const { subscription, aggregatetype, aggregateid, type, payload } = event;
    const reaction = this.reactions.get(subscription)?.get(type);
    const isBlocked = event.isBlocked || (blocked.size > 0 && blocked.has(`${aggregatetype} ${aggregateid}`));
    if (isBlocked || !reaction) {
      blocked.add(`${aggregatetype} ${aggregateid}`);
      if (isBlocked) return park(manager, event, 'An earlier event of the aggregate is parked.');
      return park(manager, event, `Waits for a process that handles the event ${type}.`, type);
    }
    await this.observer.handle(subscription, event, () => reaction.handle(manager, payload));
    // The events after it must not run outside the transaction. The status is that of the last statement only after its end.
    if (!isReadyForQuery(client)) await manager.query('SELECT');
    if (client.getTransactionStatus() !== 'T') throw new Error('The handler ended its transaction, or ignored the error of a statement.');
    if (event.isRetry) await unpark(manager, event);
  }

  /** Undoes the count of the attempt for events that did not fail, and parks the event after its last attempt. */
  private async recordFailure(
    manager: EntityManager,
    turn: Turn,
    event: StoredEvent,
    error: unknown,
    last?: StoredEvent,
  ): Promise<Failure> {
    const { maxAttempts, retryMs } = this.options;
    const reason = describeError(error);
    const attempts = turn.isSingle ? turn.attempts : 1;
    const delayMs = backoffMs(retryMs, attempts);
    const isParked = attempts >= maxAttempts;
    if (turn.isRetry) {
      await failRetry(manager, event, reason, delayMs, isParked);
    } else if (isParked) {
      await park(manager, event, reason);
      await moveTo(manager, event.subscription, event.position, maxAttempts);
    } else {
      await manager.query(
        `UPDATE events.subscriptions SET position = coalesce($2, position), attempts = $3, suspect_until = CASE WHEN $5 THEN suspect_until ELSE 0 END,
           next_attempt_at = clock_timestamp() + $4 * interval '1 ms'
         WHERE name = $1`,
        [event.subscription, last?.position, attempts, delayMs, turn.isSingle],
      );
    }
    return { event, error, isParked };
  }
}

/** `instanceof` throws for a revoked proxy. */
function isOverdue(error: unknown): error is OverdueError {
  return Error.isError(error) && error instanceof OverdueError;
}
