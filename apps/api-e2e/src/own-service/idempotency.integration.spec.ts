import { AnimalStore } from '@animal-store/client';
import { TcpProxy, type TestDatabase, waitFor } from '@animal-store/local-postgres/testing';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { Client } from 'pg';
import { type CreatedKey, insertKey } from '../support/keys.js';
import { createStoreDatabase, runAnimalStore, Service } from '../support/service.js';

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
let sql: Client;
let survivor: Service;
/** Connects to the database through `network`. */
let killed: Service;
let network: TcpProxy;
let beforeRotation = '';
let afterRotation = '';

beforeAll(async () => {
  database = await createStoreDatabase();
  network = await TcpProxy.start(database.url);
  survivor = await Service.start(database.url, PATIENT);
  const { id, key } = await insertKey(database.url, 'suite');
  const rotated = JSON.parse(await runAnimalStore(database.url, 'keys', 'rotate', String(id), '--json')) as CreatedKey;
  [beforeRotation, afterRotation] = [key, rotated.key];
  sql = await connect();
});

afterAll(async () => {
  await sql.end();
  await survivor.stop();
  await network.cut();
  await database.drop();
});

async function connect(): Promise<Client> {
  const client = new Client({ connectionString: database.url });
  await client.connect();
  return client;
}

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

/** Expects one stored pet, which every response contains. Returns how many responses are not replays. */
async function countFirstResponses(outcomes: readonly Outcome[]): Promise<number> {
  const { rows } = await sql.query<{ id: string }>('SELECT id::text FROM pets.pets');
  expect(rows).toHaveLength(1);
  const [{ id } = { id: '' }] = rows;
  const expected = `201 /v1/pets/${id} ${id},Only,9007199254740993,available`;
  expect(new Set(outcomes.map((outcome) => outcome.response))).toEqual(new Set([expected]));
  return outcomes.filter(({ replayed }) => !replayed).length;
}

const countOf = async (query: string) => Number((await sql.query<{ count: string }>(query)).rows[0]?.count);
const stored = () => countOf('SELECT count(*) FROM pets.pets');
const waitingForLocks = () =>
  countOf(`SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`);

describe('with one API key, and with its successor after a rotation', () => {
  beforeAll(async () => {
    killed = await Service.start(network.url, PATIENT);
  });
  afterAll(() => killed.stop('SIGKILL'));

  beforeEach(() => sql.query('TRUNCATE pets.pets, pets.idempotency_keys CASCADE'));

  /** Alternates the services and the API keys. */
  const retries = (count: number, send: (service: Service, key: string) => Promise<Outcome>) =>
    Promise.all(Array.from({ length: count }, (_, n) => send(n % 2 === 0 ? killed : survivor, n % 4 < 2 ? beforeRotation : afterRotation)));

  it(`${CONCURRENT} concurrent requests to two processes add one pet and get the same response`, async () => {
    expect(await countFirstResponses(await retries(CONCURRENT, create))).toBe(1);
  });

  it(`${CONCURRENT_AFTER_KILL} requests get the same response if the process that added the pet is killed before it responds`, async () => {
    const locker = await connect();
    await locker.query('BEGIN');
    await locker.query('LOCK TABLE pets.pets IN SHARE MODE');
    const failed = create(killed, beforeRotation).catch(() => 'no response');
    await waitFor(async () => expect(await waitingForLocks()).toBe(1));
    // From now on the process receives nothing from its database, not even the result of its insert.
    network.slowDown(60_000);
    await locker.query('COMMIT');
    await locker.end();
    await waitFor(async () => expect(await stored()).toBe(1));
    const all = retries(CONCURRENT_AFTER_KILL, (service, key) => create(service, key, survivor));
    await killed.stop('SIGKILL');
    expect(await failed).toBe('no response');
    expect(await countFirstResponses(await all)).toBe(0);
  });
});
