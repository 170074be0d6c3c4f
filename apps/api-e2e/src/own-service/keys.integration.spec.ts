import { setTimeout as sleep } from 'node:timers/promises';
import { Api } from '../support/api.js';
import { expectUnauthenticated } from '../support/challenges.js';
import type { HttpResponse } from '../support/http-response.js';
import { type CreatedKey, insertKey } from '../support/keys.js';
import { runAnimalStore, createKey, Service } from '../support/service.js';
import { useOwnService } from '../support/use-api.js';
import { waitFor } from '@animal-store/local-postgres/testing';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';

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

/** Sends a request with the key to both processes, which may then cache it. */
async function use(created: CreatedKey): Promise<CreatedKey> {
  await expectAccepted(created.key);
  return created;
}

async function expectAccepted(key: string): Promise<void> {
  for (const process of [api, other]) expect((await process.get('/v1/pets', { authorization: `Bearer ${key}` })).status).toBe(200);
}

const EFFECTIVE_WITHIN_MS = 5_000;
const POLL_MS = 500;

/** Sends requests, which keep the key cached, until EFFECTIVE_WITHIN_MS after a change. Then returns a response of each process. */
async function responsesAfterChange(key: string, changedAt = performance.now()): Promise<HttpResponse[]> {
  const list = (process: Api) => process.get('/v1/pets', { authorization: `Bearer ${key}` });
  for (; performance.now() < changedAt + EFFECTIVE_WITHIN_MS; await sleep(POLL_MS)) for (const process of [api, other]) await list(process);
  return [await list(api), await list(other)];
}

async function expectRejectedInTime(key: string, endedAt?: number): Promise<void> {
  for (const response of await responsesAfterChange(key, endedAt)) expectUnauthenticated(response, 'invalid_api_key');
}

describe('a key', () => {
  it.concurrent('is rejected by every process after it is revoked, and other keys are not', async () => {
    const revoked = await use(await insertKey(own.databaseUrl, 'suite'));
    await runAnimalStore(own.databaseUrl, 'keys', 'revoke', String(revoked.id));
    await expectRejectedInTime(revoked.key);
    await expectAccepted(api.target.key);
  });

  it.concurrent('is rejected by every process after it expires', async () => {
    const { key } = await use(await createKey(own.databaseUrl, 'visitor', undefined, '--expires-in', '4s'));
    await expectRejectedInTime(key, performance.now() + 4_000);
  });

  it.concurrent('is rejected after the overlap when it is rotated, not before', async () => {
    const first = await use(await insertKey(own.databaseUrl, 'rotator'));
    const second = await rotate(first);
    for (const { key } of [first, second]) await expectAccepted(key);
    const third = await rotate(second, '--overlap', '0s');
    await expectRejectedInTime(second.key);
    for (const { key } of [first, third]) await expectAccepted(key);
  });

  async function rotate({ id }: CreatedKey, ...options: readonly string[]): Promise<CreatedKey> {
    return JSON.parse(await runAnimalStore(own.databaseUrl, 'keys', 'rotate', String(id), ...options, '--json')) as CreatedKey;
  }
});

describe('a client', () => {
  it.concurrent('is rejected by every process while it is disabled, and other clients are not', async () => {
    const { key } = await use(await insertKey(own.databaseUrl, 'suspended'));
    await runAnimalStore(own.databaseUrl, 'clients', 'disable', 'suspended');
    await expectRejectedInTime(key);
    await expectAccepted(api.target.key);
    await runAnimalStore(own.databaseUrl, 'clients', 'enable', 'suspended');
    await waitFor(() => expectAccepted(key), { intervalMs: 200 });
  });

  it.concurrent('has its own rate limit in the response headers, and a change takes effect in every process', async () => {
    const { key } = await createKey(own.databaseUrl, 'slow', undefined, '--rate-limit', '3');
    const list = () => api.get('/v1/pets', { authorization: `Bearer ${key}` });
    const first = await list();
    expect([first.status, first.headers['ratelimit-policy'], first.headers['ratelimit']]).toEqual([
      200,
      '"default";q=3;w=60',
      expect.stringMatching(/^"default";r=2;t=\d+$/),
    ]);
    const statuses = [];
    for (let i = 0; i < 3; i++) statuses.push((await list()).status);
    expect(statuses).toEqual([200, 200, 429]);
    await runAnimalStore(own.databaseUrl, 'clients', 'set-rate-limit', 'slow', 'default');
    for (const { status, headers } of await responsesAfterChange(key))
      expect([status, headers['ratelimit-policy']]).toEqual([200, '"default";q=6000;w=60']);
  });
});
