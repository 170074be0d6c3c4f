import type { DataSource } from 'typeorm';

/** How long events are kept after every subscription has handled them. */
const RETENTION_DAYS = 7;
/** Small, so that a deletion does not hold locks for long. */
const DELETION_BATCH_SIZE = 500;

export interface SubscriptionStatus {
  readonly name: string;
  readonly position: bigint;
  /** Number of events that are not handled yet. */
  readonly lag: number;
  /** Age of the oldest of them; 0 if there is none. */
  readonly lagSeconds: number;
  /** Failures of the next event. */
  readonly attempts: number;
  readonly parked: number;
}

/** Returns the state of every subscription, also of those that only other releases have. */
export function eventStatus(dataSource: DataSource): Promise<SubscriptionStatus[]> {
  return dataSource.query<SubscriptionStatus[]>(
    `SELECT name, position, attempts, lag.events AS lag, lag.seconds AS "lagSeconds",
       (SELECT count(*)::int4 FROM events.parked_events WHERE subscription = name) AS parked
     FROM events.subscriptions AS subscription CROSS JOIN LATERAL (
       SELECT count(*)::int4 AS events, coalesce(extract(epoch FROM now() - min(occurred_at)), 0)::float8 AS seconds
       FROM events.events WHERE position > subscription.position AND type = ANY (types)
     ) AS lag ORDER BY name`,
  );
}

export interface ParkedEvent {
  readonly subscription: string;
  readonly position: bigint;
  readonly type: string;
  readonly aggregateId: string;
  readonly occurredAt: Date;
  readonly parkedAt: Date;
  readonly error: string;
}

export function parkedEvents(dataSource: DataSource): Promise<ParkedEvent[]> {
  return dataSource.query<ParkedEvent[]>(
    `SELECT subscription, position, type, event.aggregateid AS "aggregateId", occurred_at AS "occurredAt", parked_at AS "parkedAt", error
     FROM events.parked_events AS parked JOIN events.events AS event USING (position) ORDER BY subscription, position`,
  );
}

/**
 * Lets the subscription handle its parked events again, before newer events of the same aggregates. Returns their number.
 * @param position only the aggregate of this parked event
 */
export async function retryParkedEvents(dataSource: DataSource, subscription: string, position?: bigint): Promise<number> {
  const [, count] = await dataSource.query<[unknown, number]>(
    `UPDATE events.parked_events AS parked SET retry = true, attempts = 0, next_attempt_at = now()
     WHERE subscription = $1 AND ($2::int8 IS NULL OR EXISTS (
       SELECT FROM events.parked_events AS chosen WHERE chosen.position = $2
         AND (chosen.subscription, chosen.aggregatetype, chosen.aggregateid) = (parked.subscription, parked.aggregatetype, parked.aggregateid)))`,
    [subscription, position ?? null],
  );
  return count;
}

/**
 * Removes a subscription that no release has any more, or one type from it. Its events are no longer handled. Returns whether it existed.
 * Events that wait behind one of the type are handled.
 */
export function forgetSubscription(dataSource: DataSource, subscription: string, type?: string): Promise<boolean> {
  return dataSource.transaction(async (manager) => {
    const run = async (statement: string, parameters: unknown[]) => (await manager.query<[unknown, number]>(statement, parameters))[1];
    if (type === undefined) return (await run('DELETE FROM events.subscriptions WHERE name = $1', [subscription])) > 0;
    await run(
      `UPDATE events.parked_events AS parked SET retry = true, attempts = 0, next_attempt_at = now()
       FROM events.parked_events AS earlier JOIN events.events AS event USING (position)
       WHERE parked.subscription = $1 AND earlier.subscription = $1 AND type = $2
         AND (earlier.aggregatetype, earlier.aggregateid) = (parked.aggregatetype, parked.aggregateid)`,
      [subscription, type],
    );
    const parked = await run(
      `DELETE FROM events.parked_events AS parked USING events.events AS event
       WHERE parked.subscription = $1 AND event.position = parked.position AND type = $2`,
      [subscription, type],
    );
    const types = await run('UPDATE events.subscriptions SET types = array_remove(types, $2) WHERE name = $1 AND $2 = ANY (types)', [
      subscription,
      type,
    ]);
    return parked + types > 0;
  });
}

/** Deletes old events that every subscription of their type has handled. Returns their number. */
export class DeleteOldEvents {
  constructor(private readonly dataSource: DataSource) {}

  async execute(): Promise<number> {
    let total = 0;
    for (let deleted = DELETION_BATCH_SIZE; deleted === DELETION_BATCH_SIZE; total += deleted) {
      [, deleted] = await this.dataSource.query<[unknown, number]>(
        `DELETE FROM events.events WHERE position IN (
           SELECT position FROM events.events AS event
           WHERE occurred_at < now() - make_interval(days => $1)
             AND NOT EXISTS (SELECT FROM events.subscriptions AS behind WHERE behind.position < event.position AND event.type = ANY (behind.types))
             AND NOT EXISTS (SELECT FROM events.parked_events AS parked WHERE parked.position = event.position)
           ORDER BY position LIMIT $2)`,
        [RETENTION_DAYS, DELETION_BATCH_SIZE],
      );
    }
    return total;
  }
}
