import { setTimeout as sleep } from 'node:timers/promises';
import { AnimalStore } from '@animal-store/client';
import { query, TcpProxy, type TestDatabase, waitFor } from '@animal-store/local-postgres/testing';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { Client } from 'pg';
import { type CreatedKey, insertKey } from '../support/keys.js';
import { createStoreDatabase, Service } from '../support/service.js';

const EFFECTIVE_WITHIN_MS = 5_000;
const POLL_MS = 500;
const CONCURRENT = 200;
const CONCURRENT_AFTER_KILL = 60;
/** Generous limits, so that no request is rejected on a busy machine. */
const PATIENT = {
  RATE_LIMIT: '0',
  MAX_IN_FLIGHT: String(CONCURRENT),
  MAX_EVENT_LOOP_LAG_MS: '60000',
  DATABASE_CONNECT_TIMEOUT_MS: '60000',
  DATABASE_STATEMENT_TIMEOUT_MS: '0',
};

let database: TestDatabase;
let survivor: Service;
/** Connects to the database through `network`. */
let killed: Service;
let network: TcpProxy;

beforeAll(async () => {
  database = await createStoreDatabase();
  network = await TcpProxy.start(database.url);
  survivor = await Service.start(database.url, PATIENT);
  killed = await Service.start(network.url, PATIENT);
});

afterAll(async () => {
  await killed.stop('SIGKILL');
  await survivor.stop();
  await network.cut();
  await database.drop();
});

const insert = (client: string) => insertKey(database.url, client);

it('a change of a key or a client takes effect in every process within five seconds, and only for it', async () => {
  const [other, revoked, expired, disabled] = [await insert('other'), await insert('a'), await insert('b'), await insert('disabled')];
  /** Lists with each key in both processes, and returns the statuses. */
  const statusesOf = async (keys: readonly CreatedKey[]) => {
    const statuses = new Set<number>();
    for (const { url } of [survivor, killed]) {
      for (const { key } of keys) statuses.add((await fetch(`${url}/v1/pets`, { headers: { Authorization: `Bearer ${key}` } })).status);
    }
    return [...statuses];
  };
  const rejected = [revoked, expired, disabled];
  // Both processes may cache the keys from here on.
  expect(await statusesOf([other, ...rejected])).toEqual([200]);

  // What the command line changes; it would take longer to start than these periods.
  const change = (column: string, { id }: CreatedKey) => `UPDATE access.api_keys SET ${column} = now() WHERE id = ${String(id)}`;
  const disable = `UPDATE access.clients SET disabled_at = now() WHERE name = 'disabled'`;
  await query(database.url, change('revoked_at', revoked), change('expires_at', expired), disable);
  const replacement = await insert('b');

  // Requests keep the keys cached.
  for (const end = performance.now() + EFFECTIVE_WITHIN_MS; performance.now() < end; await sleep(POLL_MS)) await statusesOf(rejected);
  expect(await statusesOf(rejected)).toEqual([401]);
  expect(await statusesOf([other, replacement])).toEqual([200]);
});

interface Outcome {
  /** Status, Location and body of the response. */
  readonly response: string;
  readonly replayed: boolean;
}

/** Adds the pet. If `retryOn` is another service, the client retries a failed request there once, as through a load balancer. */
async function create(service: Service, apiKey: string, retryOn = service): Promise<Outcome> {
  let attempts = 0;
  const client = new AnimalStore({
    apiKey,
    baseURL: service.url,
    maxRetries: retryOn === service ? 0 : 1,
    timeout: 60_000,
    fetch: (url, init) => fetch(url.replace(service.url, attempts++ === 0 ? service.url : retryOn.url), init),
  });
  const pet = { name: 'Only', categoryId: 9007199254740993n };
  const { data, response } = await client.pets.create(pet, { idempotencyKey: 'only-once' }).withResponse();
  const { headers, status } = response;
  return { response: `${status} ${headers.get('location')} ${Object.values(data).join()}`, replayed: headers.has('idempotent-replayed') };
}

const stored = () => query<{ id: string }>(database.url, 'SELECT id::text FROM pets.pets');

/** Expects one stored pet, which every response contains. Returns how many responses are not replays. */
async function countFirstResponses(outcomes: readonly Outcome[]): Promise<number> {
  const rows = await stored();
  expect(rows).toHaveLength(1);
  const expected = `201 /v1/pets/${rows[0]?.id} ${rows[0]?.id},Only,9007199254740993,available`;
  expect(new Set(outcomes.map((outcome) => outcome.response))).toEqual(new Set([expected]));
  return outcomes.filter(({ replayed }) => !replayed).length;
}

describe('with one idempotency key, and two API keys of one client, as after a rotation', () => {
  let keys: readonly string[];

  beforeAll(async () => {
    keys = [(await insert('suite')).key, (await insert('suite')).key];
  });
  beforeEach(() => query(database.url, 'TRUNCATE pets.pets, pets.idempotency_keys CASCADE'));

  /** Alternates the services and the API keys. */
  const retries = (count: number, send: (service: Service, key: string) => Promise<Outcome>) =>
    Promise.all(Array.from({ length: count }, (_, n) => send(n % 2 === 0 ? killed : survivor, keys[n % 4 < 2 ? 0 : 1] ?? '')));

  it(`${CONCURRENT} concurrent requests to two processes add one pet and get the same response`, async () => {
    expect(await countFirstResponses(await retries(CONCURRENT, create))).toBe(1);
  });

  it(`${CONCURRENT_AFTER_KILL} requests get the same response if the process that added the pet is killed before it responds`, async () => {
    const locker = new Client({ connectionString: database.url });
    await locker.connect();
    await locker.query('BEGIN');
    await locker.query('LOCK TABLE pets.pets IN SHARE MODE');
    const failed = create(killed, keys[0] ?? '').catch(() => 'no response');
    const waiting = `SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`;
    await waitFor(async () => expect(await query(database.url, waiting)).toHaveLength(1));
    // From now on the process receives nothing from its database, not even the result of its insert.
    network.slowDown(60_000);
    await locker.query('COMMIT');
    await locker.end();
    await waitFor(async () => expect(await stored()).toHaveLength(1));
    const all = retries(CONCURRENT_AFTER_KILL, (service, key) => create(service, key, survivor));
    await killed.stop('SIGKILL');
    expect(await failed).toBe('no response');
    expect(await countFirstResponses(await all)).toBe(0);
  });
});
