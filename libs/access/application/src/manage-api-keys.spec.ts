import { generateApiKeySecret, isApiKeySecret, type KeyEnvironment, prefixOf } from '@animal-store/access-domain';
import { aNewApiKey, InMemoryApiKeys, SettableClock } from '@animal-store/access-testing';
import { DomainError } from '@animal-store/kernel';
import { beforeEach, describe, expect, it } from '@jest/globals';
import { CreateApiKey, type CreateApiKeyInput } from './create-api-key.js';
import { ListApiKeys } from './list-api-keys.js';
import { ListAudit, MAX_AUDIT_LIMIT } from './list-audit.js';
import { ManageClients } from './manage-clients.js';
import { RevokeApiKey } from './revoke-api-key.js';
import { RotateApiKey } from './rotate-api-key.js';

const HOUR = 3_600_000;
const input: CreateApiKeyInput & { ifNone?: false } = { clientName: 'acme', environment: 'test', scopes: ['pets:read', 'pets:write'] };

let keys: InMemoryApiKeys;
let clock: SettableClock;
let createApiKey: CreateApiKey;
let listApiKeys: ListApiKeys;
let rotateApiKey: RotateApiKey;
let revokeApiKey: RevokeApiKey;

beforeEach(() => {
  keys = new InMemoryApiKeys();
  clock = new SettableClock();
  createApiKey = new CreateApiKey(keys, clock);
  listApiKeys = new ListApiKeys(keys, clock);
  rotateApiKey = new RotateApiKey(keys, clock);
  revokeApiKey = new RevokeApiKey(keys, clock);
});

const at = (ms: number) => new Date(clock.now().getTime() + ms);

describe('CreateApiKey', () => {
  it('returns the secret of the stored key', async () => {
    const { key, secret } = await createApiKey.execute(input);
    expect(isApiKeySecret(secret)).toBe(true);
    expect(key).toMatchObject({
      client: { name: 'acme' },
      prefix: prefixOf(secret),
      scopes: input.scopes,
      createdAt: clock.now(),
      expiresAt: undefined,
    });
    expect(await keys.findBySecret(secret)).toEqual(key);
  });

  it('adds another key to an existing client', async () => {
    const first = await createApiKey.execute(input);
    const second = await createApiKey.execute(input);
    expect(second.key.client).toEqual(first.key.client);
    expect(second.secret).not.toBe(first.secret);
  });

  it('sets the expiry relative to now', async () => {
    const { key } = await createApiKey.execute({ ...input, lifetimeMs: HOUR });
    expect(key.expiresAt).toEqual(at(HOUR));
  });

  it('creates no key with ifNone if the client has an active one', async () => {
    const ifNone = { ...input, ifNone: true } as CreateApiKeyInput;
    expect(await createApiKey.execute({ ...ifNone, lifetimeMs: HOUR })).toBeDefined();
    expect(await createApiKey.execute(ifNone)).toBeUndefined();
    expect(await createApiKey.execute({ ...ifNone, clientName: 'another' })).toBeDefined();
    clock.advance(HOUR);
    expect(await createApiKey.execute(ifNone)).toBeDefined();
  });

  it.each([{ clientName: '' }, { environment: '!' }, { scopes: [] }, { lifetimeMs: 0 }, { lifetimeMs: 1e300 }])(
    'keeps nothing of %o',
    async (wrong) => {
      await expect(createApiKey.execute({ ...input, ...wrong })).rejects.toThrow(expect.objectContaining({ code: 'invalid_request' }));
      expect(await keys.list()).toEqual([]);
    },
  );
});

describe('ListApiKeys', () => {
  it('returns the state of each key', async () => {
    const { key: lasting } = await createApiKey.execute(input);
    const { key: short } = await createApiKey.execute({ ...input, clientName: 'another', lifetimeMs: HOUR });
    const { key: revoked } = await createApiKey.execute(input);
    await revokeApiKey.execute(String(revoked.id));
    clock.advance(HOUR);
    const states = (await listApiKeys.execute()).map(({ key, state }) => [key.id, state]);
    expect(states).toEqual([
      [lasting.id, 'active'],
      [short.id, 'expired'],
      [revoked.id, 'revoked'],
    ]);
    expect((await listApiKeys.execute({ clientName: 'another' })).map(({ key }) => key)).toEqual([short]);
  });
});

describe('ListApiKeys with expiresWithinMs', () => {
  it('lists active keys that expire until then, inclusive', async () => {
    for (const lifetimeMs of [HOUR / 2, HOUR, HOUR + 1, undefined]) await createApiKey.execute({ ...input, lifetimeMs });
    const { key: revoked } = await createApiKey.execute({ ...input, lifetimeMs: HOUR });
    await revokeApiKey.execute(String(revoked.id));
    const ids = async () => (await listApiKeys.execute({ expiresWithinMs: HOUR })).map(({ key }) => key.id);
    expect(await ids()).toEqual([1n, 2n]);
    clock.advance(HOUR / 2);
    expect(await ids()).toEqual([2n, 3n]);
  });
});

describe('ManageClients', () => {
  it('disables a client and the state of its keys, and enables it again', async () => {
    const clients = new ManageClients(keys, clock);
    const { key } = await createApiKey.execute({ ...input, rateLimit: 7 });
    const states = async () => (await listApiKeys.execute()).map(({ state }) => state);
    const disabled = await clients.disable('acme');
    expect(disabled).toEqual({ ...key.client, rateLimit: 7, disabledAt: clock.now() });
    expect(await states()).toEqual(['disabled']);
    clock.advance(HOUR);
    expect(await clients.disable('acme')).toEqual(disabled);
    expect(await clients.enable('acme')).toEqual(key.client);
    expect(await states()).toEqual(['active']);
    expect(await clients.setRateLimit('acme', undefined)).toEqual({ ...key.client, rateLimit: undefined });
    expect(await clients.list()).toEqual([{ ...key.client, rateLimit: undefined }]);
    await expect(clients.setRateLimit('acme', -1)).rejects.toThrow(/^rate limit must/);
    await expect(clients.enable('nobody')).rejects.toThrow(
      expect.objectContaining({ code: 'client_not_found', message: 'No client has the name nobody.' }),
    );
  });
});

describe('ListAudit', () => {
  it('limits the page and returns the start of the next one', async () => {
    const audit = new ListAudit(keys);
    for (let i = 0; i <= MAX_AUDIT_LIMIT; i++) await keys.add(aNewApiKey());
    const first = await audit.execute({ limit: MAX_AUDIT_LIMIT + 5 });
    expect(first.events).toHaveLength(MAX_AUDIT_LIMIT);
    expect(first.next).toBe(first.events.at(-1)?.id);
    const last = await audit.execute({ after: first.next });
    expect(last).toEqual({ events: [expect.objectContaining({ id: 1n })], next: undefined });
    expect(await audit.execute({ limit: 1, after: 2n })).toEqual(last);
    expect((await audit.execute()).events).toHaveLength(50);
  });
});

describe('RotateApiKey', () => {
  it('creates a key with the same client and scopes, and the old one expires after a day', async () => {
    const { key: old } = await createApiKey.execute({ ...input, scopes: ['pets:read'] });
    clock.advance(HOUR);
    const { key, secret, retired } = await rotateApiKey.execute(String(old.id));
    expect(key).toMatchObject({ client: old.client, scopes: ['pets:read'], createdAt: clock.now() });
    expect(await keys.findBySecret(secret)).toEqual(key);
    expect(retired).toEqual({ ...old, expiresAt: at(24 * HOUR) });
    expect(await keys.list()).toEqual([retired, key]);
  });

  it('the old key expires after the given overlap', async () => {
    const { key: old } = await createApiKey.execute(input);
    expect((await rotateApiKey.execute(old.prefix, HOUR)).retired.expiresAt).toEqual(at(HOUR));
  });

  it('rejects a key that is not active', async () => {
    const { key: old } = await createApiKey.execute({ ...input, lifetimeMs: HOUR });
    clock.advance(HOUR);
    await expect(rotateApiKey.execute(String(old.id))).rejects.toThrow(expect.objectContaining({ code: 'api_key_not_active' }));
    expect(await keys.list()).toEqual([old]);
  });
});

describe('RevokeApiKey', () => {
  it('revokes by identifier or visible prefix, and only the first time', async () => {
    const { key: first } = await createApiKey.execute(input);
    const { key: second } = await createApiKey.execute(input);
    const revokedAt = clock.now();
    expect(await revokeApiKey.execute(String(first.id))).toEqual({ ...first, revokedAt });
    expect(await revokeApiKey.execute(second.prefix)).toEqual({ ...second, revokedAt });
    clock.advance(HOUR);
    expect(await revokeApiKey.execute(String(first.id))).toEqual({ ...first, revokedAt });
  });
});

describe.each([
  ['RotateApiKey', (reference: string) => rotateApiKey.execute(reference)],
  ['RevokeApiKey', (reference: string) => revokeApiKey.execute(reference)],
])('%s', (_name, execute) => {
  it.each(['17', '-1', '99999999999999999999', 'ast_test_zzzzzz', ''])('throws if no key matches %j', async (reference) => {
    await createApiKey.execute(input);
    await expect(execute(reference)).rejects.toThrow(DomainError);
    await expect(execute(reference)).rejects.toThrow(`No API key matches ${reference}.`);
  });

  it('accepts the whole key, and does not repeat an unknown one in the error', async () => {
    const { key, secret } = await createApiKey.execute(input);
    await execute(secret);
    expect((await keys.list())[0]).not.toEqual(key);
    const unknown = generateApiKeySecret('test' as KeyEnvironment);
    for (const reference of [unknown, unknown.slice(0, -1)]) {
      await expect(execute(reference)).rejects.toThrow(`No API key matches ${prefixOf(unknown)}….`);
    }
  });

  it('rejects a visible prefix that two keys share', async () => {
    const { prefix } = aNewApiKey();
    await keys.add({ ...aNewApiKey(), prefix });
    await keys.add({ ...aNewApiKey(), prefix });
    await expect(execute(prefix)).rejects.toThrow(`Several API keys have the prefix ${prefix}. Use one of the ids 1, 2.`);
    expect((await keys.list()).every(({ revokedAt, expiresAt }) => !revokedAt && !expiresAt)).toBe(true);
  });
});
