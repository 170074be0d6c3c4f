import { setTimeout as sleep } from 'node:timers/promises';
import type { EntityManager } from 'typeorm';

/** Key of the advisory lock of the process that handles events. The number is arbitrary but must be unique. */
const EVENT_LOCK = 7_302_947_561_038_215n;
const POLL_MS = 5;
const BATCH_SIZE = 128;
/** Maximum number of positions in a turn. Without current statistics, PostgreSQL reads and sorts all events of the turn for each batch. */
const MAX_POSITIONS = 5_000;
const MAX_RETRY_MS = 60_000;
/** True also if the clock of the server was set back. */
const IS_DUE = `(next_attempt_at <= now() OR next_attempt_at > now() + interval '${String(MAX_RETRY_MS + 1_000)} ms')`;
/** Identifies an attempt, without a date that depends on the settings of the session. */
const TOKEN = 'extract(epoch FROM next_attempt_at)::text';
/** A retry that is due, and the first parked event of its aggregate. $1 has the types of each subscription that the process handles. */
const RETRY = `
  SELECT parked.position, parked.attempts FROM events.parked_events AS parked
  WHERE parked.subscription = name AND ${IS_DUE.replaceAll('next', 'parked.next')}
    AND (retry OR awaits = ANY (ARRAY(SELECT jsonb_array_elements_text($1::jsonb -> name))))
    AND NOT EXISTS (SELECT FROM events.parked_events AS earlier
      WHERE (earlier.subscription, earlier.aggregatetype, earlier.aggregateid) = (parked.subscription, parked.aggregatetype, parked.aggregateid)
        AND earlier.position < parked.position)
  ORDER BY parked.position LIMIT 1`;

export interface TurnOptions {
  /** The types that the process handles, by subscription. */
  readonly types: Readonly<Record<string, readonly string[]>>;
  readonly retryMs: number;
  readonly maxAttempts: number;
  readonly leaveMs: number;
  readonly signal: AbortSignal;
}

/** An attempt to handle events of a subscription, or one that is parked and retried. It is committed before the attempt begins. */
export interface Turn {
  readonly subscription: string;
  readonly isRetry: boolean;
  /** The turn handles the events after `position`, up to `end`. */
  readonly position: bigint;
  readonly end: bigint;
  /** The types that any release handles. */
  readonly types: readonly string[];
  /** Whether the turn handles one event, so that a failure is its own. */
  readonly isSingle: boolean;
  /** Number of attempts for the first event, including this one. */
  readonly attempts: number;
  readonly token: string;
}

interface State extends Pick<Turn, 'position' | 'end' | 'types'> {
  readonly attempts: number;
  readonly suspectUntil: bigint;
  readonly isDue: boolean;
  readonly isSettled: boolean;
  readonly retryPosition: bigint | null;
  readonly retryAttempts: number | null;
}

/** Delay after an attempt. It doubles with each one, up to a minute. */
export const backoffMs = (retryMs: number, attempts: number): number => Math.min(retryMs * 2 ** (attempts - 1), MAX_RETRY_MS);

/**
 * Begins a turn, and counts it as an attempt until it ends. Returns undefined if no subscription is due, if another process handles
 * events, if none has a type of the subscription, or if the next one is left to another release.
 *
 * It first waits until no transaction can add an event before the end of the turn. A transaction has its id before it draws a position, and
 * this one draws its id after it has read the end. So whichever drew a position up to the end has a lower id, and has ended when the id of
 * this transaction is the lowest running one.
 */
export async function beginTurn(manager: EntityManager, options: TurnOptions): Promise<Turn | undefined> {
  const { types: known, signal } = options;
  const [due] = await manager.query<{ name: string; end: bigint }[]>(
    `SELECT name, "end" FROM events.subscriptions, (SELECT coalesce(max(position), 0) AS "end" FROM events.events) AS log
     WHERE $1::jsonb ? name AND pg_try_advisory_xact_lock($2) AND ((position < "end" AND ${IS_DUE}) OR EXISTS (${RETRY}))
     ORDER BY random() LIMIT 1`,
    [known, EVENT_LOCK],
  );
  while (due && !signal.aborted) {
    const [state] = await manager.query<State[]>(
      `SELECT subscriptions.position, least($3, subscriptions.position + $4) AS "end", types, subscriptions.attempts,
         suspect_until AS "suspectUntil", ${IS_DUE} AS "isDue", retry.position AS "retryPosition", retry.attempts AS "retryAttempts",
         pg_current_xact_id() = pg_snapshot_xmin(pg_current_snapshot()) AS "isSettled",
         -- The other processes see the attempt, and it may be lost together with its effects.
         set_config('synchronous_commit', 'off', true)
       FROM events.subscriptions LEFT JOIN LATERAL (${RETRY}) AS retry ON true WHERE name = $2`,
      [known, due.name, due.end, MAX_POSITIONS],
    );
    // Another session may have deleted the subscription.
    if (!state) return undefined;
    if (state.isSettled) return beginAttempt(manager, due.name, state, options);
    await sleep(POLL_MS);
  }
  return undefined;
}

async function beginAttempt(manager: EntityManager, subscription: string, state: State, options: TurnOptions): Promise<Turn | undefined> {
  const { types: known, retryMs, maxAttempts, leaveMs } = options;
  const handled = known[subscription] ?? [];
  const types = [...new Set([...state.types, ...handled])];
  if (state.retryPosition !== null) {
    const attempts = (state.retryAttempts ?? 0) + 1;
    const turn = { subscription, types, isRetry: true, isSingle: true, position: state.retryPosition, end: state.retryPosition };
    const [[begun]] = await manager.query<[{ token: string }[]]>(
      `UPDATE events.parked_events SET attempts = $3, next_attempt_at = clock_timestamp() + $4 * interval '1 ms'
       WHERE subscription = $1 AND position = $2 RETURNING ${TOKEN} AS token`,
      [subscription, state.retryPosition, attempts, backoffMs(retryMs, attempts)],
    );
    return begun && { ...turn, attempts, ...begun };
  }
  if (!state.isDue) return undefined;
  const limit = state.attempts > 0 || state.position < state.suspectUntil ? 1 : BATCH_SIZE;
  const found = await manager.query<{ position: bigint; isLeft: boolean }[]>(
    `SELECT position, type <> ALL ($5) AND occurred_at BETWEEN now() - $6 * interval '1 ms' AND now() + interval '1 min' AS "isLeft"
     FROM events.events WHERE position > $1 AND position <= $2 AND type = ANY ($3) ORDER BY position LIMIT $4`,
    [state.position, state.end, types, limit, handled, leaveMs],
  );
  const left = found.findIndex(({ isLeft }) => isLeft);
  const events = left < 0 ? found : found.slice(0, left);
  const last = events.at(-1)?.position;
  if (last === undefined) {
    if (left < 0) await moveTo(manager, subscription, state.end, maxAttempts);
    return undefined;
  }
  const end = events.length === limit || left > 0 ? last : state.end;
  const isSingle = events.length === 1;
  const attempts = isSingle ? state.attempts + 1 : suspectAttempts(maxAttempts);
  const [[begun]] = await manager.query<[{ token: string }[]]>(
    `UPDATE events.subscriptions SET attempts = $2, next_attempt_at = clock_timestamp() + $3 * interval '1 ms', suspect_until = greatest(suspect_until, $4)
     WHERE name = $1 RETURNING ${TOKEN} AS token`,
    [subscription, attempts, backoffMs(retryMs, Math.max(attempts, 1)), isSingle ? 0 : end],
  );
  const turn = { subscription, types, isRetry: false, isSingle, position: state.position, end };
  return begun && { ...turn, attempts, ...begun };
}

/** Attempts that each event of a batch has had if the batch did not end. The limit is not reached by a batch, because most are innocent. */
function suspectAttempts(maxAttempts: number): number {
  return Math.min(1, maxAttempts - 1);
}

/** Moves the position after success. */
export async function moveTo(manager: EntityManager, subscription: string, position: bigint, maxAttempts: number): Promise<void> {
  await manager.query(
    `UPDATE events.subscriptions SET position = greatest(position, $2), attempts = CASE WHEN $2 < suspect_until THEN $3::int4 ELSE 0 END,
       next_attempt_at = now()
     WHERE name = $1`,
    [subscription, position, suspectAttempts(maxAttempts)],
  );
}

/**
 * Locks the turn in the transaction of `manager`. Returns undefined if another process has begun another attempt in the meantime, or if
 * the signal aborts first. The attempt is then not counted.
 * @param timeoutMs limits each statement of the transaction if the role has no limit
 */
export async function resumeTurn(manager: EntityManager, turn: Turn, signal: AbortSignal, timeoutMs: number): Promise<Turn | undefined> {
  const [table, key] = turn.isRetry ? ['events.parked_events', 'subscription'] : ['events.subscriptions', 'name'];
  const head = `${key} = $1 AND position = $2`;
  const parameters = [turn.subscription, turn.position];
  for (;;) {
    const [lock] = await manager.query<{ isHeld: boolean }[]>(
      `SELECT pg_try_advisory_xact_lock($1) AS "isHeld",
         CASE current_setting('statement_timeout') WHEN '0' THEN set_config('statement_timeout', $2::text, true) END`,
      [EVENT_LOCK, timeoutMs],
    );
    if (lock?.isHeld) {
      const rows = await manager.query<{ attempts: number }[]>(`SELECT attempts FROM ${table} WHERE ${head} AND ${TOKEN} = $3`, [
        ...parameters,
        turn.token,
      ]);
      if (rows[0]) return { ...turn, ...rows[0] };
    }
    if (lock?.isHeld || signal.aborted) {
      const reset = turn.isSingle ? '' : ', suspect_until = 0';
      await manager.query(`UPDATE ${table} SET attempts = greatest(0, attempts - 1)${reset} WHERE ${head}`, parameters);
      return undefined;
    }
    await sleep(POLL_MS);
  }
}
