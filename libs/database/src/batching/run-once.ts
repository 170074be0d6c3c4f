import { isDeepStrictEqual } from 'node:util';
import type { IdempotencyKey, Outcome } from '@animal-store/kernel';
import type { DataSource, EntityManager } from 'typeorm';
import { retryConflict } from '../connection/retry.js';
import { type IdempotencyKeyEntity, keyReused, keyTableOf } from './idempotency-keys.js';

/** Maximum length of a recorded result, in characters of JSON. */
const MAX_RESULT_LENGTH = 65_536;

/**
 * Runs a command in a transaction, and records its result with the key in the same transaction. If the key exists, returns the recorded
 * result instead. Concurrent calls with one key wait for the first one, also in other processes. A command that throws records nothing.
 *
 * The command may run several times, because a transaction is repeated after a deadlock. Only the last one has an effect, so it must use
 * nothing but the entity manager. Events of `appendEvents(manager, …)` commit with it.
 * @param keys the service must be allowed to SELECT, INSERT and UPDATE rows of its table; a creation needs no UPDATE
 * @param key without a key, the command runs in a transaction, and nothing is recorded
 * @param request names the command and has its input: `{ command: 'cancelVisit', visitId }`
 * @returns with a recorded result, plain data: its members may be bigints, Dates and all values of JSON
 * @throws DomainError IDEMPOTENCY_KEY_REUSED if the key was used for another request, or for a creation
 */
export function runOnce<Result>(
  dataSource: DataSource,
  keys: new () => IdempotencyKeyEntity,
  key: IdempotencyKey | undefined,
  request: { readonly command: string; readonly [input: string]: unknown },
  command: (manager: EntityManager) => Promise<Result>,
): Promise<Outcome<Result>> {
  if (!key) return retryConflict(async () => ({ result: await dataSource.transaction(command), replayed: false }));
  const { name, rowId } = keyTableOf(dataSource.getMetadata(keys));
  const parameters = [key.clientId, key.key];

  const runWithKey = async (manager: EntityManager): Promise<Outcome<Result>> => {
    // Waits for a concurrent transaction with the same key, and returns its record. A new record is empty.
    const [claimed] = await manager.query<{ record: object }[]>(
      `INSERT INTO ${name} AS stored (client_id, key, ${rowId}, request) VALUES ($1, $2, 0, '[]')
       ON CONFLICT (client_id, key) DO UPDATE SET request = stored.request RETURNING request AS record`,
      parameters,
    );
    if (!claimed) throw notStored(name);
    if (!isDeepStrictEqual(claimed.record, [])) return { result: recordedResult(claimed.record, request) as Result, replayed: true };
    const result = await command(manager);
    const recorded = recordOf(request, result);
    const update = `UPDATE ${name} SET request = $3 WHERE client_id = $1 AND key = $2`;
    const [, updated] = await manager.query<[unknown, number]>(update, [...parameters, recorded]);
    if (updated === 0) throw notStored(name);
    return { result, replayed: false };
  };
  return alone(dataSource, `${name} ${String(key.clientId)} ${key.key}`, () => retryConflict(() => dataSource.transaction(runWithKey)));
}

const notStored = (table: string) => new Error(`The database did not store a row of ${table}, for example because of a trigger.`);

const runningByKey = new WeakMap<DataSource, Map<string, Promise<unknown>>>();

/** Waits for the calls of this process with the same key, so that only one of them has a connection of the pool. */
async function alone<Result>(dataSource: DataSource, key: string, run: () => Promise<Result>): Promise<Result> {
  const running = runningByKey.get(dataSource) ?? new Map<string, Promise<unknown>>();
  runningByKey.set(dataSource, running);
  for (let other = running.get(key); other; other = running.get(key)) await other.catch(() => undefined);
  const current = run();
  running.set(key, current);
  try {
    return await current;
  } finally {
    running.delete(key);
  }
}

/** An array of request and result, each as text: `jsonb` reorders members and rejects U+0000. A creation's record is an object. */
function recordOf(request: object, result: unknown): string {
  const text = encode(result);
  if (text.length > MAX_RESULT_LENGTH)
    throw new Error(`The result of a command with a key must have at most ${String(MAX_RESULT_LENGTH)} characters of JSON.`);
  return JSON.stringify([encode(request), text]);
}

/** @throws DomainError IDEMPOTENCY_KEY_REUSED if the record is that of another request */
function recordedResult(record: unknown, request: object): unknown {
  const [recordedRequest, result] = Array.isArray(record) ? (record as [string, string]) : [];
  if (recordedRequest === undefined || result === undefined || !isDeepStrictEqual(decode(recordedRequest), decode(encode(request))))
    throw keyReused();
  return decode(result);
}

/** Returns JSON from which `decode` restores the value. The first character of each text is its type, because JSON has no bigint and no Date. */
function encode(value: unknown): string {
  return JSON.stringify({ value }, function (this: Readonly<Record<string, unknown>>, name: string, converted: unknown) {
    // JSON.stringify has already converted a Date.
    const original = this[name];
    if (typeof original === 'bigint') return `n${String(original)}`;
    if (original instanceof Date) return `d${original.toISOString()}`;
    return typeof converted === 'string' ? `s${converted}` : converted;
  });
}

function decode(text: string): unknown {
  const { value } = JSON.parse(text, (_name, member: unknown) => {
    if (typeof member !== 'string') return member;
    const content = member.slice(1);
    if (member.startsWith('n')) return BigInt(content);
    return member.startsWith('d') ? new Date(content) : content;
  }) as { value?: unknown };
  return value;
}
