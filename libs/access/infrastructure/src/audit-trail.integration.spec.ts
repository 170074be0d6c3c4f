import { hash } from 'node:crypto';
import { type ApiKey, type AuditEvent, disableClient, enableClient, type Operator } from '@animal-store/access-domain';
import { useDatabase } from '@animal-store/test-kit';
import { beforeEach, describe, expect, it } from '@jest/globals';
import { accessPersistence } from './access-persistence.js';
import { aNewApiKey } from './testing/api-key-builder.js';
import { TypeOrmApiKeyRepository } from './typeorm-api-key-repository.js';

const noon = new Date('2026-11-21T12:00:00.123Z');
const after = (ms: number) => new Date(noon.getTime() + ms);

const database = useDatabase(accessPersistence);
let keys: TypeOrmApiKeyRepository;

beforeEach(async () => {
  await database.empty();
  keys = new TypeOrmApiKeyRepository(database.dataSource, 'carol' as Operator);
});

describe('writes an audit trail', () => {
  const trail = async (page: Parameters<TypeOrmApiKeyRepository['listAudit']>[0] = { limit: 100 }) => keys.listAudit(page);
  const actions = async () => (await trail()).map(({ action }) => action);
  const rotate = (key: ApiKey) => key.rotate(after(1), 1000);

  it('of every change: what, who and when', async () => {
    const first = await keys.add(aNewApiKey({ createdAt: noon, rateLimit: 7, scopes: ['pets:read', 'pets:write'] }));
    const rotated = await keys.replace(first.id, rotate);
    await keys.update(first.id, (key) => key.revoke(after(2)));
    await keys.updateClient('acme', (client) => ({ ...disableClient(client, after(3)), rateLimit: undefined }));
    await keys.updateClient('acme', enableClient);
    const events = await trail();
    const client = { clientId: first.client.id, clientName: 'acme', operator: 'carol' };
    const key = { ...client, keyId: first.id, keyPrefix: first.prefix };
    const expected = [
      { ...client, action: 'enable', details: {} },
      { ...client, action: 'disable', details: {} },
      { ...client, action: 'set-rate-limit', details: { from: 7, to: null } },
      { ...key, action: 'revoke', details: {} },
      {
        ...key,
        action: 'rotate',
        details: {
          expiresAt: after(1001).toISOString(),
          successorId: String(rotated?.successor.id),
          successorPrefix: rotated?.successor.prefix,
        },
      },
      { ...key, action: 'create', details: { scopes: 'pets:read pets:write', expiresAt: null } },
      { ...client, action: 'set-rate-limit', details: { from: null, to: 7 } },
    ];
    expect(events).toEqual(expected.map((event) => expect.objectContaining(event)));
    const times = events.map(({ occurredAt }) => occurredAt.getTime());
    expect(times).toEqual(times.toSorted((a, b) => b - a));
    expect(Date.now() - (times[0] ?? 0)).toBeLessThan(3_600_000);
    expect(new Set(events.map(({ databaseRole }) => databaseRole)).size).toBe(1);
  });

  it('without calls that change nothing or fail', async () => {
    const { id, secret } = { ...aNewApiKey(), ...(await keys.add(aNewApiKey({ createdAt: noon }))) };
    await keys.add({ ...aNewApiKey(), secret });
    const before = await actions();
    await expect(keys.add({ ...aNewApiKey({ rateLimit: 7 }), secret })).rejects.toThrow();
    await expect(keys.replace(id, (key) => ({ ...rotate(key), successor: { ...aNewApiKey(), secret } }))).rejects.toThrow();
    await keys.addIfNone(aNewApiKey({ createdAt: noon }));
    await keys.update(id, (key) => key);
    await keys.updateClient('acme', (client) => ({ ...client }));
    await keys.recordUse(id, noon);
    expect(await actions()).toEqual(before);
  });

  it('of a revocation once, however often a key is revoked', async () => {
    const { id } = await keys.add(aNewApiKey({ createdAt: noon }));
    for (const at of [after(1), after(2)]) await keys.update(id, (key) => key.revoke(at));
    await keys.replace(id, (key) => ({ retired: key, successor: aNewApiKey() }));
    expect(await actions()).toEqual(['rotate', 'revoke', 'create']);
    expect((await keys.update(id, (key) => key.revoke(after(3))))?.revokedAt).toEqual(after(1));
    expect(await actions()).toHaveLength(3);
  });

  it('in pages that contain every event once', async () => {
    await Promise.all(Array.from({ length: 20 }, () => keys.add(aNewApiKey())));
    const all = await trail();
    expect(all).toHaveLength(20);
    const walked: AuditEvent[] = [];
    for (let page = await trail({ limit: 3 }); page.length > 0; page = await trail({ limit: 3, after: walked.at(-1)?.id })) {
      expect(page.length).toBeLessThanOrEqual(3);
      walked.push(...page);
    }
    expect(walked).toEqual(all);
  });

  it('without secrets', async () => {
    const key = aNewApiKey();
    const { id } = await keys.add(key);
    await keys.replace(id, rotate);
    const text = (await trail()).map((event) => Object.values({ ...event, details: JSON.stringify(event.details) }).join(' ')).join(' ');
    expect(text).toContain(key.prefix);
    for (const hidden of [key.secret.slice(key.prefix.length), hash('sha256', key.secret, 'hex')]) expect(text).not.toContain(hidden);
  });
});

describe('the audit trail', () => {
  it('has every event once in its pages, even if events have the same time', async () => {
    for (let i = 0; i < 5; i++) await keys.add(aNewApiKey());
    await database.dataSource.query('UPDATE access.audit_events SET occurred_at = now()');
    const all = await keys.listAudit({ limit: 100 });
    expect(all.map(({ id }) => id)).toEqual([5n, 4n, 3n, 2n, 1n]);
    const second = await keys.listAudit({ limit: 2, after: all[1]?.id });
    expect(second).toEqual(all.slice(2, 4));
    expect(await keys.listAudit({ limit: 2, after: second.at(-1)?.id })).toEqual(all.slice(4));
  });
});

describe('a change whose audit event cannot be written', () => {
  it('is rolled back', async () => {
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
