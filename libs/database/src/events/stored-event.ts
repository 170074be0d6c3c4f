import { inspect } from 'node:util';
import type { ClientBase } from 'pg';
import type { DataSource } from 'typeorm';

/** An event that a subscription has not handled yet. */
export interface StoredEvent {
  readonly subscription: string;
  readonly position: bigint;
  readonly aggregateType: string;
  readonly aggregateId: string;
  readonly type: string;
  readonly payload: string;
  /** Attempts to handle it, also those whose process ended. */
  readonly attempts: number;
  readonly isBehindParked: boolean;
}

const WINDOW_SIZE = 100;
const MAX_DESCRIPTION_LENGTH = 1_000;
const MAX_RETRY_MS = 60_000;
/** True also if the clock of the server was set back. */
const isDue = (table: string) =>
  `(${table}.next_attempt_at <= now() OR ${table}.next_attempt_at > now() + interval '${String(MAX_RETRY_MS + 1_000)} ms')`;
/** The events of the same aggregate before `event`. */
const EARLIER = `
  FROM events.deliveries AS earlier
  WHERE (earlier.subscription, earlier.aggregate_type, earlier.aggregate_id) = (event.subscription, event.aggregate_type, event.aggregate_id)
    AND earlier.position < event.position`;

/** Returns the first events of these types, in order. One waits behind others of its aggregate that are not due, or of other types. */
export function pendingEvents(dataSource: DataSource, subscription: string, types: readonly string[]): Promise<StoredEvent[]> {
  return dataSource.query<StoredEvent[]>(
    `SELECT subscription, position, aggregate_type AS "aggregateType", aggregate_id AS "aggregateId", type, payload::text, attempts,
       EXISTS (SELECT ${EARLIER} AND parked_at IS NOT NULL) AS "isBehindParked"
     FROM events.deliveries AS event
     WHERE subscription = $1 AND parked_at IS NULL AND type = ANY ($2) AND ${isDue('event')}
       AND NOT EXISTS (SELECT ${EARLIER} AND parked_at IS NULL AND NOT (type = ANY ($2) AND ${isDue('earlier')}))
     ORDER BY position LIMIT ${String(WINDOW_SIZE)}`,
    [subscription, types],
  );
}

const BEGIN_ATTEMPT = `
  UPDATE events.deliveries SET attempts = attempts + 1, next_attempt_at = clock_timestamp() + $3 * interval '1 ms'
  WHERE position = (SELECT position FROM events.deliveries AS event WHERE position = $1 AND attempts = $2 AND parked_at IS NULL
    AND NOT EXISTS (SELECT ${EARLIER}) FOR UPDATE SKIP LOCKED)
  RETURNING set_config('synchronous_commit', 'off', true)`;

/** Counts an attempt, and returns whether this process may make it. Its commit may be lost, but only together with its effects. */
export async function beginAttempt(client: ClientBase, { position, attempts }: StoredEvent, retryMs: number): Promise<boolean> {
  const values = [position, attempts, Math.min(retryMs * 2 ** attempts, MAX_RETRY_MS)];
  return (await client.query({ name: 'begin attempt', text: BEGIN_ATTEMPT, values })).rowCount === 1;
}

const LOCK_ATTEMPT = `
  SELECT pg_current_xact_id()::text AS transaction,
    CASE current_setting('lock_timeout') WHEN '0' THEN set_config('lock_timeout', $3::text, true) END,
    CASE current_setting('statement_timeout') WHEN '0' THEN set_config('statement_timeout', $4::text, true) END
  FROM events.deliveries WHERE position = $1 AND attempts = $2 AND parked_at IS NULL FOR UPDATE SKIP LOCKED`;

/** Locks the event, and returns the identifier of the transaction; undefined if another process has begun another attempt. */
export async function lockAttempt(client: ClientBase, event: StoredEvent, lockMs: number, handlerMs: number): Promise<string | undefined> {
  const values = [event.position, event.attempts + 1, lockMs, handlerMs];
  const { rows } = await client.query<{ transaction: string }>({ name: 'lock attempt', text: LOCK_ATTEMPT, values });
  return rows[0]?.transaction;
}

/** Removes the event in the transaction of the attempt. @throws Error if the handler has ended this transaction */
export async function endAttempt(client: ClientBase, { position }: StoredEvent, transaction: string): Promise<void> {
  const text = 'DELETE FROM events.deliveries WHERE position = $1 AND pg_current_xact_id()::text = $2';
  const { rowCount } = await client.query({ name: 'end attempt', text, values: [position, transaction] });
  if (rowCount === 0) throw new Error('The handler ended its transaction.');
}

/** Parks an event after its last attempt, and returns whether it did: not if another process has begun another one. */
export async function park(dataSource: DataSource, { position }: StoredEvent, attempts: number, error: string): Promise<boolean> {
  const [, count] = await dataSource.query<[unknown, number]>(
    `UPDATE events.deliveries SET parked_at = now(), error = $3
     WHERE position = (SELECT position FROM events.deliveries WHERE position = $1 AND attempts = $2 AND parked_at IS NULL FOR UPDATE SKIP LOCKED)`,
    [position, attempts, error],
  );
  return count === 1;
}

/** Parks an event behind a parked one, whose lock prevents that it is retried meanwhile. */
export async function parkBehind(dataSource: DataSource, { position }: StoredEvent): Promise<void> {
  await dataSource.query(
    `UPDATE events.deliveries AS event SET parked_at = now(), error = 'An earlier event of the aggregate is parked.'
     WHERE event.position = $1 AND parked_at IS NULL
       AND EXISTS (SELECT FROM (SELECT ${EARLIER} AND earlier.parked_at IS NOT NULL ORDER BY position LIMIT 1 FOR UPDATE SKIP LOCKED) AS head)`,
    [position],
  );
}

/** Returns a text that PostgreSQL can store, whatever a handler has thrown. */
export function describeError(error: unknown): string {
  let text = 'An error without a description.';
  try {
    text = typeof error === 'string' || Error.isError(error) ? String(error) : inspect(error, { depth: 1, breakLength: Infinity });
  } catch {
    // The error throws when it is read.
  }
  return text.slice(0, MAX_DESCRIPTION_LENGTH).replaceAll('\0', '\uFFFD').toWellFormed();
}
