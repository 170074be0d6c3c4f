import { ManageApiKeys, ManageClients, MAX_AUDIT_LIMIT } from '@animal-store/access-application';
import { generateApiKeySecret, isApiKeySecret, type KeyEnvironment, type Operator, prefixOf } from '@animal-store/access-domain';
import { isDatabaseUnavailable } from '@animal-store/database';
import { Clock, DomainError, INT64_MAX } from '@animal-store/kernel';
import { TcpProxy } from '@animal-store/local-postgres/testing';
import { useDatabase } from '@animal-store/test-kit';
import { beforeEach, describe, expect, it } from '@jest/globals';
import { accessPersistence } from './access-persistence.js';
import { connectAccessUseCases, createAccessUseCases } from './access-use-cases.js';
import { aNewApiKey } from './testing/api-key-builder.js';
import { TypeOrmApiKeyRepository } from './typeorm-api-key-repository.js';

class SettableClock extends Clock {
  private time = new Date('2026-11-21T12:00:00Z');

  override now(): Date {
    return this.time;
  }

  advance(ms: number): void {
    this.time = new Date(this.time.getTime() + ms);
  }
}

type CreateApiKeyInput = Parameters<ManageApiKeys['create']>[0];

const HOUR = 3_600_000;
const input: CreateApiKeyInput & { ifNone?: false } = { clientName: 'acme', environment: 'test', scopes: ['pets:read', 'pets:write'] };

const database = useDatabase(accessPersistence);
let keys: TypeOrmApiKeyRepository;
let clock: SettableClock;
let manageApiKeys: ManageApiKeys;

beforeEach(async () => {
  await database.empty();
  keys = new TypeOrmApiKeyRepository(database.dataSource, 'carol' as Operator);
  clock = new SettableClock();
  manageApiKeys = new ManageApiKeys(keys, clock);
});

const at = (ms: number) => new Date(clock.now().getTime() + ms);

describe('creating a key', () => {
  it('returns the secret of the stored key', async () => {
    const { key, secret } = await manageApiKeys.create(input);
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

  it('sets the expiry relative to now', async () => {
    const { key } = await manageApiKeys.create({ ...input, lifetimeMs: HOUR });
    expect(key.expiresAt).toEqual(at(HOUR));
  });

  it('creates no key with ifNone if the client has an active one', async () => {
    const ifNone = { ...input, ifNone: true } as CreateApiKeyInput;
    expect(await manageApiKeys.create({ ...ifNone, lifetimeMs: HOUR })).toBeDefined();
    expect(await manageApiKeys.create(ifNone)).toBeUndefined();
    expect(await manageApiKeys.create({ ...ifNone, clientName: 'another' })).toBeDefined();
    clock.advance(HOUR);
    expect(await manageApiKeys.create(ifNone)).toBeDefined();
  });

  it.each([{ clientName: '' }, { lifetimeMs: 0 }, { lifetimeMs: 1e300 }])('keeps nothing of %o', async (wrong) => {
    await expect(manageApiKeys.create({ ...input, ...wrong })).rejects.toThrow(expect.objectContaining({ code: 'invalid_request' }));
    expect(await keys.list()).toEqual([]);
  });
});

describe('listing keys', () => {
  it('returns the state of each key', async () => {
    const { key: lasting } = await manageApiKeys.create(input);
    const { key: short } = await manageApiKeys.create({ ...input, clientName: 'another', lifetimeMs: HOUR });
    const { key: revoked } = await manageApiKeys.create(input);
    await manageApiKeys.revoke(String(revoked.id));
    clock.advance(HOUR);
    const states = (await manageApiKeys.list()).map(({ key, state }) => [key.id, state]);
    expect(states).toEqual([
      [lasting.id, 'active'],
      [short.id, 'expired'],
      [revoked.id, 'revoked'],
    ]);
    expect((await manageApiKeys.list({ clientName: 'another' })).map(({ key }) => key)).toEqual([short]);
  });
});

describe('listing keys with expiresWithinMs', () => {
  it('lists active keys that expire until then, inclusive', async () => {
    for (const lifetimeMs of [HOUR / 2, HOUR, HOUR + 1, undefined]) await manageApiKeys.create({ ...input, lifetimeMs });
    const { key: revoked } = await manageApiKeys.create({ ...input, lifetimeMs: HOUR });
    await manageApiKeys.revoke(String(revoked.id));
    const ids = async () => (await manageApiKeys.list({ expiresWithinMs: HOUR })).map(({ key }) => key.id);
    expect(await ids()).toEqual([1n, 2n]);
    clock.advance(HOUR / 2);
    expect(await ids()).toEqual([2n, 3n]);
  });
});

describe('ManageClients', () => {
  it('disables a client and the state of its keys, and enables it again', async () => {
    const clients = new ManageClients(keys, clock);
    const { key } = await manageApiKeys.create({ ...input, rateLimit: 7 });
    const states = async () => (await manageApiKeys.list()).map(({ state }) => state);
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

describe('the audit trail', () => {
  it('limits the page and returns the start of the next one', async () => {
    await database.dataSource.query(
      `INSERT INTO access.audit_events (operator, action, client_id, client_name, details)
       SELECT 'carol', 'disable', 1, 'acme', '{}' FROM generate_series(1, $1)`,
      [MAX_AUDIT_LIMIT + 1],
    );
    const first = await manageApiKeys.listAudit({ limit: MAX_AUDIT_LIMIT + 5 });
    expect(first.events).toHaveLength(MAX_AUDIT_LIMIT);
    expect(first.next).toBe(first.events.at(-1)?.id);
    const last = await manageApiKeys.listAudit({ after: first.next });
    expect(last).toEqual({ events: [expect.objectContaining({ id: 1n })], next: undefined });
    expect(await manageApiKeys.listAudit({ limit: 1, after: 2n })).toEqual(last);
    expect((await manageApiKeys.listAudit()).events).toHaveLength(50);
  });
});

describe('rotating a key', () => {
  it('creates a key with the same client and scopes, and the old one expires after a day', async () => {
    const { key: old } = await manageApiKeys.create({ ...input, scopes: ['pets:read'] });
    clock.advance(HOUR);
    const { key, secret, retired } = await manageApiKeys.rotate(String(old.id));
    expect(key).toMatchObject({ client: old.client, scopes: ['pets:read'], createdAt: clock.now() });
    expect(await keys.findBySecret(secret)).toEqual(key);
    expect(retired).toEqual({ ...old, expiresAt: at(24 * HOUR) });
    expect(await keys.list()).toEqual([retired, key]);
  });
});

describe('revoking a key', () => {
  it('revokes by identifier or visible prefix, and only the first time', async () => {
    const { key: first } = await manageApiKeys.create(input);
    const { key: second } = await manageApiKeys.create(input);
    const revokedAt = clock.now();
    expect(await manageApiKeys.revoke(String(first.id))).toEqual({ ...first, revokedAt });
    expect(await manageApiKeys.revoke(second.prefix)).toEqual({ ...second, revokedAt });
    clock.advance(HOUR);
    expect(await manageApiKeys.revoke(String(first.id))).toEqual({ ...first, revokedAt });
  });
});

describe.each([
  ['rotating a key', (reference: string) => manageApiKeys.rotate(reference)],
  ['revoking a key', (reference: string) => manageApiKeys.revoke(reference)],
])('%s', (_name, execute) => {
  it.each(['17', '-1', '99999999999999999999', 'ast_test_zzzzzz', ''])('throws if no key matches %j', async (reference) => {
    await manageApiKeys.create(input);
    await expect(execute(reference)).rejects.toThrow(DomainError);
    await expect(execute(reference)).rejects.toThrow(`No API key matches ${reference}.`);
  });

  it('accepts the whole key, and does not repeat an unknown one in the error', async () => {
    const { key, secret } = await manageApiKeys.create(input);
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

describe('the use cases on PostgreSQL', () => {
  it('store only the SHA-256 and the prefix of a secret', async () => {
    const { key, secret } = await createAccessUseCases(database.dataSource).manageApiKeys.create(input);
    const [row] = await database.dataSource.query<[{ hash: Buffer; text: string; computed: Buffer }]>(
      'SELECT hash, k::text AS text, sha256($1::bytea) AS computed FROM access.api_keys k',
      [Buffer.from(secret)],
    );
    expect(row.hash).toEqual(row.computed);
    expect(row.text).toContain(key.prefix);
    expect(row.text).not.toContain(secret.slice(key.prefix.length, -6));
  });

  it('take a name with é as one code point and as two for one client', async () => {
    const { manageApiKeys, manageClients, authenticateApiKey } = createAccessUseCases(database.dataSource);
    const names = ['Caf\u00e9', 'Cafe\u0301'];
    const keys = await Promise.all(names.map((clientName) => manageApiKeys.create({ ...input, clientName })));
    expect(await manageClients.list()).toEqual([expect.objectContaining({ name: names[0] })]);
    for (const clientName of names) expect(await manageApiKeys.list({ clientName })).toHaveLength(2);
    await manageClients.disable('Cafe\u0301');
    for (const { secret } of keys)
      await expect(authenticateApiKey.execute(secret)).rejects.toThrow(expect.objectContaining({ code: 'invalid_api_key' }));
  });

  it('return identifiers exactly over the whole range of int64', async () => {
    for (const table of ['clients', 'api_keys']) {
      await database.dataSource.query(`SELECT setval(pg_get_serial_sequence('access.${table}', 'id'), $1)`, [INT64_MAX - 1n]);
    }
    const { manageApiKeys, authenticateApiKey } = createAccessUseCases(database.dataSource);
    const { secret } = await manageApiKeys.create(input);
    expect(await authenticateApiKey.execute(secret)).toMatchObject({ clientId: INT64_MAX, keyId: INT64_MAX });
    expect((await manageApiKeys.list())[0]?.key).toMatchObject({ id: INT64_MAX, client: { id: INT64_MAX } });
    expect(await manageApiKeys.revoke(String(INT64_MAX))).toMatchObject({ id: INT64_MAX });
  });

  it('authenticate a key until its end, in every process', async () => {
    const access = await connectAccessUseCases(database.url);
    const elsewhere = createAccessUseCases(database.dataSource);
    try {
      const { key, secret } = await access.manageApiKeys.create(input);
      expect(isApiKeySecret(secret)).toBe(true);
      const principal = { clientId: key.client.id, clientName: 'acme', keyId: key.id, scopes: input.scopes, rateLimit: undefined };
      expect(await elsewhere.authenticateApiKey.execute(secret)).toEqual(principal);

      const rotated = await access.manageApiKeys.rotate(String(key.id));
      expect(await elsewhere.authenticateApiKey.execute(rotated.secret)).toEqual({ ...principal, keyId: rotated.key.id });
      await access.manageApiKeys.revoke(rotated.key.prefix);
      const fresh = createAccessUseCases(database.dataSource).authenticateApiKey;
      await expect(fresh.execute(rotated.secret)).rejects.toThrow(expect.objectContaining({ code: 'invalid_api_key' }));
      expect(await fresh.execute(secret)).toEqual(principal);
      expect((await access.manageApiKeys.list()).map(({ state }) => state)).toEqual(['active', 'revoked']);
    } finally {
      await access.close();
    }
  });

  it('report an unavailable database instead of an invalid key', async () => {
    const proxy = await TcpProxy.start(database.url);
    const access = await connectAccessUseCases(proxy.url);
    try {
      const { secret } = await access.manageApiKeys.create(input);
      await proxy.cut();
      const error: unknown = await Promise.resolve(access.authenticateApiKey.execute(secret)).catch((reason: unknown) => reason);
      expect(error).not.toBeInstanceOf(DomainError);
      expect(isDatabaseUnavailable(error)).toBe(true);
    } finally {
      await access.close();
    }
  });
});
