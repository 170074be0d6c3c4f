import type { DataSource } from 'typeorm';
import type { StoredEvent } from './stored-event.js';

/** Maximum number that is counted, so that a large backlog costs no more than a small one. */
const MAX_COUNT = 10_000;

export interface SubscriptionStatus {
  readonly name: string;
  /** Number of events that are not handled yet, without the parked ones, up to 10,000. */
  readonly lag: number;
  /** Age of the oldest of them; 0 if there is none. */
  readonly lagSeconds: number;
  /** Attempts of the oldest of them. */
  readonly attempts: number;
  /** Number of parked events, up to 10,000. */
  readonly parked: number;
}

/** Returns the state of every subscription, also of those that only other releases have. */
export function eventStatus(dataSource: DataSource): Promise<SubscriptionStatus[]> {
  const count = (condition: string) =>
    `(SELECT count(*)::int4 FROM (SELECT FROM events.deliveries WHERE subscription = name AND ${condition} LIMIT ${String(MAX_COUNT)}) AS counted)`;
  return dataSource.query<SubscriptionStatus[]>(
    `SELECT name, ${count('parked_at IS NULL')} AS lag, ${count('parked_at IS NOT NULL')} AS parked,
       coalesce(oldest.attempts, 0) AS attempts, greatest(extract(epoch FROM now() - oldest.occurred_at), 0)::float8 AS "lagSeconds"
     FROM events.subscriptions LEFT JOIN LATERAL (
       SELECT attempts, occurred_at FROM events.deliveries WHERE subscription = name AND parked_at IS NULL ORDER BY position LIMIT 1
     ) AS oldest ON true ORDER BY name`,
  );
}

export interface ParkedEvent extends Pick<StoredEvent, 'subscription' | 'position' | 'type' | 'aggregateId'> {
  readonly occurredAt: Date;
  readonly parkedAt: Date;
  readonly error: string;
}

export function parkedEvents(dataSource: DataSource): Promise<ParkedEvent[]> {
  return dataSource.query<ParkedEvent[]>(
    `SELECT subscription, position, type, aggregate_id AS "aggregateId", occurred_at AS "occurredAt", parked_at AS "parkedAt", error
     FROM events.deliveries WHERE parked_at IS NOT NULL ORDER BY subscription, position`,
  );
}

/** Lets the subscription handle its parked events again, before newer events of the same aggregates. Returns their number. */
export function retryParkedEvents(dataSource: DataSource, subscription: string): Promise<number> {
  return dataSource.transaction('READ COMMITTED', async (manager) => {
    const parked = 'WHERE subscription = $1 AND parked_at IS NOT NULL';
    // The second statement also sees the events that were parked behind these before they were locked.
    await manager.query(`SELECT FROM events.deliveries ${parked} ORDER BY position FOR UPDATE`, [subscription]);
    const [, count] = await manager.query<[unknown, number]>(
      `UPDATE events.deliveries SET parked_at = NULL, error = NULL, attempts = 0, next_attempt_at = now() ${parked}`,
      [subscription],
    );
    return count;
  });
}

/** Removes a subscription that no release has any more, with its events. Returns whether it existed. */
export async function forgetSubscription(dataSource: DataSource, subscription: string): Promise<boolean> {
  // Before the lock, behind which transactions that store events wait: there may be many, and handlers may hold some.
  await dataSource.query('DELETE FROM events.deliveries WHERE subscription = $1', [subscription]);
  return dataSource.transaction('READ COMMITTED', async (manager) => {
    // Waits for the transactions that store events, which have read the table.
    await manager.query(`SET LOCAL lock_timeout = '5s'`);
    await manager.query('LOCK TABLE events.subscriptions IN ACCESS EXCLUSIVE MODE');
    await manager.query('DELETE FROM events.deliveries WHERE subscription = $1', [subscription]);
    const [, count] = await manager.query<[unknown, number]>('DELETE FROM events.subscriptions WHERE name = $1', [subscription]);
    return count > 0;
  });
}
