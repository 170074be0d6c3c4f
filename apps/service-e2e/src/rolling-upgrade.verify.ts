import { readdirSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { runAnimalStore, Service } from '@animal-store/api-e2e/support/service';
import { AnimalStore, type Pet } from '@animal-store/client';
import { createTestDatabase, type TestDatabase } from '@animal-store/local-postgres/testing';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type DebianServer, startRedis } from './support/debian-server.js';
import { buildReleasedVersion, type ReleasedVersion } from './support/released-version.js';

// `npm run verify -- rolling-upgrade`: the last release and this version serve one database at the same time.

const RELEASES = new URL('../../../docs/releases/', import.meta.url);
const STATUSES = ['available', 'pending', 'sold'] as const;
// Faults: The suite runs this version together with the newest version in `docs/releases`.
const PETS = 60;
const RATE_LIMIT = 300;
/** A process may cache a key for this long after it was revoked. */
const KEY_CACHE_MS = 5_000;

let release: ReleasedVersion;
let redis: DebianServer;
let database: TestDatabase;
let key: string;
let released: Service;
let current: Service;
let environment: Readonly<Record<string, string>>;
let ids: string[];

interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
}

async function send(service: Service, path: string, init: RequestInit = {}, bearer = key): Promise<Answer> {
  const headers = new Headers(init.headers);
  headers.set('Authorization', `Bearer ${bearer}`);
  const response = await fetch(new URL(path, service.url), { ...init, headers });
  return { status: response.status, headers: response.headers, text: await response.text() };
}

const create = (service: Service, name: string, headers: Record<string, string> = {}, status = 'available') =>
  send(service, '/v1/pets', {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', ...headers },
    body: JSON.stringify({ name, categoryId: 1, status }),
  });

/** Exact, since JSON.parse would round identifiers. */
const idsOf = (text: string) => [...text.matchAll(/"id":(\d+)/g)].map(([, id]) => String(id));
const nextOf = ({ headers }: Answer) => /<([^>]+)>; rel="next"/.exec(headers.get('Link') ?? '')?.[1];
const alternating = (first: Service, second: Service) => (request: number) => (request % 2 === 0 ? first : second);
const orders = () => [
  ['the release first', alternating(released, current)] as const,
  ['this version first', alternating(current, released)] as const,
];

/** Reads all pages. Each request goes to the other version than the one before. Returns the identifiers and the number of pages. */
async function walk(path: string, serviceOf: (request: number) => Service): Promise<{ ids: string[]; pages: number }> {
  const found: string[] = [];
  let pages = 0;
  for (let link: string | undefined = path; link !== undefined; pages++) {
    const { pathname, search } = new URL(link, 'http://localhost');
    const response = await send(serviceOf(pages), pathname + search);
    expect(response).toMatchObject({ status: 200 });
    found.push(...idsOf(response.text));
    link = nextOf(response);
  }
  return { ids: found, pages };
}

beforeAll(async () => {
  redis = await startRedis();
  const version =
    readdirSync(RELEASES)
      .sort((one, other) => one.localeCompare(other, 'en', { numeric: true }))
      .at(-1) ?? '';
  release = await buildReleasedVersion(version);
  database = await createTestDatabase();
  environment = {
    // Without it, the database would be migrated by the helper.
    MIGRATION_DATABASE_URL: database.url,
    REDIS_URL: `redis://127.0.0.1:${redis.port}`,
    RATE_LIMIT: '0',
    PUBLIC_BASE_URL: 'https://api.example.com',
  };
  // As in an upgrade: the release serves, the migrations run, then processes of this version are added.
  await release.animalStore(database.url, 'migrate', 'up');
  ({ key } = JSON.parse(await release.animalStore(database.url, 'keys', 'create', '--client', 'suite', '--json')) as { key: string });
  released = await Service.start(database.url, environment, release.service);
  ids = [];
  for (let pet = 0; pet < PETS / 2; pet++) ids.push(...idsOf((await create(released, `pet ${pet}`, {}, STATUSES[pet % 3])).text));
  await runAnimalStore(database.url, 'migrate', 'up');
  current = await Service.start(database.url, environment);
  for (let pet = PETS / 2; pet < PETS; pet++) {
    const { text } = await create(pet % 2 === 0 ? released : current, `pet ${pet}`, {}, STATUSES[pet % 3]);
    ids.push(...idsOf(text));
  }
}, 600_000);

afterAll(async () => {
  // First, so that a failed set-up leaves no process.
  await redis.stop();
  await Promise.all([released.stop(), current.stop()]);
  await database.drop();
});

// Promise (Migrations): Both versions can use the same database at the same time.
describe('while both versions serve', () => {
  it('a list is complete when its pages come from both', async () => {
    expect(new Set(ids).size).toBe(PETS);
    for (const [, serviceOf] of orders()) {
      const { ids: found, pages } = await walk('/v1/pets?limit=7', serviceOf);
      expect(found).toEqual(ids.toSorted((one, other) => (BigInt(one) < BigInt(other) ? -1 : 1)));
      expect(pages).toBe(Math.ceil(PETS / 7));
      const byStatus = await Promise.all(STATUSES.map((status) => walk(`/v1/pets?status=${status}&limit=3`, serviceOf)));
      expect(byStatus.flatMap((list) => list.ids).sort()).toEqual(ids.toSorted());
    }
  });

  it('an idempotency key returns the same animal from both', async () => {
    for (const [name, serviceOf] of orders()) {
      const headers = { 'Idempotency-Key': name.replaceAll(' ', '-') };
      const responses = [];
      for (let request = 0; request < 4; request++) responses.push(await create(serviceOf(request), name, headers));
      const [first] = responses;
      for (const { status, text, headers: sent } of responses) {
        expect({ status, text, location: sent.get('Location') }).toEqual({
          status: first?.status,
          text: first?.text,
          location: first?.headers.get('Location'),
        });
      }
      const reused = [await create(serviceOf(0), 'another body', headers), await create(serviceOf(1), 'another body', headers)];
      expect(reused.map(({ status, text }) => [status, (JSON.parse(text) as { code: string }).code])).toEqual([
        [422, 'idempotency_key_reused'],
        [422, 'idempotency_key_reused'],
      ]);
    }
  });

  it('one idempotency key sent to both at once creates one animal', async () => {
    for (let round = 0; round < 20; round++) {
      const headers = { 'Idempotency-Key': `round-${round}` };
      const answers = await Promise.all(
        [released, current, released, current].map((service) => create(service, `round ${round}`, headers)),
      );
      expect(answers.map(({ status }) => status)).toEqual([201, 201, 201, 201]);
      expect(new Set(answers.flatMap(({ text }) => idsOf(text))).size).toBe(1);
    }
  });

  it('an entity tag of one is valid for the other, until the content changes', async () => {
    for (const [from, to] of [
      [released, current],
      [current, released],
    ] as const) {
      for (const path of [`/v1/pets/${ids[0]}`, '/v1/pets?status=sold&limit=100', '/v1/pets?limit=5']) {
        const { headers } = await send(from, path);
        const conditional = { headers: { 'If-None-Match': headers.get('ETag') ?? '' } };
        expect(await send(to, path, conditional)).toMatchObject({ status: 304, text: '' });
      }
      const { headers } = await send(from, '/v1/pets?status=sold&limit=100');
      ids.push(...idsOf((await create(from, 'sold after the tag', {}, 'sold')).text));
      expect(await send(to, '/v1/pets?status=sold&limit=100', { headers: { 'If-None-Match': headers.get('ETag') ?? '' } })).toMatchObject({
        status: 200,
      });
    }
  });

  it('the client gets what it asks for from either', async () => {
    for (const [name, serviceOf] of orders()) {
      let requests = 0;
      const client = new AnimalStore({
        apiKey: key,
        baseURL: 'https://api.example.com',
        minRetryDelay: 1,
        maxRetries: 3,
        logger: { warn: () => undefined },
        fetch: (url, init) => {
          const { pathname, search } = new URL(url);
          return fetch(new URL(pathname + search, serviceOf(requests++).url), init);
        },
      });
      const made = await client.pets.create({ name, categoryId: 9_007_199_254_740_993n });
      for (const id of [made.id, BigInt(ids[3] ?? ''), made.id]) {
        const found: Pet[] = [];
        for await (const pet of client.pets.list({ id })) found.push(pet);
        expect(found.map((pet) => pet.id)).toEqual([id]);
      }
      const listed: bigint[] = [];
      for await (const pet of client.pets.list({ limit: 9 })) listed.push(pet.id);
      expect(new Set(listed).size).toBe(listed.length);
      expect(listed).toEqual(expect.arrayContaining([...ids.map(BigInt), made.id]));
    }
  });

  it('keys of either command line are valid for both, until they are revoked by either', async () => {
    const tools = [release.animalStore, runAnimalStore] as const;
    const made: { id: string; key: string }[] = [];
    for (const animalStore of tools) {
      const printed = await animalStore(database.url, 'keys', 'create', '--client', 'suite', '--json');
      const { id, key: bearer } = JSON.parse(printed) as { id: number; key: string };
      made.push({ id: String(id), key: bearer });
    }
    const statuses = async () =>
      Promise.all(
        made.flatMap(({ key: bearer }) =>
          [released, current].map(async (service) => (await send(service, '/v1/pets?limit=1', {}, bearer)).status),
        ),
      );
    expect(await statuses()).toEqual([200, 200, 200, 200]);
    // Each is revoked by the other version.
    await runAnimalStore(database.url, 'keys', 'revoke', made[0]?.id ?? '');
    await release.animalStore(database.url, 'keys', 'revoke', made[1]?.id ?? '');
    await sleep(KEY_CACHE_MS);
    expect(await statuses()).toEqual([401, 401, 401, 401]);
  });

  it('rate limits are counted together in Redis', async () => {
    const limited = { ...environment, RATE_LIMIT: String(RATE_LIMIT) };
    const services = [await Service.start(database.url, limited, release.service), await Service.start(database.url, limited)];
    const printed = await release.animalStore(database.url, 'keys', 'create', '--client', 'limited', '--json');
    const { key: bearer } = JSON.parse(printed) as { key: string };
    let admitted = 0;
    for (let sent = 0; sent < 2 * RATE_LIMIT; sent += 20) {
      const answers = await Promise.all(
        Array.from({ length: 20 }, (_, request) => send(services[request % 2] as Service, '/v1/pets?limit=1', {}, bearer)),
      );
      for (const { status, headers } of answers) {
        expect([200, 429]).toContain(status);
        if (status === 200) admitted++;
        else expect(Number(headers.get('Retry-After'))).toBeGreaterThan(0);
      }
    }
    for (const service of services) await service.stop();
    expect(admitted).toBeGreaterThanOrEqual(RATE_LIMIT);
    expect(admitted).toBeLessThanOrEqual(RATE_LIMIT * 1.1);
  });
});

describe('after a rollback of the version and of its migrations', () => {
  it('the release serves what either version has written', async () => {
    const headers = { 'Idempotency-Key': 'before-the-rollback' };
    const before = await create(current, 'before the rollback', headers);
    await current.stop();
    const appliedByRelease = await appliedMigrations((...args) => release.animalStore(database.url, ...args));
    while ((await appliedMigrations((...args) => runAnimalStore(database.url, ...args))) > appliedByRelease) {
      const path = '/v1/pets?limit=1';
      await runAnimalStore(database.url, 'migrate', 'down', '--yes');
      expect(await send(released, path)).toMatchObject({ status: 200 });
      expect((await create(released, 'during the rollback')).status).toBe(before.status);
    }
    const repeated = await create(released, 'before the rollback', headers);
    expect(idsOf(repeated.text)).toEqual(idsOf(before.text));
    const { ids: found } = await walk('/v1/pets?limit=50', () => released);
    expect(found).toEqual(expect.arrayContaining([...ids, ...idsOf(before.text)]));
  });
});

/** Returns the number of applied migrations that the command line knows. */
async function appliedMigrations(animalStore: (...args: string[]) => Promise<string>): Promise<number> {
  const printed = await animalStore('migrate', 'status', '--json');
  const { migrations } = JSON.parse(printed) as { migrations: { applied: boolean }[] };
  return migrations.filter(({ applied }) => applied).length;
}
