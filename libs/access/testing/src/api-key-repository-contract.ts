import type { ApiKey, ApiKeyId, ApiKeyRepository, KeyHash } from '@animal-store/access-domain';
import { INT64_MAX, INT64_MIN } from '@animal-store/kernel';
import { beforeEach, describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { aNewApiKey, TestKeyHasher } from './api-key-builder.js';

const noon = new Date('2026-11-21T12:00:00.123Z');
const after = (ms: number) => new Date(noon.getTime() + ms);
const hasher = new TestKeyHasher();

/** What every adapter of the port has to keep; `empty` gives one without clients and keys. */
export function describeApiKeyRepository(adapterName: string, empty: () => Promise<ApiKeyRepository>): void {
  describe(`${adapterName} keeps the contract of ApiKeyRepository`, () => {
    let keys: ApiKeyRepository;
    const theOnly = async (): Promise<ApiKey> => {
      const [key, ...others] = await keys.list();
      expect(others).toEqual([]);
      return key as ApiKey;
    };

    beforeEach(async () => {
      keys = await empty();
    });

    it('finds what was added, exactly', async () => {
      const scopes = fc.uniqueArray(fc.stringMatching(/^[a-z][a-z-]{0,10}:[a-z][a-z-]{0,10}$/), { minLength: 1, maxLength: 5 });
      const date = fc.date({ min: new Date('2000-01-01'), max: new Date('2100-01-01'), noInvalidDate: true });
      const lifetimeMs = fc.option(fc.integer({ min: 1, max: 2 ** 40 }), { nil: undefined });
      await fc.assert(
        fc.asyncProperty(scopes, date, lifetimeMs, async (scopes, createdAt, lifetimeMs) => {
          const expiresAt = lifetimeMs === undefined ? undefined : new Date(createdAt.getTime() + lifetimeMs);
          const key = aNewApiKey({ scopes, createdAt, expiresAt });
          const { hash, clientName, ...rest } = key;
          const added = await keys.add(key);
          expect(added).toEqual({ ...rest, id: added.id, client: { id: added.client.id, name: clientName } });
          expect(await keys.findByHash(hash)).toEqual(added);
        }),
        { numRuns: 25 },
      );
    });

    it('finds nothing where nothing is', async () => {
      await keys.add(aNewApiKey());
      expect(await keys.findByHash('00'.repeat(32) as KeyHash)).toBeUndefined();
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

    it('makes a client with its first key, and once only, also when keys come at once', async () => {
      const added = await Promise.all(
        Array.from({ length: 20 }, (_, i) => keys.add(aNewApiKey({ clientName: `client ${String(i % 2)}` }))),
      );
      expect(new Set(added.map(({ id }) => id)).size).toBe(20);
      expect(new Set(added.map(({ client }) => `${String(client.id)} ${client.name}`)).size).toBe(2);
    });

    it('refuses a hash that is there', async () => {
      const key = aNewApiKey();
      await keys.add(key);
      await expect(keys.add(key)).rejects.toThrow();
      await theOnly();
    });

    it.each([
      ['new', false],
      ['known', true],
    ])('adds a key if none is there, one of several at once, to a client that is %s', async (_, isKnown) => {
      if (isKnown) await keys.add(aNewApiKey({ createdAt: noon, expiresAt: after(1) }));
      const before = await keys.list();
      const added = await Promise.all(Array.from({ length: 10 }, () => keys.addIfNone(aNewApiKey({ createdAt: after(1) }))));
      const actually = added.filter((key) => key !== undefined);
      expect(actually).toHaveLength(1);
      expect(await keys.list()).toEqual([...before, ...actually]);
      expect(await keys.addIfNone(aNewApiKey({ clientName: 'another', createdAt: noon }))).toBeDefined();
    });

    it('counts neither an expired nor a revoked key as there', async () => {
      const first = await keys.addIfNone(aNewApiKey({ createdAt: noon, expiresAt: after(10) }));
      expect(await keys.addIfNone(aNewApiKey({ createdAt: after(9) }))).toBeUndefined();
      const second = await keys.addIfNone(aNewApiKey({ createdAt: after(10) }));
      expect(second?.client).toEqual(first?.client);
      await keys.update(second?.id as ApiKeyId, (key) => key.revoke(after(11)));
      expect(await keys.addIfNone(aNewApiKey({ createdAt: after(12) }))).toBeDefined();
    });

    it('keeps what a change makes of the life of one key', async () => {
      const added = aNewApiKey({ createdAt: noon });
      const { id } = await keys.add(added);
      const other = await keys.add(aNewApiKey());
      const revoked = await keys.update(id, (key) => key.revoke(after(5)));
      expect(revoked).toMatchObject({ id, createdAt: noon, revokedAt: after(5) });
      expect(await keys.findByHash(added.hash)).toEqual(revoked);
      expect(await keys.list()).toEqual([revoked, other]);
    });

    it('replaces a key by its successor, both or none', async () => {
      const old = await keys.add(aNewApiKey({ createdAt: noon }));
      const rotate = (key: ApiKey) => {
        const { retired, successor } = key.rotate(after(1), 1000, hasher);
        return { retired, successor: successor.key };
      };
      const replaced = await keys.replace(old.id, rotate);
      expect(replaced?.retired).toEqual({ ...old, expiresAt: after(1001) });
      expect(replaced?.successor).toMatchObject({ client: old.client, scopes: old.scopes, expiresAt: undefined });
      expect(await keys.list()).toEqual([replaced?.retired, replaced?.successor]);

      const taken = aNewApiKey();
      await keys.add(taken);
      const before = await keys.list();
      const successorTaken = (key: ApiKey) => ({ retired: key.revoke(after(2)), successor: taken });
      await expect(keys.replace(old.id, successorTaken)).rejects.toThrow();
      const refusal = new Error('no');
      const refuse = () => {
        throw refusal;
      };
      await expect(keys.replace(old.id, refuse)).rejects.toBe(refusal);
      await expect(keys.update(old.id, refuse)).rejects.toBe(refusal);
      expect(await keys.list()).toEqual(before);
    });

    it('changes a key one after the other', async () => {
      // A rotation that had read the key before its revocation would undo it.
      const revokeAndRotate = async () => {
        const { id } = await keys.add(aNewApiKey({ createdAt: noon }));
        await Promise.allSettled([
          keys.update(id, (key) => key.revoke(after(1))),
          keys.replace(id, (key) => {
            const { retired, successor } = key.rotate(after(1), 1000, hasher);
            return { retired, successor: successor.key };
          }),
        ]);
        return id;
      };
      const ids = await Promise.all(Array.from({ length: 20 }, revokeAndRotate));
      const states = (await keys.list()).filter(({ id }) => ids.includes(id)).map((key) => key.stateAt(noon));
      expect(states).toEqual(ids.map(() => 'revoked'));
    });

    it('records the last use, at most once a minute', async () => {
      const { id } = await keys.add(aNewApiKey({ createdAt: noon }));
      const lastUse = async (at: Date) => {
        await keys.recordUse(id, at);
        return (await theOnly()).lastUsedAt;
      };
      expect(await lastUse(after(1000))).toEqual(after(1000));
      expect(await lastUse(after(60_999))).toEqual(after(1000));
      expect(await lastUse(after(500))).toEqual(after(1000));
      expect(await lastUse(after(61_000))).toEqual(after(61_000));
    });
  });
}
