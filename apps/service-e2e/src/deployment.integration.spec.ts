import { Api } from '@animal-store/api-e2e/support/api';
import { expectError, linksOf } from '@animal-store/api-e2e/support/http-response';
import { readPet } from '@animal-store/api-e2e/support/json';
import { insertKey, unknownKey } from '@animal-store/api-e2e/support/keys';
import { createStoreDatabase, runUntilExit, Service } from '@animal-store/api-e2e/support/service';
import { TcpProxy, type TestDatabase, waitFor } from '@animal-store/local-postgres/testing';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';

const PUBLIC_BASE_URL = 'https://store.example/animals';
const VALID = '{"name":"Rex","categoryId":7}';
const api = new Api();
let database: TestDatabase;
let proxy: TcpProxy;
let service: Service;
let key: string;

async function start(): Promise<string> {
  service = await Service.start(proxy.url, { PUBLIC_BASE_URL });
  return service.url;
}

beforeAll(async () => {
  database = await createStoreDatabase();
  proxy = await TcpProxy.start(database.url);
  const baseUrl = await start();
  ({ key } = await insertKey(database.url, 'suite'));
  api.open({ baseUrl, key });
});

afterAll(async () => {
  api.close();
  await service.stop();
  await proxy.cut();
  await database.drop();
});

describe('PUBLIC_BASE_URL', () => {
  it('prefixes Location', async () => {
    const created = await api.create(VALID);
    expect(created.headers['location']).toBe(`${PUBLIC_BASE_URL}/v1/pets/${readPet(created.text).id}`);
  });

  it('prefixes every Link', async () => {
    await api.createPet();
    const [next = '', ...more] = linksOf(await api.get('/v1/pets?limit=1'), 'next');
    expect(more).toEqual([]);
    expect(next.startsWith(`${PUBLIC_BASE_URL}/v1/pets?`)).toBe(true);
    const notFound = await api.get('/v1/pets/-1');
    expect(linksOf(notFound, 'successor-version')).toEqual([`${PUBLIC_BASE_URL}/v1/pets`]);
    expect(linksOf(notFound, 'help')).toEqual([`${PUBLIC_BASE_URL}/docs/errors#pet_not_found`]);
    const [unreadable] = await api.exchange('hello\r\n\r\n');
    expect(unreadable?.headers['link']).toBe(`<${PUBLIC_BASE_URL}/docs/errors#invalid_request>; rel="help"`);
  });

  it('is the production server of the OpenAPI document', async () => {
    const { servers } = JSON.parse((await api.get('/openapi.json')).text) as { servers: object[] };
    expect(servers).toEqual([{ url: `${PUBLIC_BASE_URL}/v1`, description: 'Production' }]);
  });

  it('ignores Host and the headers of a proxy', async () => {
    const headers = {
      host: 'evil.example',
      'x-forwarded-host': 'evil.example',
      'x-forwarded-proto': 'ftp',
      forwarded: 'host=evil.example',
    };
    const created = await api.create(VALID, { headers });
    const listed = await api.get('/v1/pets?limit=1', { headers });
    for (const value of [created.headers['location'], listed.headers['link']]) {
      expect(value).toContain(PUBLIC_BASE_URL);
      expect(value).not.toContain('evil.example');
    }
  });
});

describe('without its database', () => {
  beforeAll(() => proxy.cut());

  it.each([
    ['listPets', 'GET', '/v1/pets'],
    ['createPet', 'POST', '/v1/pets'],
    ['getPet', 'GET', '/v1/pets/1'],
  ])('%s responds with 503 service_unavailable, not 401, to known and unknown keys', async (_operation, method, path) => {
    const options = method === 'POST' ? { headers: { 'content-type': 'application/json' }, body: VALID } : {};
    for (const presented of [key, unknownKey(key)]) {
      expectError(await api.send(method, path, { ...options, authorization: `Bearer ${presented}` }), 'service_unavailable');
    }
  });

  it('responds with 401 to a missing or malformed key', async () => {
    expectError(await api.get('/v1/pets', { authorization: null }), 'missing_api_key');
    expectError(await api.get('/v1/pets', { authorization: 'Bearer wrong' }), 'invalid_api_key');
    expectError(await api.get('/v1/pets', { authorization: `Bearer ${key}x` }), 'invalid_api_key');
  });

  it('recovers when the database is back', async () => {
    await proxy.restore();
    await waitFor(async () => expect((await api.get('/v1/pets')).status).toBe(200));
    expect((await api.create(VALID)).status).toBe(201);
  });
});

describe('a pet that was confirmed with 201', () => {
  it('exists after the process was killed', async () => {
    const created = await api.create(VALID);
    await service.stop('SIGKILL');
    api.open({ baseUrl: await start(), key });
    const fetched = await api.get(`/v1/pets/${readPet(created.text).id}`);
    expect(readPet(fetched.text)).toEqual(readPet(created.text));
  });
});

describe('the log', () => {
  it('contains no key, valid or rejected', async () => {
    const rejected = unknownKey(key);
    await api.get('/v1/pets', { authorization: `Bearer ${rejected}` });
    await api.get(`/v1/pets?api_key=${rejected}`, { authorization: null });
    await api.get('/v1/pets');
    await service.stop();
    expect(service.output).not.toBe('');
    for (const secret of [key, rejected]) expect(service.output).not.toContain(secret);
  });
});

describe('an invalid configuration', () => {
  it('stops the start with an error for each variable', async () => {
    const bad = { DATABASE_URL: 'nonsense', PORT: '65536', PUBLIC_BASE_URL: 'nonsense' };
    const { exitCode, output } = await runUntilExit(bad);
    expect(exitCode).toBeGreaterThan(0);
    for (const variable of Object.keys(bad)) expect(output).toContain(variable);
  });
});
