import { disableClient, isApiKeySecret, type Operator } from '@animal-store/access-domain';
import { aNewApiKey, describeApiKeyRepository } from '@animal-store/access-testing';
import { isDatabaseUnavailable } from '@animal-store/database';
import { DomainError, INT64_MAX, SystemClock } from '@animal-store/kernel';
import { useDatabase } from '@animal-store/test-kit';
import { TcpProxy, waitFor } from '@animal-store/local-postgres/testing';
import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { connectAccessUseCases, createAccessUseCases } from './access-use-cases.js';
import { accessPersistence } from './access-persistence.js';
import { TypeOrmApiKeyRepository } from './typeorm-api-key-repository.js';

const database = useDatabase(accessPersistence);

describeApiKeyRepository('TypeOrmApiKeyRepository', 'carol', async () => {
  await database.empty();
  return new TypeOrmApiKeyRepository(database.dataSource, 'carol' as Operator);
});

describe('concurrent lookups', () => {
  it('share queries', async () => {
    const keys = new TypeOrmApiKeyRepository(database.dataSource, 'carol' as Operator);
    const find = jest.spyOn(database.dataSource.manager, 'createQueryBuilder');
    await Promise.all(Array.from({ length: 90 }, () => keys.findBySecret(aNewApiKey().secret)));
    // The first lookup does not wait for the others.
    expect(find).toHaveBeenCalledTimes(2);
    find.mockRestore();
  });
});

describe('an API key that a trigger', () => {
  const keys = () => new TypeOrmApiKeyRepository(database.dataSource, 'carol' as Operator);
  const trigger = (body: string) =>
    database.dataSource.query(`
      CREATE OR REPLACE FUNCTION access.probe() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN ${body} END $$;
      CREATE OR REPLACE TRIGGER probe BEFORE INSERT ON access.api_keys FOR EACH ROW EXECUTE FUNCTION access.probe()`);
  afterEach(() => database.dataSource.query('DROP FUNCTION IF EXISTS access.probe CASCADE'));

  it('rejects is not reported as created', async () => {
    await trigger('RETURN NULL;');
    await expect(keys().add(aNewApiKey())).rejects.toThrow('did not store the API key');
  });

  it('changes is reported as it is stored', async () => {
    await trigger(`NEW.scopes := '{pets:read}'; RETURN NEW;`);
    expect(await keys().add(aNewApiKey({ scopes: ['pets:read', 'pets:write'] }))).toMatchObject({ scopes: ['pets:read'] });
  });
});

describe('the audit trail', () => {
  it('has every event once in its pages, even if events have the same time', async () => {
    await database.empty();
    const keys = new TypeOrmApiKeyRepository(database.dataSource, 'carol' as Operator);
    for (let i = 0; i < 5; i++) await keys.add(aNewApiKey());
    await database.dataSource.query('UPDATE access.audit_events SET occurred_at = now()');
    const all = await keys.listAudit({ limit: 100 });
    expect(all.map(({ id }) => id)).toEqual([5n, 4n, 3n, 2n, 1n]);
    const second = await keys.listAudit({ limit: 2, after: all[1]?.id });
    expect(second).toEqual(all.slice(2, 4));
    expect(await keys.listAudit({ limit: 2, after: second.at(-1)?.id })).toEqual(all.slice(4));
  });
});

describe('a rate limit for a client that another process is changing', () => {
  it('waits for that change and keeps it', async () => {
    await database.empty();
    const keys = new TypeOrmApiKeyRepository(database.dataSource, 'carol' as Operator);
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
    await database.empty();
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

describe('a change whose audit event cannot be written', () => {
  it('is rolled back', async () => {
    await database.empty();
    const keys = new TypeOrmApiKeyRepository(database.dataSource, 'carol' as Operator);
    // The database rejects this name.
    const unaudited = new TypeOrmApiKeyRepository(database.dataSource, 'x'.repeat(101) as Operator);
    const { id } = await keys.add(aNewApiKey({ rateLimit: 5 }));
    const state = async () => [await keys.list(), await keys.listClients(), await keys.listAudit({ limit: 100 })];
    const before = await state();
    const changes = [
      unaudited.add(aNewApiKey()),
      unaudited.add(aNewApiKey({ clientName: 'another' })),
      unaudited.addIfNone(aNewApiKey({ clientName: 'another' })),
      unaudited.update(id, (key) => key.revoke(new Date())),
      unaudited.replace(id, (key) => key.rotate(new Date(), 0)),
      unaudited.updateClient('acme', (client) => disableClient(client, new Date())),
      unaudited.updateClient('acme', (client) => ({ ...client, rateLimit: 6 })),
    ];
    for (const change of await Promise.allSettled(changes)) {
      expect(change).toMatchObject({ status: 'rejected', reason: { constraint: 'audit_events_operator_check' } });
    }
    expect(await state()).toEqual(before);
  });
});

describe('the use cases on PostgreSQL', () => {
  const input = { clientName: 'acme', environment: 'local', scopes: ['pets:read', 'pets:write'] };

  beforeEach(() => database.empty());

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
    const elsewhere = createAccessUseCases(database.dataSource, new SystemClock());
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
