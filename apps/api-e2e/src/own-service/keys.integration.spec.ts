import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { Api } from '../support/api.js';
import { expectUnauthenticated } from '../support/challenges.js';
import { type CreatedKey, insertKey } from '../support/keys.js';
import { createKey, runAnimalStore, Service } from '../support/service.js';
import { useOwnService } from '../support/use-api.js';

const EFFECTIVE_WITHIN_MS = 5_000;
const POLL_MS = 500;

const own = useOwnService();
const { api } = own;
const other = new Api();
let otherProcess: Service;

beforeAll(async () => {
  otherProcess = await Service.start(own.databaseUrl);
  other.open({ baseUrl: otherProcess.url, key: api.target.key });
});

afterAll(async () => {
  other.close();
  await otherProcess.stop();
});

const list = (process: Api, key: string) => process.get('/v1/pets', { authorization: `Bearer ${key}` });
const animalStore = (...args: readonly string[]) => runAnimalStore(own.databaseUrl, ...args);

async function expectAccepted(...keys: readonly string[]): Promise<void> {
  for (const key of keys) for (const process of [api, other]) expect((await list(process, key)).status).toBe(200);
}

it('a change of a key or a client takes effect in every process within five seconds, and only for it', async () => {
  const insert = (client: string) => insertKey(own.databaseUrl, client);
  const [revoked, rotated, overlapping] = [await insert('revoked'), await insert('rotated'), await insert('overlapping')];
  const { key: disabled } = await insert('disabled');
  const expired = await createKey(own.databaseUrl, 'visitor', undefined, '--expires-in', '15s');
  const endedAt = performance.now() + 15_000;
  // Both processes may cache the keys from here on.
  await expectAccepted(revoked.key, rotated.key, overlapping.key, disabled, expired.key);

  await animalStore('keys', 'revoke', String(revoked.id));
  const replacement = JSON.parse(await animalStore('keys', 'rotate', String(rotated.id), '--overlap', '0s', '--json')) as CreatedKey;
  const successor = JSON.parse(await animalStore('keys', 'rotate', String(overlapping.id), '--json')) as CreatedKey;
  await animalStore('clients', 'disable', 'disabled');

  const effectiveAt = Math.max(performance.now(), endedAt) + EFFECTIVE_WITHIN_MS;
  const rejected = [revoked.key, rotated.key, disabled, expired.key];
  // Requests keep the keys cached.
  for (; performance.now() < effectiveAt; await sleep(POLL_MS))
    for (const process of [api, other]) for (const key of rejected) await list(process, key);
  for (const process of [api, other]) for (const key of rejected) expectUnauthenticated(await list(process, key), 'invalid_api_key');
  await expectAccepted(api.target.key, replacement.key, overlapping.key, successor.key);
});
