import { ApiKey, type ApiKeyId, type ApiKeySecret, NewApiKey } from '@animal-store/access-domain';
import { Clock, type Principal } from '@animal-store/kernel';
import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { ApiKeyCache, AuthenticateApiKey } from './authenticate-api-key.js';

const HOUR = 3_600_000;
const MAX_REVOCATION_DELAY_MS = 5_000;
const invalid = expect.objectContaining({ code: 'invalid_api_key', kind: 'unauthenticated' });

class SettableClock extends Clock {
  private time = new Date('2026-11-21T12:00:00Z');

  override now(): Date {
    return this.time;
  }

  advance(ms: number): void {
    this.time = new Date(this.time.getTime() + ms);
  }
}

/** Keys of one client. */
class Keys {
  readonly bySecret = new Map<ApiKeySecret, ApiKey>();

  add({ clientName: name, secret, ...key }: NewApiKey): ApiKey {
    const stored = ApiKey.rehydrate({ ...key, id: BigInt(this.bySecret.size + 1), client: { id: 7n, name } });
    this.bySecret.set(secret, stored);
    return stored;
  }

  change(id: ApiKeyId, change: (key: ApiKey) => ApiKey): void {
    for (const [secret, key] of this.bySecret) if (key.id === id) this.bySecret.set(secret, change(key));
  }

  findBySecret(secret: ApiKeySecret): Promise<ApiKey | undefined> {
    return Promise.resolve(this.bySecret.get(secret));
  }

  recordUse(id: ApiKeyId, lastUsedAt: Date): Promise<void> {
    this.change(id, (key) => ApiKey.rehydrate({ ...key, lastUsedAt }));
    return Promise.resolve();
  }
}

let keys: Keys;
let clock: SettableClock;
let authenticate: AuthenticateApiKey;

afterEach(() => void jest.restoreAllMocks());
beforeEach(() => {
  keys = new Keys();
  clock = new SettableClock();
  authenticate = new AuthenticateApiKey(keys, clock);
});

function aNewApiKey(lifetimeMs?: number): NewApiKey {
  const createdAt = clock.now();
  const expiresAt = lifetimeMs === undefined ? undefined : new Date(createdAt.getTime() + lifetimeMs);
  return NewApiKey.issue({ clientName: 'acme', environment: 'test', scopes: ['pets:read'], createdAt, expiresAt });
}

function aStoredKey(lifetimeMs?: number): { text: ApiKeySecret; key: ApiKey } {
  const issued = aNewApiKey(lifetimeMs);
  return { text: issued.secret, key: keys.add(issued) };
}

const execute = async (text: string): Promise<Principal> => authenticate.execute(text);

describe('AuthenticateApiKey', () => {
  it('returns the client and the scopes of a key', async () => {
    const { text, key } = aStoredKey();
    const principal = { clientId: key.client.id, clientName: 'acme', keyId: key.id, scopes: ['pets:read'] };
    expect(await execute(text)).toEqual(principal);
    expect(authenticate.execute(text)).toEqual(principal);
  });

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

  it('returns a cached key without a promise and without a query', async () => {
    const { text } = aStoredKey();
    const find = jest.spyOn(keys, 'findBySecret');
    await execute(text);
    for (let i = 0; i < 100; i++) expect(authenticate.execute(text)).not.toBeInstanceOf(Promise);
    expect(find).toHaveBeenCalledTimes(1);
  });

  it('shares one query between concurrent misses for the same key', async () => {
    const { text } = aStoredKey();
    const another = aStoredKey();
    const find = jest.spyOn(keys, 'findBySecret');
    const principals = await Promise.all([...Array.from({ length: 20 }, () => execute(text)), execute(another.text)]);
    expect(new Set(principals.map(({ keyId }) => keyId)).size).toBe(2);
    expect(find).toHaveBeenCalledTimes(2);
  });

  it('rejects a key within five seconds of its revocation, whenever it was used before', async () => {
    for (let usedBefore = 0; usedBefore <= MAX_REVOCATION_DELAY_MS; usedBefore += 500) {
      const { text, key } = aStoredKey();
      await execute(text);
      clock.advance(usedBefore);
      keys.change(key.id, (stored) => stored.revoke(clock.now()));
      for (let waited = 0; waited < MAX_REVOCATION_DELAY_MS; waited += 100) {
        await execute(text).catch(() => undefined);
        clock.advance(100);
      }
      await expect(execute(text)).rejects.toThrow(invalid);
    }
  });

  it('does not share a query that may have read the key before its revocation', async () => {
    const { text, key } = aStoredKey();
    const stale = await keys.findBySecret(text);
    let resolveQuery: (key: ApiKey | undefined) => void = () => undefined;
    jest.spyOn(keys, 'findBySecret').mockReturnValueOnce(
      new Promise((resolve) => {
        resolveQuery = resolve;
      }),
    );
    const first = execute(text);
    keys.change(key.id, (stored) => stored.revoke(clock.now()));
    clock.advance(MAX_REVOCATION_DELAY_MS);
    await expect(execute(text)).rejects.toThrow(invalid);
    resolveQuery(stale);
    await first;
    await expect(execute(text)).rejects.toThrow(invalid);
  });

  it('rejects a cached key from its expiry on', async () => {
    const { text } = aStoredKey(1000);
    await execute(text);
    clock.advance(999);
    expect(authenticate.execute(text)).toMatchObject({ clientName: 'acme' });
    clock.advance(1);
    expect(() => authenticate.execute(text)).toThrow(invalid);
  });

  it('drops cached keys if the clock is set back', async () => {
    const { text, key } = aStoredKey();
    await execute(text);
    keys.change(key.id, (stored) => stored.revoke(clock.now()));
    clock.advance(-HOUR);
    await expect(execute(text)).rejects.toThrow(invalid);
  });

  it('rejects a key within five seconds of its revocation, also while the clock is set back again and again', async () => {
    let elapsed = 0;
    jest.spyOn(performance, 'now').mockImplementation(() => elapsed);
    const { text, key } = aStoredKey();
    await execute(text);
    keys.change(key.id, (stored) => stored.revoke(clock.now()));
    const states: unknown[] = [];
    for (; elapsed < MAX_REVOCATION_DELAY_MS; elapsed += 500) {
      // 500 ms pass, and the clock is set back by as much.
      states.push(await execute(text).catch((error: unknown) => error));
    }
    expect(states.at(-1)).toEqual(invalid);
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

  describe('recording the last use', () => {
    it('writes it on the first request and then once a minute', async () => {
      const { text } = aStoredKey();
      const record = jest.spyOn(keys, 'recordUse');
      for (let second = 0; second < 150; second++) {
        await execute(text);
        await execute(text);
        clock.advance(1000);
      }
      expect(record).toHaveBeenCalledTimes(3);
      const key = await keys.findBySecret(text);
      expect(key?.lastUsedAt).toEqual(new Date(clock.now().getTime() - 30_000));
    });

    it('continues after the clock was set back', async () => {
      const { text } = aStoredKey();
      await execute(text);
      clock.advance(-HOUR);
      await execute(text);
      expect((await keys.findBySecret(text))?.lastUsedAt).toEqual(clock.now());
    });

    it('writes nothing for a rejected key', async () => {
      const { text } = aStoredKey(1000);
      const record = jest.spyOn(keys, 'recordUse');
      clock.advance(1000);
      await expect(execute(text)).rejects.toThrow(invalid);
      expect(record).not.toHaveBeenCalled();
    });

    it('does not wait for the store and ignores its errors', async () => {
      const { text } = aStoredKey();
      let calls = 0;
      // A spy would handle the rejection, and Jest only fails a test for an unhandled one.
      keys.recordUse = () => (++calls === 1 ? new Promise<void>(() => undefined) : Promise.reject(new Error('read-only transaction')));
      expect(await execute(text)).toMatchObject({ clientName: 'acme' });
      clock.advance(61_000);
      expect(await execute(text)).toMatchObject({ clientName: 'acme' });
      await new Promise((resolve) => setTimeout(resolve));
      expect(calls).toBe(2);
    });
  });
});

describe('ApiKeyCache', () => {
  const now = () => clock.now().getTime();

  it('keeps entries for less than two seconds', async () => {
    const { text } = aStoredKey();
    const cache = new ApiKeyCache(keys);
    const query = cache.query(text, now());
    expect(cache.get(text, now())).toBe(query);
    const found = await query;
    clock.advance(1999);
    expect(cache.get(text, now())).toBe(found);
    clock.advance(1);
    expect(cache.get(text, now())).toBeUndefined();
  });

  it('keeps the result of a newer query if an older one fails later', async () => {
    const { text } = aStoredKey();
    const older = Promise.withResolvers<undefined>();
    jest.spyOn(keys, 'findBySecret').mockReturnValueOnce(older.promise);
    const cache = new ApiKeyCache(keys);
    const first = cache.query(text, now());
    clock.advance(HOUR);
    const newer = await cache.query(text, now());
    older.reject(new Error('connection lost'));
    await expect(first).rejects.toThrow('connection lost');
    expect(cache.get(text, now())).toBe(newer);
  });

  it('keeps at most maxEntries entries and drops the oldest', async () => {
    const cache = new ApiKeyCache(keys, 3);
    const texts: ApiKeySecret[] = [];
    for (let i = 0; i < 5; i++) texts.push(aStoredKey().text);
    for (const text of texts) await cache.query(text, now());
    expect(texts.map((text) => cache.get(text, now()) !== undefined)).toEqual([false, false, true, true, true]);
  });

  it('removes an expired secret when another key is queried', async () => {
    const cache = new ApiKeyCache(keys);
    const [old, another] = [aStoredKey(), aStoredKey()];
    await cache.query(old.text, now());
    clock.advance(2000);
    await cache.query(another.text, now());
    // The clock is set back, so that the entry would be returned if it still existed.
    expect(cache.get(old.text, now() - 1)).toBeUndefined();
  });
});
