import { Api } from '../support/api.js';
import { readPet } from '../support/json.js';
import { runAnimalStore, createKey, Service } from '../support/service.js';
import { query } from '@animal-store/local-postgres/testing';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';

// `npm run verify -- citus`. Not part of `npm test`, since Citus is in neither npm nor Debian. CITUS_DATABASE_URL must name an empty database
// and its owner. The database must be on a coordinator with the extension and at least one worker.

const PETS = 200;
const HIDDEN = '{"name":"Hidden","categoryId":7,"status":"sold"}';

const api = new Api();
let url: string;
let services: readonly [Service, Service];

beforeAll(async () => {
  url = process.env['CITUS_DATABASE_URL'] ?? '';
  if (url === '') throw new Error('CITUS_DATABASE_URL is not set: an empty database of a Citus coordinator, as its owner');
  const environment = { CITUS: 'on', MIGRATION_DATABASE_URL: url, RATE_LIMIT: '0' };
  const first = await Service.start(url, environment);
  services = [first, await Service.start(url, environment)];
  api.open({ baseUrl: first.url, key: (await createKey(url, 'suite')).key });
});

afterAll(async () => {
  api.close();
  for (const service of services) await service.stop();
});

describe('on a Citus coordinator', () => {
  it('the tables of the catalogue are distributed once', async () => {
    const rows = await query(
      url,
      `SELECT logicalrelid::text AS name, column_to_column_name(logicalrelid, partkey) AS "column" FROM pg_dist_partition
       WHERE partmethod = 'h' ORDER BY 1`,
    );
    expect(rows).toEqual([
      { name: 'pets.idempotency_keys', column: 'key' },
      { name: 'pets.pets', column: 'id' },
    ]);
    expect(await runAnimalStore(url, 'migrate', 'up')).toContain('up to date');
  });

  it('pets added concurrently get unique ids and are fetched and listed', async () => {
    const created = await Promise.all(Array.from({ length: PETS }, (_, n) => api.createPet({ name: `Pet ${n}` })));
    const fetched = await Promise.all(created.map(({ id }) => api.get(`/v1/pets/${id}`)));
    expect(fetched.map(({ text }) => readPet(text))).toEqual(created);
    const listed = await api.readAllPages('/v1/pets?limit=50');
    const ids = new Set(listed.map(({ id }) => id));
    expect(listed).toHaveLength(ids.size);
    expect(created.filter(({ id }) => !ids.has(id))).toEqual([]);
  });

  it('an idempotency key adds one pet with concurrent requests to two processes', async () => {
    const { key } = await createKey(url, 'suite');
    const create = async ({ url: base }: Service) => {
      const headers = { Authorization: `Bearer ${key}`, 'Content-Type': 'application/json', 'Idempotency-Key': 'once' };
      const response = await fetch(`${base}/v1/pets`, { method: 'POST', headers, body: HIDDEN });
      return { status: response.status, text: await response.text(), replayed: response.headers.get('idempotent-replayed') };
    };
    const responses = await Promise.all(Array.from({ length: 30 }, (_, n) => create(services[n % 2] as Service)));
    expect(new Set(responses.map(({ status, text }) => `${status} ${text}`)).size).toBe(1);
    expect(responses.filter(({ replayed }) => replayed === null)).toHaveLength(1);
    expect(await query(url, `SELECT FROM pets.pets WHERE name = 'Hidden'`)).toHaveLength(1);
  });
});
