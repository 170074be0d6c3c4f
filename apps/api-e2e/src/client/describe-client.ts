import { type TestDatabase, waitFor } from '@animal-store/local-postgres/testing';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { Client } from 'pg';
import { insertKey } from '../support/keys.js';
import { createStoreDatabase, Service } from '../support/service.js';
import { type BrowserPage, openBrowserPage } from './browser-page.js';
import { clientCalls, type Outcome } from './client-calls.js';
import { type Fault, FaultProxy } from './fault-proxy.js';

type ClientCalls = typeof clientCalls;
type Run = <Name extends keyof ClientCalls>(
  name: Name,
  ...args: Parameters<ClientCalls[Name]>
) => Promise<Awaited<ReturnType<ClientCalls[Name]>>>;

/** Above 2^53: a JavaScript number would round it to an even number. */
const FIRST_ID = 9007199254740993n;
const INT64_MAX = '9223372036854775807';
/** Public URL of the service, as behind a proxy. It is not reachable in this test. */
const PUBLIC_BASE_URL = 'https://store.example/animals';

let database: TestDatabase;
let sql: Client;
let service: Service;
let proxy: FaultProxy;
let browser: BrowserPage;
let apiKey: string;

const stored = async () => (await sql.query<{ id: string; name: string }>('SELECT id::text, name FROM pets.pets ORDER BY id')).rows;

/** Faults of connections. Browsers report them in their own way. */
export const CONNECTION_FAULTS: readonly [string, Fault][] = [
  ['a reset connection', 'reset'],
  ['a lost response', 'lose'],
  ['a truncated response', 'truncate'],
];
/** Faults of each kind that the client retries. */
export const FAULTS: readonly [string, Fault][] = [
  ...CONNECTION_FAULTS,
  ['a response that is not JSON', { status: 200, body: '[{"id":' }],
  ['status 503', { status: 503 }],
];

/** Starts a service, a proxy that injects faults and a browser before the tests of the file. */
export function useClientSetUp(): void {
  beforeAll(async () => {
    database = await createStoreDatabase();
    browser = await openBrowserPage();
    service = await Service.start(database.url, { CORS_ORIGINS: browser.origin, PUBLIC_BASE_URL, RATE_LIMIT: '0' });
    proxy = await FaultProxy.start(service.url);
    ({ key: apiKey } = await insertKey(database.url, 'suite'));
    sql = new Client({ connectionString: database.url });
    await sql.connect();
  });

  afterAll(async () => {
    await sql.end();
    await browser.close();
    await proxy.stop();
    await service.stop();
    await database.drop();
  });

  beforeEach(async () => {
    proxy.inject();
    await sql.query('TRUNCATE pets.pets, pets.idempotency_keys CASCADE');
    await sql.query(
      `SELECT setval(format('%I.%I', schemaname, sequencename)::regclass, ${FIRST_ID}, false) FROM pg_sequences WHERE schemaname = 'pets'`,
    );
  });
}

export const inNodeJs: Run = async (name, ...args) => (clientCalls[name] as (...all: unknown[]) => Promise<never>)(...args);
export const inBrowser: Run = async (name, ...args) => browser.run(name, args) as Promise<never>;

/** The service itself as the target of a client. */
const direct = () => ({ apiKey, baseURL: service.url });
const throughProxy = (options: object = {}) => ({ apiKey, baseURL: proxy.url, ...options });
const addPets = async (run: Run, ...names: readonly string[]) => {
  for (const name of names) await run('create', direct(), name, '7');
};

/** Defines the tests of each operation and option, which differ among environments in `fetch`, CORS and aborting. */
export function describeCalls(run: Run): void {
  const add = (...names: readonly string[]) => addPets(run, ...names);

  it('identifiers are exact when sent and received', async () => {
    const pet = { id: FIRST_ID, name: 'Rex', categoryId: BigInt(INT64_MAX), status: 'sold' };
    expect(await run('create', direct(), 'Rex', INT64_MAX)).toEqual(pet);
    expect(await run('list', direct(), {})).toEqual([pet]);
    expect(await run('retrieve', direct(), String(FIRST_ID))).toEqual(pet);
  });

  describe('lists', () => {
    beforeEach(() => add('A', 'B', 'C', 'D', 'E'));

    it('are iterated over all pages', async () => {
      const pets = await run('list', direct(), { limit: 2, status: 'sold' });
      expect(pets.map(({ name }) => name)).toEqual(['A', 'B', 'C', 'D', 'E']);
      expect(await run('list', direct(), { status: 'pending' })).toEqual([]);
    });

    it('request pages from the base URL of the client, not from the host of the Link header', async () => {
      expect(await run('iteratedPages', throughProxy(), { limit: 3 })).toEqual([3, 2]);
      expect(proxy.requests).toHaveLength(2);
    });

    it('are revalidated with a cache, page by page', async () => {
      expect(await run('cached', direct())).toEqual({
        statuses: [200, 200, 200, 304, 304, 304, 304, 304, 200],
        names: [
          ['A', 'B', 'C', 'D', 'E'],
          ['A', 'B', 'C', 'D', 'E'],
          ['A', 'B', 'C', 'D', 'E', 'late'],
        ],
      });
    });
  });

  it('errors of the service are typed', async () => {
    expect(await run('listFailure', { ...direct(), apiKey: 'ast_wrong' }, {})).toEqual({
      name: 'AuthenticationError',
      status: 401,
      code: 'invalid_api_key',
      message: expect.stringMatching(/^401 invalid_api_key: \S/),
      retryable: false,
      retryAfter: undefined,
      hasRequestId: true,
    });
  });

  it('an idempotency key replays a creation', async () => {
    expect(await run('replayed', direct(), 'a-"quoted"-key\\')).toEqual([null, 'true']);
    expect(await stored()).toHaveLength(1);
  });

  it('raw responses are available with the data', async () => {
    const raw = await run('rawResponses', direct());
    const text = `{"id":${FIRST_ID},"name":"Rex","categoryId":7,"status":"available"}`;
    expect(raw).toEqual({
      data: { id: FIRST_ID, name: 'Rex', categoryId: 7n, status: 'available' },
      location: `${PUBLIC_BASE_URL}/v1/pets/${FIRST_ID}`,
      status: 201,
      requestId: true,
      createdText: text,
      listUrl: `${service.url}/v1/pets?limit=1`,
      listText: `[${text}]`,
      type: '[object APIPromise]',
    });
  });

  it('a deprecated operation logs one warning per process', async () => {
    await add('Rex');
    expect(await run('warnings', direct(), String(FIRST_ID))).toEqual([
      `Animal Store: getPet has been deprecated since 2025-12-05. It will be removed on 2030-12-05. Use ${PUBLIC_BASE_URL}/v1/pets instead.`,
    ]);
  });

  it('hooks are called for each attempt and can add headers', async () => {
    proxy.inject('reset', { status: 503 });
    expect(await run('hooks', throughProxy())).toEqual([
      'request createPet POST /v1/pets 1',
      'error 1 APIConnectionError true',
      'request createPet POST /v1/pets 2',
      'response 2 503 - true',
      'error 2 InternalServerError true',
      'request createPet POST /v1/pets 3',
      'response 3 201 attempt-3 true',
    ]);
  });

  it('a signal aborts an attempt', async () => {
    proxy.inject('hang');
    const aborted = { name: 'APIUserAbortError', message: 'The request was aborted', retryable: false };
    expect(await run('abortedDuring', throughProxy({ timeout: 3_600_000 }))).toMatchObject(aborted);
  });
}

export function describeRetries(run: Run, faults: readonly [string, Fault][]): void {
  describe.each(faults)('after %s', (_fault, fault) => {
    it('a creation is retried with the same idempotency key and adds one pet', async () => {
      proxy.inject(fault, fault);
      const pet = await run('create', throughProxy(), 'Rex', '7');
      expect(await stored()).toEqual([{ id: String(pet.id), name: 'Rex' }]);
      expect(proxy.requests).toHaveLength(3);
      expect(new Set(proxy.requests.map(({ idempotencyKey }) => idempotencyKey)).size).toBe(1);
      expect(proxy.requests[0]?.idempotencyKey).toMatch(/^"[0-9a-f]{32}"$/);
    });

    it('a list is retried', async () => {
      await addPets(run, 'A', 'B');
      proxy.inject('none', fault);
      expect(await run('list', throughProxy(), { limit: 1 })).toMatchObject([{ name: 'A' }, { name: 'B' }]);
      expect(proxy.requests).toHaveLength(3);
    });

    it('the caller gets a typed error after the last retry', async () => {
      proxy.inject(fault, fault);
      expect(await run('listFailure', throughProxy({ maxRetries: 1 }), {})).toMatchObject({
        name: expect.stringMatching(/^(?:APIConnectionError|APIError|RateLimitError|InternalServerError)$/),
        retryable: true,
      });
      expect(proxy.requests).toHaveLength(2);
    });
  });
}

/** Defines the tests of time limits and of random faults. */
export function describeLimits(run: Run): void {
  it('an attempt without a response times out and is retried', async () => {
    proxy.inject('hang');
    const pet = await run('create', throughProxy({ timeout: 2_000, maxRetries: 10 }), 'Rex', '7');
    expect(await stored()).toEqual([{ id: String(pet.id), name: 'Rex' }]);
    proxy.inject('hang');
    expect(await run('listFailure', throughProxy({ timeout: 100, maxRetries: 0 }), {})).toMatchObject({
      name: 'APIConnectionTimeoutError',
      message: 'No response within 100 ms',
      retryable: true,
    });
  });

  it('with random faults, each creation returns its pet or a typed error, and none adds a duplicate', async () => {
    const faults: Fault[] = ['none', 'reset', 'lose', 'truncate', { status: 503 }, { status: 429 }];
    proxy.inject(...fc.sample(fc.constantFrom(...faults), { numRuns: 60, seed: 1 }));
    const names = Array.from({ length: 30 }, (_, index) => `pet ${index}`);
    const outcomes: Outcome[] = await run('createMany', throughProxy(), names);
    // The service may still be adding a pet whose response was lost.
    await waitFor(async () =>
      expect((await stored()).length).toBeGreaterThanOrEqual(outcomes.filter((outcome) => 'pet' in outcome).length),
    );
    const rows = await stored();
    expect(new Set(rows.map(({ name }) => name)).size).toBe(rows.length);
    for (const [index, outcome] of outcomes.entries()) {
      if ('pet' in outcome) expect(rows).toContainEqual({ id: String(outcome.pet.id), name: names[index] });
      else
        expect(outcome.error).toMatchObject({
          name: expect.stringMatching(/^(?:APIConnection|RateLimit|InternalServer)Error$/),
          retryable: true,
        });
    }
  });
}
