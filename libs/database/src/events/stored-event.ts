import { inspect } from 'node:util';
import type { EntityManager } from 'typeorm';
import type { Turn } from './turn.js';

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

const MAX_DESCRIPTION_LENGTH = 1_000;
const EVENT = `$1::text AS subscription, event.position, event.aggregatetype, event.aggregateid, event.type, event.payload::text, event.traceparent`;
const SAME_AGGREGATE = '(subscription, aggregatetype, aggregateid) = ($1, $2, $3)';
const aggregateOf = ({ subscription, aggregatetype, aggregateid }: StoredEvent) => [subscription, aggregatetype, aggregateid];

/** Returns the events of a turn, in order. */
export function eventsOf(manager: EntityManager, { subscription, isRetry, position, end, types }: Turn): Promise<StoredEvent[]> {
  if (isRetry)
    return manager.query<StoredEvent[]>(
      `SELECT ${EVENT}, true AS "isRetry", false AS "isBlocked" FROM events.events AS event WHERE position = $2`,
      [subscription, position],
    );
  return manager.query<StoredEvent[]>(
    `SELECT ${EVENT}, false AS "isRetry", EXISTS (
       SELECT FROM events.parked_events WHERE (subscription, aggregatetype, aggregateid) = ($1, event.aggregatetype, event.aggregateid)
     ) AS "isBlocked"
     FROM events.events AS event WHERE position > $2 AND position <= $3 AND type = ANY ($4) ORDER BY position`,
    [subscription, position, end, types],
  );
}

/** @param awaits The type, if the event is retried by the next process that handles it. */
export async function park(manager: EntityManager, event: StoredEvent, error: string, awaits?: string): Promise<void> {
  await manager.query(
    `INSERT INTO events.parked_events (subscription, aggregatetype, aggregateid, position, error, awaits) VALUES ($1, $2, $3, $4, $5, $6)
     ON CONFLICT (subscription, aggregatetype, aggregateid, position)
       DO UPDATE SET error = excluded.error, awaits = excluded.awaits, retry = false, attempts = 0, next_attempt_at = now()`,
    [...aggregateOf(event), event.position, error, awaits],
  );
}

/** Removes a retried event that was handled, and lets the later events of its aggregate follow. */
export async function unpark(manager: EntityManager, event: StoredEvent): Promise<void> {
  await manager.query('DELETE FROM events.parked_events WHERE subscription = $1 AND position = $2', [event.subscription, event.position]);
  await manager.query(`UPDATE events.parked_events SET retry = true, next_attempt_at = now() WHERE ${SAME_AGGREGATE}`, aggregateOf(event));
}

/** Stores why a retry failed. After the last attempt, the event and those that follow it stay parked. */
export async function failRetry(
  manager: EntityManager,
  event: StoredEvent,
  error: string,
  delayMs: number,
  isLast: boolean,
): Promise<void> {
  await manager.query(
    `UPDATE events.parked_events SET error = $5, next_attempt_at = clock_timestamp() + $6 * interval '1 ms' WHERE ${SAME_AGGREGATE} AND position = $4`,
    [...aggregateOf(event), event.position, error, delayMs],
  );
  if (!isLast) return;
  await manager.query(`UPDATE events.parked_events SET retry = false, awaits = NULL WHERE ${SAME_AGGREGATE}`, aggregateOf(event));
}

/** Returns a text that PostgreSQL can store, whatever a handler has thrown. */
export function describeError(error: unknown): string {
  let text: string;
  try {
    if (typeof error === 'string') text = error;
    else text = Error.isError(error) ? String(error) : inspect(error, { depth: 1, breakLength: Infinity });
  } catch {
    text = 'An error without a description.';
  }
  return text.slice(0, MAX_DESCRIPTION_LENGTH).replaceAll('\0', '\uFFFD').toWellFormed();
}
