import type { ManageApiKeys, ManageClients } from '@animal-store/access-application';
import { isApiKeySecret, issueApiKey, prefixOf } from '@animal-store/access-domain';
import { type Clock, INT64_MAX } from '@animal-store/kernel';
import { waitFor } from '@animal-store/local-postgres/testing';
import { useDatabase } from '@animal-store/test-kit';
import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import fc from 'fast-check';
import { accessPersistence } from './access-persistence.js';
import { type AccessUseCases, connectAccessUseCases, createAccessUseCases } from './access-use-cases.js';
import { TypeOrmApiKeyRepository } from './typeorm-api-key-repository.js';

const HOUR = 3_600_000;
const input = { clientName: 'acme', environment: 'test', scopes: ['pets:read', 'pets:write'] };
const invalid = expect.objectContaining({ code: 'invalid_api_key' });
const database = useDatabase(accessPersistence);
let now: Date;
const clock: Clock = { now: () => now };
const at = (ms: number) => new Date(now.getTime() + ms);
let keys: TypeOrmApiKeyRepository;
let access: AccessUseCases;
let manageApiKeys: ManageApiKeys;
let manageClients: ManageClients;

beforeEach(async () => {
  await database.empty();
  now = new Date('2026-11-21T12:00:00.123Z');
  keys = new TypeOrmApiKeyRepository(database.dataSource, 'carol');
  access = createAccessUseCases(database.dataSource, clock, 'carol');
  ({ manageApiKeys, manageClients } = access);
});

const listed = async () => (await manageApiKeys.list()).map(({ key }) => key);
const states = async () => (await manageApiKeys.list()).map(({ state }) => state);
const actions = async () => (await manageApiKeys.listAudit()).map(({ action }) => action);
/** Authenticates in a process that has not cached the key. */
const authenticate = async (secret: string) => createAccessUseCases(database.dataSource, clock).authenticateApiKey.execute(secret);

describe('creating a key', () => {
  it('stores any valid key exactly, and only the hash and the prefix of its secret', async () => {
    const scopes = fc.uniqueArray(fc.stringMatching(/^[a-z][a-z-]{0,10}:[a-z][a-z-]{0,10}$/), { minLength: 1, maxLength: 5 });
    const lifetimeMs = fc.option(fc.integer({ min: 1, max: 2 ** 40 }), { nil: undefined });
    await fc.assert(
      fc.asyncProperty(scopes, lifetimeMs, async (scopes, lifetimeMs) => {
        const { key, secret } = await manageApiKeys.create({ ...input, scopes, lifetimeMs });
        const expiresAt = lifetimeMs === undefined ? null : at(lifetimeMs);
        const client = { id: 1n, name: 'acme', rateLimit: null, disabledAt: null };
        const dates = { createdAt: now, expiresAt, revokedAt: null, lastUsedAt: null };
        expect(key).toEqual({ id: key.id, client, prefix: prefixOf(secret), scopes, ...dates });
        expect(isApiKeySecret(secret)).toBe(true);
        expect(await keys.findBySecret(secret)).toEqual(key);
        const [row] = await database.dataSource.query<[{ isHash: boolean; text: string }]>(
          'SELECT hash = sha256($1::bytea) AS "isHash", k::text AS text FROM access.api_keys k WHERE id = $2',
          [Buffer.from(secret), key.id],
        );
        expect(row.isHash).toBe(true);
        expect(row.text).not.toContain(secret.slice(key.prefix.length, -6));
      }),
      { numRuns: 15 },
    );
  });

  it.each([{ clientName: '' }, { lifetimeMs: 0 }, { lifetimeMs: 1e300 }])('keeps nothing of %o', async (wrong) => {
    await expect(manageApiKeys.create({ ...input, ...wrong })).rejects.toThrow(expect.objectContaining({ code: 'invalid_request' }));
    expect([await listed(), await manageClients.list()]).toEqual([[], []]);
  });

  it('creates a client once, also concurrently, and for a name with é as one code point and as two', async () => {
    const names = ['Caf\u00e9', 'Cafe\u0301'];
    const many = Array.from({ length: 10 }, () => names).flat();
    const created = await Promise.all(many.map((clientName) => manageApiKeys.create({ ...input, clientName })));
    expect(await manageClients.list()).toEqual([expect.objectContaining({ name: names[0] })]);
    for (const clientName of names) expect(await manageApiKeys.list(clientName)).toHaveLength(20);
    await manageClients.disable('Cafe\u0301');
    for (const { secret } of created) await expect(authenticate(secret)).rejects.toThrow(invalid);
  });
});

it('concurrent lookups share queries and find each key', async () => {
  const created = [await manageApiKeys.create(input), await manageApiKeys.create({ ...input, clientName: 'globex' })];
  const find = jest.spyOn(database.dataSource.manager, 'createQueryBuilder');
  const unknown = () => issueApiKey({ ...input, createdAt: now, expiresAt: null });
  const secrets = [...created, ...Array.from({ length: 90 }, unknown)].map(({ secret }) => secret);
  const found = await Promise.all(secrets.map((secret) => keys.findBySecret(secret)));
  // The first lookup does not wait for the others.
  expect(find).toHaveBeenCalledTimes(2);
  find.mockRestore();
  expect(found).toEqual([created[0]?.key, created[1]?.key, ...Array.from({ length: 90 }, () => undefined)]);
});

describe('a key', () => {
  it('is accepted until it is rotated or revoked, in every process', async () => {
    const other = await connectAccessUseCases(database.url);
    try {
      const { key, secret } = await other.manageApiKeys.create(input);
      const principal = { clientId: key.client.id, clientName: 'acme', keyId: key.id, scopes: input.scopes, rateLimit: undefined };
      expect(await authenticate(secret)).toEqual(principal);
      now = new Date();
      const rotated = await manageApiKeys.rotate(key.id);
      expect(rotated.key).toMatchObject({ client: key.client, scopes: input.scopes, createdAt: now, expiresAt: null });
      expect(rotated.retired).toMatchObject({ id: key.id, expiresAt: at(24 * HOUR) });
      expect(await authenticate(rotated.secret)).toEqual({ ...principal, keyId: rotated.key.id });
      expect(await authenticate(secret)).toEqual(principal);
      await waitFor(async () => expect((await listed()).map(({ lastUsedAt }) => lastUsedAt)).not.toContain(null));
      expect(await manageApiKeys.revoke(rotated.key.id)).toEqual({ ...rotated.key, lastUsedAt: expect.any(Date), revokedAt: now });
      await expect(authenticate(rotated.secret)).rejects.toThrow(invalid);
      expect(await states()).toEqual(['active', 'revoked']);
      now = at(24 * HOUR);
      await expect(authenticate(secret)).rejects.toThrow(invalid);
      expect(await states()).toEqual(['expired', 'revoked']);
    } finally {
      await other.close();
    }
  });

  it('is revoked once, and cannot be rotated afterwards', async () => {
    const { key } = await manageApiKeys.create(input);
    const revoked = await manageApiKeys.revoke(key.id);
    now = at(HOUR);
    expect(await manageApiKeys.revoke(key.id)).toEqual(revoked);
    await expect(manageApiKeys.rotate(key.id)).rejects.toThrow('The API key is revoked.');
    expect(await actions()).toEqual(['revoke', 'create']);
  });

  it('has an exact id over the whole range of int64', async () => {
    for (const table of ['clients', 'api_keys'])
      await database.dataSource.query(`SELECT setval(pg_get_serial_sequence('access.${table}', 'id'), $1)`, [INT64_MAX - 1n]);
    const { secret } = await manageApiKeys.create(input);
    expect(await authenticate(secret)).toMatchObject({ clientId: INT64_MAX, keyId: INT64_MAX });
    expect(await manageApiKeys.revoke(INT64_MAX)).toMatchObject({ id: INT64_MAX, client: { id: INT64_MAX } });
  });
});

it('the last use is recorded at most once a minute', async () => {
  await manageApiKeys.create(input);
  const { key } = await manageApiKeys.create(input);
  const lastUse = async (ms: number) => {
    await keys.recordUse(key.id, at(ms));
    const [other, used] = await listed();
    expect(other?.lastUsedAt).toBeNull();
    return (used?.lastUsedAt?.getTime() ?? NaN) - now.getTime();
  };
  expect([await lastUse(1000), await lastUse(60_999), await lastUse(500), await lastUse(61_000)]).toEqual([1000, 1000, 1000, 61_000]);
  // The clock was an hour ahead, and was corrected.
  expect(await lastUse(-HOUR)).toBe(-HOUR);
  await database.dataSource.transaction(async (manager) => {
    await manager.query('SELECT FROM access.api_keys FOR UPDATE');
    expect(await lastUse(HOUR)).toBe(-HOUR);
  });
});

describe('a client', () => {
  it('is disabled with its keys, limited, and enabled again', async () => {
    const { key, secret } = await manageApiKeys.create(input);
    const disabled = await manageClients.disable('acme');
    expect(disabled).toEqual({ ...key.client, disabledAt: now });
    expect(await states()).toEqual(['disabled']);
    await expect(authenticate(secret)).rejects.toThrow(invalid);
    now = at(HOUR);
    expect(await manageClients.disable('acme')).toEqual(disabled);
    expect(await manageClients.setRateLimit('acme', 0)).toEqual({ ...disabled, rateLimit: 0 });
    expect(await manageClients.enable('acme')).toEqual({ ...key.client, rateLimit: 0 });
    expect(await authenticate(secret)).toMatchObject({ rateLimit: 0 });
    expect(await manageClients.setRateLimit('acme', null)).toEqual(key.client);
    expect(await manageClients.list()).toEqual([key.client]);
  });

  it.each([-1, 1.5, 1_000_000_001, NaN])('has no rate limit of %s', async (rateLimit) => {
    await expect(manageClients.setRateLimit('acme', rateLimit)).rejects.toThrow(/^rate limit must/);
  });
});

/** Starts the call while another transaction runs the statement. Commits when the call waits for it. */
async function behind<Result>(statement: string, call: () => Promise<Result>): Promise<PromiseSettledResult<Result>> {
  const other = database.dataSource.createQueryRunner();
  await other.startTransaction();
  await other.query(statement);
  const settled = Promise.allSettled([call()]);
  const waiting = `SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`;
  await waitFor(async () => expect(await database.dataSource.query(waiting)).toHaveLength(1));
  await other.commitTransaction();
  await other.release();
  return (await settled)[0];
}

it('a change waits for an earlier one of the same key or client, and decides afterwards', async () => {
  const { key } = await manageApiKeys.create(input);
  await behind('UPDATE access.clients SET disabled_at = now(), rate_limit = 7', () => manageClients.setRateLimit('acme', 5));
  expect(await manageClients.list()).toEqual([expect.objectContaining({ rateLimit: 5, disabledAt: expect.any(Date) })]);
  expect((await manageApiKeys.listAudit())[0]?.details).toEqual({ from: 7, to: 5 });
  const rotated = await behind('UPDATE access.api_keys SET revoked_at = now()', () => manageApiKeys.rotate(key.id));
  expect(rotated).toMatchObject({ status: 'rejected', reason: { message: 'The API key is revoked.' } });
  expect(await listed()).toHaveLength(1);
  const before = await actions();
  await database.dataSource.query('UPDATE access.api_keys SET revoked_at = NULL');
  await behind(`UPDATE access.api_keys SET revoked_at = '${at(HOUR).toISOString()}'`, () => manageApiKeys.revoke(key.id));
  expect(await listed()).toEqual([expect.objectContaining({ revokedAt: at(HOUR) })]);
  expect(await actions()).toEqual(before);
  const create = () => manageApiKeys.create({ ...input, clientName: 'globex' });
  expect(await behind(`INSERT INTO access.clients (name) VALUES ('globex')`, create)).toMatchObject({ status: 'fulfilled' });
  await manageClients.setRateLimit('acme', 6);
  expect((await manageClients.list()).map(({ name }) => name)).toEqual(['acme', 'globex']);
});

describe('the audit trail', () => {
  it('says what was changed, by whom and when, without secrets', async () => {
    const { key: first, secret } = await manageApiKeys.create(input);
    const rotated = await manageApiKeys.rotate(first.id, 1000);
    await manageApiKeys.revoke(first.id);
    await manageClients.setRateLimit('acme', 7);
    await manageClients.disable('acme');
    await manageClients.enable('acme');
    const client = { operator: 'carol', clientId: first.client.id, clientName: 'acme', keyId: null, keyPrefix: null };
    const key = { ...client, keyId: first.id, keyPrefix: first.prefix };
    const successor = { successorId: String(rotated.key.id), successorPrefix: rotated.key.prefix };
    const expected = [
      { ...client, action: 'enable', details: {} },
      { ...client, action: 'disable', details: {} },
      { ...client, action: 'set-rate-limit', details: { from: null, to: 7 } },
      { ...key, action: 'revoke', details: {} },
      { ...key, action: 'rotate', details: { expiresAt: at(1000).toISOString(), ...successor } },
      { ...key, action: 'create', details: { scopes: 'pets:read pets:write', expiresAt: null } },
    ];
    const events = await manageApiKeys.listAudit();
    expect(events).toEqual(expected.map((event) => expect.objectContaining(event)));
    expect(await manageApiKeys.listAudit(2)).toEqual(events.slice(0, 2));
    const times = events.map(({ occurredAt }) => occurredAt.getTime());
    expect(times).toEqual(times.toSorted((a, b) => b - a));
    expect(Date.now() - (times[0] ?? 0)).toBeLessThan(HOUR);
    expect(new Set(events.map(({ databaseRole }) => databaseRole)).size).toBe(1);
    const text = events.map((event) => Object.values({ ...event, details: JSON.stringify(event.details) }).join(' ')).join(' ');
    for (const hidden of [secret, rotated.secret]) expect(text).not.toContain(hidden.slice(prefixOf(hidden).length));
    const more = `SELECT operator, action, client_id, client_name, details FROM access.audit_events, generate_series(1, 10)`;
    await database.dataSource.query(`INSERT INTO access.audit_events (operator, action, client_id, client_name, details) ${more}`);
    expect(await manageApiKeys.listAudit()).toHaveLength(50);
  });

  it('has no event of a call that changes nothing', async () => {
    await manageApiKeys.create(input);
    await manageClients.enable('acme');
    await manageClients.setRateLimit('acme', null);
    await keys.recordUse(1n, now);
    expect(await actions()).toEqual(['create']);
  });

  it('and the change are one transaction', async () => {
    const { key } = await manageApiKeys.create(input);
    const state = async () => [await listed(), await manageClients.list(), await manageApiKeys.listAudit()];
    const before = await state();
    // The database rejects this name.
    const unaudited = createAccessUseCases(database.dataSource, clock, 'x'.repeat(101));
    const changes = [
      unaudited.manageApiKeys.create({ ...input, clientName: 'another' }),
      unaudited.manageApiKeys.revoke(key.id),
      unaudited.manageApiKeys.rotate(key.id),
      unaudited.manageClients.disable('acme'),
      unaudited.manageClients.setRateLimit('acme', 6),
    ];
    for (const change of await Promise.allSettled(changes))
      expect(change).toMatchObject({ status: 'rejected', reason: { constraint: 'audit_events_operator_check' } });
    expect(await state()).toEqual(before);
  });
});

describe('what a trigger', () => {
  const trigger = (body: string, event = 'INSERT', table = 'api_keys') =>
    database.dataSource.query(`
      CREATE OR REPLACE FUNCTION access.probe() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN ${body} END $$;
      CREATE OR REPLACE TRIGGER probe BEFORE ${event} ON access.${table} FOR EACH ROW EXECUTE FUNCTION access.probe()`);
  afterEach(() => database.dataSource.query('DROP FUNCTION IF EXISTS access.probe CASCADE'));
  const notStored = 'The database did not store the change';

  it.each(['clients', 'api_keys', 'audit_events'])('rejects in %s is not reported as created', async (table) => {
    await trigger('RETURN NULL;', 'INSERT', table);
    await expect(manageApiKeys.create(input)).rejects.toThrow(notStored);
  });

  it('changes is reported as it is stored', async () => {
    await trigger(`NEW.scopes := '{pets:read}'; RETURN NEW;`);
    expect((await manageApiKeys.create(input)).key).toMatchObject({ scopes: ['pets:read'] });
    expect((await manageApiKeys.listAudit())[0]?.details).toMatchObject({ scopes: 'pets:read' });
  });

  it('keeps valid is not reported as revoked or disabled', async () => {
    const { key } = await manageApiKeys.create(input);
    for (const body of ['RETURN NULL;', 'NEW.revoked_at := NULL; RETURN NEW;']) {
      await trigger(body, 'UPDATE');
      await expect(manageApiKeys.revoke(key.id)).rejects.toThrow(notStored);
    }
    await trigger('RETURN NULL;', 'UPDATE');
    await expect(manageApiKeys.rotate(key.id)).rejects.toThrow(notStored);
    await trigger('RETURN NULL;', 'UPDATE', 'clients');
    await expect(manageClients.disable('acme')).rejects.toThrow(notStored);
    await trigger('NEW.disabled_at := NULL; RETURN NEW;', 'UPDATE', 'clients');
    expect(await manageClients.disable('acme')).toMatchObject({ disabledAt: null });
    expect(await actions()).toEqual(['create']);
  });
});

// database-client.spec.ts has the other dates that JavaScript cannot represent.
it.each([
  ...['created_at', 'expires_at', 'revoked_at', 'last_used_at'].map((column) => `access.api_keys SET ${column}`),
  'access.clients SET disabled_at',
])('%s = infinity: the key is rejected and listed, and it and its client can be changed', async (assignment) => {
  for (const column of ['expires_at', 'revoked_at'])
    await database.dataSource.query(`ALTER TABLE access.api_keys DROP CONSTRAINT IF EXISTS api_keys_${column}_check`);
  const { key, secret } = await manageApiKeys.create({ ...input, lifetimeMs: HOUR });
  await database.dataSource.query(`UPDATE ${assignment} = 'infinity'`);
  await expect(authenticate(secret)).rejects.toThrow(invalid);
  expect(await states()).toEqual([expect.stringMatching(/^(?:expired|revoked|disabled)$/)]);
  await manageClients.setRateLimit('acme', 7);
  await manageClients.disable('acme');
  await manageApiKeys.revoke(key.id);
  await manageClients.enable('acme');
  await expect(authenticate(secret)).rejects.toThrow(invalid);
  expect(await states()).toEqual(['revoked']);
});
