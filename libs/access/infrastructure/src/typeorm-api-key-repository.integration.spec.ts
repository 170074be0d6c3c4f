import { type ApiKey, type ApiKeyId, disableClient, enableClient, type Operator } from '@animal-store/access-domain';
import { INT64_MAX, INT64_MIN } from '@animal-store/kernel';
import { waitFor } from '@animal-store/local-postgres/testing';
import { useDatabase } from '@animal-store/test-kit';
import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import fc from 'fast-check';
import { accessPersistence } from './access-persistence.js';
import { createAccessUseCases } from './access-use-cases.js';
import { aNewApiKey } from './testing/api-key-builder.js';
import { TypeOrmApiKeyRepository } from './typeorm-api-key-repository.js';

const noon = new Date('2026-11-21T12:00:00.123Z');
const after = (ms: number) => new Date(noon.getTime() + ms);

const database = useDatabase(accessPersistence);
let keys: TypeOrmApiKeyRepository;
const theOnly = async (): Promise<ApiKey> => {
  const [key, ...others] = await keys.list();
  expect(others).toEqual([]);
  return key as ApiKey;
};

beforeEach(async () => {
  await database.empty();
  keys = new TypeOrmApiKeyRepository(database.dataSource, 'carol' as Operator);
});

it('finds added keys exactly', async () => {
  const scopes = fc.uniqueArray(fc.stringMatching(/^[a-z][a-z-]{0,10}:[a-z][a-z-]{0,10}$/), { minLength: 1, maxLength: 5 });
  const date = fc.date({ min: new Date('2000-01-01'), max: new Date('2100-01-01'), noInvalidDate: true });
  const lifetimeMs = fc.option(fc.integer({ min: 1, max: 2 ** 40 }), { nil: undefined });
  await fc.assert(
    fc.asyncProperty(scopes, date, lifetimeMs, async (scopes, createdAt, lifetimeMs) => {
      const expiresAt = lifetimeMs === undefined ? undefined : new Date(createdAt.getTime() + lifetimeMs);
      const key = aNewApiKey({ scopes, createdAt, expiresAt });
      const { secret, clientName, rateLimit, ...rest } = key;
      const added = await keys.add(key);
      expect(added).toEqual({ ...rest, id: added.id, client: { id: added.client.id, name: clientName, rateLimit } });
      expect(await keys.findBySecret(secret)).toEqual(added);
    }),
    { numRuns: 15 },
  );
});

it('finds keys concurrently with unknown ones', async () => {
  const added = [await keys.add(aNewApiKey()), await keys.add(aNewApiKey())];
  const [first, second] = [aNewApiKey({ clientName: 'globex' }), aNewApiKey({ clientName: 'initech' })];
  added.push(await keys.add(first), await keys.add(second));
  const found = await Promise.all([second, aNewApiKey(), first].map(({ secret }) => keys.findBySecret(secret)));
  expect(found).toEqual([added[3], undefined, added[2]]);
});

it('returns nothing for unknown keys and clients', async () => {
  await keys.add(aNewApiKey());
  expect(await keys.findBySecret(aNewApiKey().secret)).toBeUndefined();
  expect(await keys.list({ clientName: 'nobody' })).toEqual([]);
  expect(await keys.list({ prefix: 'ast_test_' })).toEqual([]);
  for (const id of [0n, -1n, INT64_MIN, INT64_MAX] as ApiKeyId[]) {
    expect(await keys.update(id, (key) => key)).toBeUndefined();
    expect(await keys.replace(id, (key) => ({ retired: key, successor: aNewApiKey() }))).toBeUndefined();
    await keys.recordUse(id, noon);
  }
});

it('lists by ascending identifier, by client, by prefix', async () => {
  const names = ['acme', 'Äpfel & Söhne', 'acme', "O'Hara", 'acme'];
  const added: ApiKey[] = [];
  for (const clientName of names) added.push(await keys.add(aNewApiKey({ clientName })));
  expect(await keys.list()).toEqual(added);
  expect(added.map(({ id }) => id)).toEqual(added.map(({ id }) => id).toSorted((a, b) => (a < b ? -1 : 1)));
  for (const clientName of names) {
    expect(await keys.list({ clientName })).toEqual(added.filter(({ client }) => client.name === clientName));
  }
  for (const { prefix } of added) expect(await keys.list({ prefix })).toEqual(added.filter((key) => key.prefix === prefix));
  expect(await keys.list({ clientName: 'acme', prefix: added[1]?.prefix })).toEqual([]);
});

it('creates a client once, with its first key, also if keys are added concurrently', async () => {
  const added = await Promise.all(Array.from({ length: 20 }, (_, i) => keys.add(aNewApiKey({ clientName: `client ${String(i % 2)}` }))));
  expect(new Set(added.map(({ id }) => id)).size).toBe(20);
  expect(new Set(added.map(({ client }) => `${String(client.id)} ${client.name}`)).size).toBe(2);
});

it('rejects an existing secret', async () => {
  const key = aNewApiKey();
  await keys.add(key);
  await expect(keys.add(key)).rejects.toThrow();
  await theOnly();
});

it.each([
  ['new', false],
  ['known', true],
])('addIfNone adds one of several concurrent keys to a client that is %s', async (_, isKnown) => {
  if (isKnown) await keys.add(aNewApiKey({ createdAt: noon, expiresAt: after(1) }));
  const before = await keys.list();
  const added = await Promise.all(Array.from({ length: 10 }, () => keys.addIfNone(aNewApiKey({ createdAt: after(1) }))));
  const actually = added.filter((key) => key !== undefined);
  expect(actually).toHaveLength(1);
  expect(await keys.list()).toEqual([...before, ...actually]);
  expect(await keys.addIfNone(aNewApiKey({ clientName: 'another', createdAt: noon }))).toBeDefined();
});

it('addIfNone ignores expired and revoked keys', async () => {
  const first = await keys.addIfNone(aNewApiKey({ createdAt: noon, expiresAt: after(10) }));
  expect(await keys.addIfNone(aNewApiKey({ createdAt: after(9) }))).toBeUndefined();
  const second = await keys.addIfNone(aNewApiKey({ createdAt: after(10) }));
  expect(second?.client).toEqual(first?.client);
  await keys.update(second?.id as ApiKeyId, (key) => key.revoke(after(11)));
  expect(await keys.addIfNone(aNewApiKey({ createdAt: after(12) }))).toBeDefined();
});

it('stores the revocation of one key', async () => {
  const added = aNewApiKey({ createdAt: noon });
  const { id } = await keys.add(added);
  const other = await keys.add(aNewApiKey());
  const revoked = await keys.update(id, (key) => key.revoke(after(5)));
  expect(revoked).toMatchObject({ id, createdAt: noon, revokedAt: after(5) });
  expect(await keys.findBySecret(added.secret)).toEqual(revoked);
  expect(await keys.list()).toEqual([revoked, other]);
});

it('replaces a key by its successor in one transaction', async () => {
  const old = await keys.add(aNewApiKey({ createdAt: noon }));
  const rotate = (key: ApiKey) => key.rotate(after(1), 1000);
  const replaced = await keys.replace(old.id, rotate);
  expect(replaced?.retired).toEqual({ ...old, expiresAt: after(1001) });
  expect(replaced?.successor).toMatchObject({ client: old.client, scopes: old.scopes, expiresAt: undefined });
  expect(await keys.list()).toEqual([replaced?.retired, replaced?.successor]);

  const taken = aNewApiKey();
  await keys.add(taken);
  const before = await keys.list();
  const successorTaken = (key: ApiKey) => ({ retired: key.revoke(after(2)), successor: taken });
  await expect(keys.replace(old.id, successorTaken)).rejects.toThrow();
  const error = new Error('no');
  const fail = () => {
    throw error;
  };
  await expect(keys.replace(old.id, fail)).rejects.toBe(error);
  await expect(keys.update(old.id, fail)).rejects.toBe(error);
  expect(await keys.list()).toEqual(before);
});

it('runs concurrent changes of a key one after the other', async () => {
  // A rotation that read the key before its revocation would undo it.
  const revokeAndRotate = async () => {
    const { id } = await keys.add(aNewApiKey({ createdAt: noon }));
    await Promise.allSettled([keys.update(id, (key) => key.revoke(after(1))), keys.replace(id, (key) => key.rotate(after(1), 1000))]);
    return id;
  };
  const ids = await Promise.all(Array.from({ length: 20 }, revokeAndRotate));
  const states = (await keys.list()).filter(({ id }) => ids.includes(id)).map((key) => key.stateAt(noon));
  expect(states).toEqual(ids.map(() => 'revoked'));
});

it('runs concurrent changes of a client one after the other', async () => {
  // A change that read the client before the other one would undo it.
  const names = Array.from({ length: 20 }, (_, i) => `client ${String(i)}`);
  for (const clientName of names) await keys.add(aNewApiKey({ clientName, createdAt: noon }));
  await Promise.all(
    names.flatMap((name) => [
      keys.updateClient(name, (client) => disableClient(client, after(1))),
      keys.updateClient(name, (client) => ({ ...client, rateLimit: 7 })),
      keys.add(aNewApiKey({ clientName: name, createdAt: noon })),
    ]),
  );
  const expected = names.map((name) => expect.objectContaining({ name, rateLimit: 7, disabledAt: after(1) }) as unknown);
  expect(await keys.listClients()).toEqual(expected);
});

it('stores a change of a client for all of its keys', async () => {
  const added = aNewApiKey({ createdAt: noon });
  const { client } = await keys.add(added);
  const other = await keys.add(aNewApiKey({ clientName: 'another' }));
  const disabled = await keys.updateClient('acme', (before) => ({ ...disableClient(before, after(5)), rateLimit: 0 }));
  expect(disabled).toEqual({ ...client, rateLimit: 0, disabledAt: after(5) });
  expect((await keys.findBySecret(added.secret))?.client).toEqual(disabled);
  expect(await keys.listClients()).toEqual([disabled, other.client]);
  const enabled = await keys.updateClient('acme', (before) => ({ ...enableClient(before), rateLimit: undefined }));
  expect(enabled).toEqual(client);
  expect(await keys.listClients()).toEqual([client, other.client]);
  expect(await keys.updateClient('nobody', (before) => before)).toBeUndefined();
});

it('sets the limit of a client if a key is added with one', async () => {
  const limit = async (rateLimit?: number) => {
    await keys.add(aNewApiKey({ rateLimit }));
    return (await keys.listClients()).map((client) => client.rateLimit);
  };
  expect(await limit()).toEqual([undefined]);
  expect(await limit(100)).toEqual([100]);
  expect(await limit()).toEqual([100]);
  expect(await limit(0)).toEqual([0]);
  expect(await keys.addIfNone(aNewApiKey({ rateLimit: 7 }))).toBeUndefined();
  expect((await keys.listClients())[0]?.rateLimit).toBe(0);
});

it('addIfNone adds no key to a disabled client that has one', async () => {
  await keys.add(aNewApiKey({ createdAt: noon }));
  await keys.updateClient('acme', (client) => disableClient(client, noon));
  expect(await keys.addIfNone(aNewApiKey({ createdAt: noon }))).toBeUndefined();
});

it('records the last use, at most once a minute', async () => {
  await keys.add(aNewApiKey({ createdAt: noon }));
  const { id } = await keys.add(aNewApiKey({ createdAt: noon }));
  const lastUse = async (at: Date) => {
    await keys.recordUse(id, at);
    const [other, used] = await keys.list();
    expect(other?.lastUsedAt).toBeUndefined();
    return used?.lastUsedAt;
  };
  expect(await lastUse(after(1000))).toEqual(after(1000));
  expect(await lastUse(after(60_999))).toEqual(after(1000));
  expect(await lastUse(after(500))).toEqual(after(1000));
  expect(await lastUse(after(61_000))).toEqual(after(61_000));
  // The clock was an hour ahead, and was corrected.
  expect(await lastUse(after(-3_600_000))).toEqual(after(-3_600_000));
});

describe('concurrent lookups', () => {
  it('share queries', async () => {
    const find = jest.spyOn(database.dataSource.manager, 'createQueryBuilder');
    await Promise.all(Array.from({ length: 90 }, () => keys.findBySecret(aNewApiKey().secret)));
    // The first lookup does not wait for the others.
    expect(find).toHaveBeenCalledTimes(2);
    find.mockRestore();
  });
});

describe('an API key that a trigger', () => {
  const trigger = (body: string, event = 'INSERT', table = 'api_keys') =>
    database.dataSource.query(`
      CREATE OR REPLACE FUNCTION access.probe() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN ${body} END $$;
      CREATE OR REPLACE TRIGGER probe BEFORE ${event} ON access.${table} FOR EACH ROW EXECUTE FUNCTION access.probe()`);
  afterEach(() => database.dataSource.query('DROP FUNCTION IF EXISTS access.probe CASCADE'));

  it('rejects is not reported as created', async () => {
    await trigger('RETURN NULL;');
    await expect(keys.add(aNewApiKey())).rejects.toThrow('did not store the API key');
  });

  it('changes is reported as it is stored', async () => {
    await trigger(`NEW.scopes := '{pets:read}'; RETURN NEW;`);
    expect(await keys.add(aNewApiKey({ scopes: ['pets:read', 'pets:write'] }))).toMatchObject({ scopes: ['pets:read'] });
  });

  it('keeps valid is not reported as revoked', async () => {
    const { id } = await keys.add(aNewApiKey());
    await trigger('RETURN NULL;', 'UPDATE');
    await expect(keys.update(id, (key) => key.revoke(noon))).rejects.toThrow('did not store the change');
    await trigger('NEW.revoked_at := NULL; RETURN NEW;', 'UPDATE');
    expect((await keys.update(id, (key) => key.revoke(noon)))?.revokedAt).toBeUndefined();
    await trigger('NEW.disabled_at := NULL; RETURN NEW;', 'UPDATE', 'clients');
    expect(await keys.updateClient('acme', (client) => disableClient(client, noon))).toMatchObject({ disabledAt: undefined });
  });
});

describe('a rate limit for a client that another process is changing', () => {
  it('waits for that change and keeps it', async () => {
    const key = aNewApiKey();
    await keys.add(key);
    const other = database.dataSource.createQueryRunner();
    await other.startTransaction();
    await other.query('UPDATE access.clients SET disabled_at = now(), rate_limit = 7');
    const added = keys.add(aNewApiKey({ clientName: key.clientName, rateLimit: 5 }));
    const waiting = `SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`;
    await waitFor(async () => expect(await database.dataSource.query(waiting)).toHaveLength(1));
    await other.commitTransaction();
    await other.release();
    await added;
    expect(await keys.listClients()).toEqual([expect.objectContaining({ rateLimit: 5, disabledAt: expect.any(Date) })]);
    const events = await keys.listAudit({ limit: 100 });
    expect(events).toContainEqual(expect.objectContaining({ action: 'set-rate-limit', details: { from: 7, to: 5 } }));
  });
});

describe('a date that JavaScript cannot represent', () => {
  const columns = [
    ...['created_at', 'expires_at', 'revoked_at', 'last_used_at'].map((column) => `access.api_keys SET ${column}`),
    'access.clients SET disabled_at',
  ];

  // value-types.spec.ts has the other dates.
  it.each(columns)('%s = infinity: the key is rejected, listed, and can be revoked', async (assignment) => {
    await database.dataSource.query('ALTER TABLE access.api_keys DROP CONSTRAINT IF EXISTS api_keys_expires_at_check');
    await database.dataSource.query('ALTER TABLE access.api_keys DROP CONSTRAINT IF EXISTS api_keys_revoked_at_check');
    const access = createAccessUseCases(database.dataSource);
    const input = { clientName: 'acme', environment: 'spec', scopes: ['pets:read'], lifetimeMs: 60_000 };
    const { key, secret } = await access.manageApiKeys.create(input);
    const authenticate = async () => access.authenticateApiKey.execute(secret);
    await database.dataSource.query(`UPDATE ${assignment} = 'infinity'`);
    await expect(authenticate()).rejects.toMatchObject({ code: 'invalid_api_key' });
    const [listed] = await access.manageApiKeys.list();
    expect(listed?.state).toMatch(/^(?:expired|revoked|disabled)$/);
    await access.manageClients.setRateLimit('acme', 7);
    await access.manageClients.disable('acme');
    await access.manageApiKeys.revoke(String(key.id));
    await access.manageClients.enable('acme');
    await expect(authenticate()).rejects.toMatchObject({ code: 'invalid_api_key' });
    const [stored] = await database.dataSource.query<object[]>('SELECT revoked_at IS NOT NULL AS revoked FROM access.api_keys');
    expect(stored).toEqual({ revoked: true });
    // The client needs a new key.
    expect(await access.manageApiKeys.create({ ...input, ifNone: true })).toBeDefined();
  });
});
