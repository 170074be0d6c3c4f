import { type ApiKey, type ApiKeySecret, issueApiKey, type NewApiKey } from '@animal-store/access-domain';
import type { Clock, Principal } from '@animal-store/kernel';
import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { AuthenticateApiKey } from './authenticate-api-key.js';

const HOUR = 3_600_000;
const MAX_REVOCATION_DELAY_MS = 5_000;
const invalid = expect.objectContaining({ code: 'invalid_api_key', kind: 'unauthenticated' });

/** Keys of one client. */
class Keys {
  readonly bySecret = new Map<ApiKeySecret, ApiKey>();

  add({ clientName: name, secret, ...key }: NewApiKey): ApiKey {
    const client = { id: 7n, name, rateLimit: null, disabledAt: null };
    const stored = { ...key, id: BigInt(this.bySecret.size + 1), client, revokedAt: null, lastUsedAt: null };
    this.bySecret.set(secret, stored);
    return stored;
  }

  change(id: bigint, change: Partial<ApiKey>): void {
    for (const [secret, key] of this.bySecret) if (key.id === id) this.bySecret.set(secret, { ...key, ...change });
  }

  findBySecret(secret: ApiKeySecret): Promise<ApiKey | undefined> {
    return Promise.resolve(this.bySecret.get(secret));
  }

  recordUse(id: bigint, lastUsedAt: Date): Promise<void> {
    this.change(id, { lastUsedAt });
    return Promise.resolve();
  }
}

let keys: Keys;
let now: Date;
const clock: Clock = { now: () => now };
/** The time of the clock that cannot be set. */
let elapsed: number;
let authenticate: AuthenticateApiKey;

beforeEach(() => {
  keys = new Keys();
  now = new Date('2026-11-21T12:00:00Z');
  elapsed = 0;
  jest.spyOn(performance, 'now').mockImplementation(() => elapsed);
  authenticate = new AuthenticateApiKey(keys, clock);
});
afterEach(() => void jest.restoreAllMocks());

function advance(ms: number): void {
  elapsed += ms;
  now = new Date(now.getTime() + ms);
}

function aNewApiKey(lifetimeMs?: number): NewApiKey {
  const createdAt = now;
  const expiresAt = lifetimeMs === undefined ? null : new Date(createdAt.getTime() + lifetimeMs);
  return issueApiKey({ clientName: 'acme', environment: 'test', scopes: ['pets:read'], createdAt, expiresAt });
}

function aStoredKey(lifetimeMs?: number): { text: ApiKeySecret; key: ApiKey } {
  const issued = aNewApiKey(lifetimeMs);
  return { text: issued.secret, key: keys.add(issued) };
}

const execute = async (text: string): Promise<Principal> => authenticate.execute(text);
const revoke = ({ id }: ApiKey) => keys.change(id, { revokedAt: now });

it('rejects a malformed key by its checksum, without a query', async () => {
  const { text } = aStoredKey();
  const find = jest.spyOn(keys, 'findBySecret');
  for (const wrong of ['', 'key', `${text}x`, text.slice(0, -1), text.slice(0, -1) + (text.endsWith('a') ? 'b' : 'a')]) {
    expect(() => authenticate.execute(wrong)).toThrow(invalid);
  }
  expect(find).not.toHaveBeenCalled();
});

it('rejects an unknown key and queries again the next time', async () => {
  const key = aNewApiKey();
  await expect(execute(key.secret)).rejects.toThrow(invalid);
  keys.add(key);
  expect(await execute(key.secret)).toMatchObject({ clientName: 'acme' });
});

it('returns the client and the scopes of a key, which is cached for less than two seconds', async () => {
  const { text, key } = aStoredKey();
  const find = jest.spyOn(keys, 'findBySecret');
  const principal = { clientId: key.client.id, clientName: 'acme', keyId: key.id, scopes: ['pets:read'] };
  expect(await execute(text)).toEqual(principal);
  advance(1999);
  expect(authenticate.execute(text)).toEqual(principal);
  expect(find).toHaveBeenCalledTimes(1);
  advance(1);
  await execute(text);
  expect(find).toHaveBeenCalledTimes(2);
});

it('shares one query between concurrent misses for the same key', async () => {
  const { text } = aStoredKey();
  const another = aStoredKey();
  const find = jest.spyOn(keys, 'findBySecret');
  const principals = await Promise.all([...Array.from({ length: 20 }, () => execute(text)), execute(another.text)]);
  expect(new Set(principals.map(({ keyId }) => keyId)).size).toBe(2);
  expect(find).toHaveBeenCalledTimes(2);
});

it.each([
  ['revocation', revoke],
  ['expiry', ({ id }: ApiKey) => keys.change(id, { expiresAt: now })],
])('rejects a key within five seconds of its %s, whenever it was used before and however its clock is set', async (_end, end) => {
  for (let usedBefore = 0; usedBefore <= MAX_REVOCATION_DELAY_MS; usedBefore += 500) {
    const { text, key } = aStoredKey();
    await execute(text);
    advance(usedBefore);
    end(key);
    for (let waited = 0; waited < MAX_REVOCATION_DELAY_MS; waited += 100) {
      await execute(text).catch(() => undefined);
      elapsed += 100;
    }
    await expect(execute(text)).rejects.toThrow(invalid);
  }
});

it('does not share a query that may have read the key before its revocation', async () => {
  const { text, key } = aStoredKey();
  const old = Promise.withResolvers<ApiKey | undefined>();
  jest.spyOn(keys, 'findBySecret').mockReturnValueOnce(old.promise);
  const first = execute(text);
  revoke(key);
  advance(MAX_REVOCATION_DELAY_MS);
  await expect(execute(text)).rejects.toThrow(invalid);
  old.resolve(key);
  await first;
  await expect(execute(text)).rejects.toThrow(invalid);
});

it('keeps the result of a newer query if an older one fails later', async () => {
  const { text } = aStoredKey();
  const old = Promise.withResolvers<undefined>();
  jest.spyOn(keys, 'findBySecret').mockReturnValueOnce(old.promise);
  const first = execute(text);
  advance(MAX_REVOCATION_DELAY_MS);
  await execute(text);
  old.reject(new Error('connection lost'));
  await expect(first).rejects.toThrow('connection lost');
  expect(authenticate.execute(text)).toMatchObject({ clientName: 'acme' });
});

it("rejects all waiting calls with the store's error and queries again the next time", async () => {
  const { text } = aStoredKey();
  const down = new Error('connect ECONNREFUSED');
  const find = jest.spyOn(keys, 'findBySecret').mockRejectedValueOnce(down);
  const results = await Promise.allSettled([execute(text), execute(text)]);
  expect(results.map((result) => result.status === 'rejected' && (result.reason as unknown))).toEqual([down, down]);
  expect(find).toHaveBeenCalledTimes(1);
  expect(await execute(text)).toMatchObject({ clientName: 'acme' });
});

it('keeps at most 10,000 keys and drops the oldest', async () => {
  keys.recordUse = () => Promise.resolve();
  const texts: ApiKeySecret[] = [];
  for (let i = 0; i < 10_001; i++) texts.push(aStoredKey().text);
  for (const text of texts) await execute(text);
  const isCached = (text: string | undefined) => !(authenticate.execute(text ?? '') instanceof Promise);
  expect([texts[1], texts.at(-1), texts[0]].map(isCached)).toEqual([true, true, false]);
});

describe('recording the last use', () => {
  it('writes it on the first request and then once a minute, also after the clock was set back', async () => {
    const { text } = aStoredKey();
    const record = jest.spyOn(keys, 'recordUse');
    for (let second = 0; second < 150; second++) {
      await execute(text);
      advance(1000);
    }
    expect(record).toHaveBeenCalledTimes(3);
    expect((await keys.findBySecret(text))?.lastUsedAt).toEqual(new Date(now.getTime() - 30_000));
    now = new Date(now.getTime() - HOUR);
    await execute(text);
    expect((await keys.findBySecret(text))?.lastUsedAt).toEqual(now);
  });

  it('writes nothing for a rejected key', async () => {
    const { text } = aStoredKey(1000);
    const record = jest.spyOn(keys, 'recordUse');
    advance(1000);
    await expect(execute(text)).rejects.toThrow(invalid);
    expect(record).not.toHaveBeenCalled();
  });

  it('does not wait for the store and ignores its errors', async () => {
    const { text } = aStoredKey();
    let calls = 0;
    // A spy would handle the rejection, and Jest only fails a test for an unhandled one.
    keys.recordUse = () => (++calls === 1 ? new Promise<void>(() => undefined) : Promise.reject(new Error('read-only transaction')));
    expect(await execute(text)).toMatchObject({ clientName: 'acme' });
    advance(61_000);
    expect(await execute(text)).toMatchObject({ clientName: 'acme' });
    await new Promise((resolve) => setTimeout(resolve));
    expect(calls).toBe(2);
  });
});
