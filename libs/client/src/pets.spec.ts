import { afterEach, describe, expect, it, jest } from '@jest/globals';
import { AnimalStore } from './animal-store.js';
import type { RequestOptions } from './options.js';
import type { Pet } from './pets.js';
import { listPage, patch, post, remove, retrieve } from './resource.js';
import { fetchOf, sent, transportOf } from './testing/scripted-fetch.js';

const PET = '{"id":9007199254740993,"name":"Rex","categoryId":7,"status":"sold"}';
const REX = { id: 9007199254740993n, name: 'Rex', categoryId: 7n, status: 'sold' };

/** The deprecated operation, without the mark that it is deprecated. */
interface Deprecated {
  retrieve(id: bigint, options?: RequestOptions): Promise<Pet>;
}

/** Returns a client, and the requests that it sends. The service gives these responses. */
function clientOf(...responses: readonly Response[]) {
  const left = [...responses];
  const fetch = jest.fn(async (_url: string, _init: RequestInit) => left.shift() ?? new Response('[]'));
  const client = new AnimalStore({ apiKey: 'ast_key', baseURL: 'https://store.example', fetch, maxRetries: 0 });
  const requests = () =>
    fetch.mock.calls.map(([url, { method, headers, body }]) => ({
      target: `${method} ${url.replace('https://store.example', '')}`,
      headers: Object.fromEntries(headers as Headers),
      body,
    }));
  return { pets: client.pets, requests };
}

afterEach(() => {
  jest.restoreAllMocks();
});

describe('create', () => {
  it('sends a different random key with each call', async () => {
    const { pets, requests } = clientOf(new Response(PET), new Response(PET), new Response(PET));
    await pets.create({ name: 'Rex', categoryId: 7n });
    await pets.create({ name: 'Rex', categoryId: 7n }, { idempotencyKey: undefined });
    jest.spyOn(crypto, 'getRandomValues').mockImplementation((bytes) => (bytes as unknown as Uint8Array).fill(10) as never);
    await pets.create({ name: 'Rex', categoryId: 7n });
    const keys = requests().map(({ headers }) => headers['idempotency-key']);
    expect(keys).toEqual([expect.stringMatching(/^"[0-9a-f]{32}"$/), expect.stringMatching(/^"[0-9a-f]{32}"$/), `"${'0a'.repeat(16)}"`]);
    expect(new Set(keys).size).toBe(3);
  });

  it('starts the request before the promise is awaited', () => {
    const { pets, requests } = clientOf(new Response(PET));
    const promise = pets.create({ name: 'Rex', categoryId: 7n });
    return Promise.resolve().then(() => {
      expect(requests()).toHaveLength(1);
      return promise;
    });
  });
});

describe('list', () => {
  it('requests the next pages from the base URL of the client, with the same options', async () => {
    const Link = '<https://elsewhere.example/animals/v1/pets?limit=1&status=sold&cursor=a%2Bb>; rel="next"';
    const { pets, requests } = clientOf(new Response(`[${PET}]`, { headers: { Link } }), new Response(`[${PET}]`));
    const found = [];
    for await (const pet of pets.list({ limit: 1 }, { headers: { 'X-Trace': '1' } })) found.push(pet);
    expect(found).toEqual([REX, REX]);
    expect(requests()).toMatchObject([
      { target: 'GET /v1/pets?limit=1', headers: { 'x-trace': '1' } },
      {
        target: 'GET /v1/pets?limit=1&status=sold&cursor=a%2Bb',
        headers: { authorization: 'Bearer ast_key', 'x-trace': '1' },
      },
    ]);
  });
});

describe('a success that the operation cannot have is an APIConnectionError:', () => {
  const operations = (body: string, status = 200) => {
    const responses = () => clientOf(new Response(status === 204 ? null : body, { status })).pets;
    return {
      create: () => responses().create({ name: 'Rex', categoryId: 7n }),
      list: () => responses().list(),
      retrieve: () => (responses() as Deprecated).retrieve(1n),
    };
  };
  const expectRejection = (promise: Promise<unknown>) =>
    expect(promise).rejects.toMatchObject({ name: 'APIConnectionError', status: undefined, retryable: true });

  const invalidPets = [
    ...['null', 'true', '1', '"x"', '[]', '{}', `[${PET}]`, '{"data":{}}', '<html>', '', '{"id":1'],
    ...['"1"', '1.5', '1e400', '7.0', 'null', '{}', '[1]', '99999999999999999999'].map((id) => PET.replace('9007199254740993', id)),
    PET.replace('"id":9007199254740993,', ''),
    PET.replace('"name":"Rex"', '"name":7'),
    PET.replace('"categoryId":7', '"categoryId":"7"'),
    PET.replace('"status":"sold"', '"status":null'),
  ];

  it.each(invalidPets)('a pet %j', async (body) => {
    await expectRejection(operations(body, 201).create());
    await expectRejection(operations(body).retrieve());
  });

  it.each(['null', '{}', PET, '{"data":[]}', '[[]]', `[${PET},{}]`, '[', '', ...invalidPets.map((pet) => `[${pet || '{'}]`)])(
    'a list %j',
    (body) => expectRejection(operations(body).list()),
  );

  it('a 204', async () => {
    for (const operation of Object.values(operations('', 204))) await expectRejection(operation());
  });

  it('but not additional members, or a status of a later version', async () => {
    const later = '{"id":1,"name":"Rex","categoryId":7,"status":"reserved","born":"2026-01-01"}';
    const pet = { id: 1n, name: 'Rex', categoryId: 7n, status: 'reserved', born: '2026-01-01' };
    expect(await operations(later).create()).toEqual(pet);
    expect((await operations(`[${later}]`).list()).data).toEqual([pet]);
  });
});

// What contexts with commands use, which `pets` does not have.
const target = { path: '/visits', id: 9007199254740993n, subpath: 'cancel' };

it('all attempts of a command have one key, also a random one', async () => {
  const failed = () => new Response('{}', { status: 503 });
  const fetch = fetchOf(failed(), new Response('{"id":1}'), failed(), new Response('{"id":1}'));
  const transport = transportOf({ fetch, minRetryDelay: 1 });
  expect(await post(transport, target, { reason: 'ill' }, {})).toEqual({ id: 1n });
  await post(transport, target, undefined, { idempotencyKey: 'once' });
  const [first, ...others] = sent(fetch).map(({ method, url, body, headers }) => [method, url, body, headers['idempotency-key']]);
  const url = 'https://store.example/v1/visits/9007199254740993/cancel';
  expect(first).toEqual(['POST', url, '{"reason":"ill"}', expect.stringMatching(/^"[0-9a-f]{32}"$/)]);
  expect(others).toEqual([first, ['POST', url, null, '"once"'], ['POST', url, null, '"once"']]);
});

it('a resource is changed by a merge patch, removed, and read with everything that belongs to it', async () => {
  const failed = () => new Response('{}', { status: 503 });
  const removed = () => new Response(null, { status: 204 });
  const fetch = fetchOf(failed(), new Response('{"id":1}'), failed(), removed(), new Response('[3]'));
  const transport = transportOf({ fetch, minRetryDelay: 1 });
  const { path, id } = target;
  expect(await patch(transport, { path, id }, { notes: null, reason: undefined }, {})).toEqual({ id: 1n });
  expect(await remove(transport, { path, id }, { headers: { 'If-Match': '"x"' } })).toBeUndefined();
  expect(await retrieve(transport, { path, id, subpath: 'days', query: { limit: 1 }, isResource: Array.isArray })).toEqual([3]);
  const requests = sent(fetch).map(({ method, url, body, headers }) => [method, url, body, headers['content-type'], headers['if-match']]);
  const url = 'https://store.example/v1/visits/9007199254740993';
  const [patched, deleted] = [
    ['PATCH', url, '{"notes":null}', 'application/merge-patch+json', undefined],
    ['DELETE', url, null, undefined, '"x"'],
  ];
  expect(requests).toEqual([patched, patched, deleted, deleted, ['GET', `${url}/days?limit=1`, null, undefined, undefined]]);
  const keys = sent(fetch).map(({ headers }) => headers['idempotency-key']);
  expect([keys[0], keys[2], keys[4]]).toEqual([keys[1], keys[3], undefined]);
  await expect(remove(transportOf({ fetch: fetchOf(new Response('{}')), maxRetries: 0 }), target, {})).rejects.toThrow('shape');
});

it.each(['null', '[]', '{}', '{"id":"1"}', '[{}]'])(
  'a resource is an object with an id, unless its check says otherwise: not %s',
  async (body) => {
    const transport = transportOf({ fetch: async () => new Response(body), maxRetries: 0 });
    const rejection = { name: 'APIConnectionError', message: 'The response does not have the shape of the operation' };
    await expect(post(transport, target, {}, {})).rejects.toMatchObject(rejection);
    await expect(retrieve(transport, target)).rejects.toMatchObject(rejection);
    if (body !== '[]') await expect(listPage(transport, target, {}, {})).rejects.toMatchObject(rejection);
    await post(transport, { ...target, isResource: () => true }, {}, {});
  },
);
