import { describe, expect, it, jest } from '@jest/globals';
import { AnimalStore } from './animal-store.js';
import { MemoryCache, type ResponseCache } from './memory-cache.js';
import type { ClientOptions, RequestOptions } from './options.js';
import type { Pet } from './pets.js';
import { LIST, fetchOf, sent, transportOf } from './testing/scripted-fetch.js';

const PET = '{"id":1,"name":"Rex","categoryId":7,"status":"sold"}';
const REX = { id: 1n, name: 'Rex', categoryId: 7n, status: 'sold' };
const JSON_TYPE = { 'Content-Type': 'application/json' };

/** The deprecated operation, without the mark that it is deprecated. */
interface Deprecated {
  retrieve(id: bigint, options?: RequestOptions): Promise<Pet>;
}

function petsOf(fetch: ClientOptions['fetch'], options: Partial<ClientOptions> = {}) {
  const client = new AnimalStore({ apiKey: 'ast_key', baseURL: 'https://store.example', fetch, maxRetries: 0, ...options });
  const deprecated: Deprecated = client.pets;
  return {
    create: () => client.pets.create({ name: 'Rex', categoryId: 7n }),
    list: () => client.pets.list(),
    retrieve: () => deprecated.retrieve(1n),
  };
}

type Operation = keyof ReturnType<typeof petsOf>;

const OPERATIONS: readonly Operation[] = ['create', 'list', 'retrieve'];

const failureOf = (promise: Promise<unknown>) =>
  promise.then(
    (value) => ({ resolved: value }),
    (error: unknown) => error,
  );

describe('a redirect', () => {
  it('is rejected if a browser hides it, or if a custom fetch has followed it', async () => {
    const hidden = Object.defineProperties(new Response(), {
      type: { value: 'opaqueredirect' },
      status: { value: 0 },
      ok: { value: false },
    });
    const followed = Object.defineProperties(new Response(`[${PET}]`), {
      redirected: { value: true },
      url: { value: 'https://other.example/v1' },
    });
    const unreadable = new Response(null, { status: 302, headers: { Location: 'https://[' } });
    for (const [response, message, status] of [
      [hidden, 'The service redirects:', undefined],
      [followed, 'The service redirects to https://other.example:', 200],
      [unreadable, 'The service redirects:', 302],
    ] as const) {
      const fetch = fetchOf(response);
      const error = await failureOf(petsOf(fetch).list());
      expect(error).toMatchObject({ name: 'APIError', message: expect.stringContaining(message), status, retryable: false });
      expect(fetch.mock.calls[0]?.[1]).toMatchObject({ redirect: 'manual' });
    }
  });

  it('without a target is an ordinary error', async () => {
    expect(await failureOf(petsOf(fetchOf(new Response('', { status: 300 }))).list())).toMatchObject({ name: 'APIError', message: '300' });
  });
});

describe('a success that the operation cannot have is an APIConnectionError:', () => {
  const invalidPets = [
    ...['null', 'true', '1', '"x"', '[]', '{}', `[${PET}]`, '{"data":{}}', '<html>', '', '{"id":1'],
    ...['"1"', '1.5', '1e400', '7.0', 'null', '{}', '[1]', '99999999999999999999'].map((id) => PET.replace('"id":1', `"id":${id}`)),
    PET.replace('"id":1,', ''),
    PET.replace('"name":"Rex"', '"name":7'),
    PET.replace('"categoryId":7', '"categoryId":"7"'),
    PET.replace('"status":"sold"', '"status":null'),
  ];

  it.each(invalidPets)('a pet %j', async (body) => {
    for (const operation of ['create', 'retrieve'] as const) {
      for (const status of [200, 201]) {
        const error = await failureOf(petsOf(fetchOf(new Response(body, { status, headers: JSON_TYPE })))[operation]());
        expect(error).toMatchObject({ name: 'APIConnectionError', status: undefined, retryable: true });
      }
    }
  });

  it.each([
    'null',
    '{}',
    PET,
    '{"data":[]}',
    '[null]',
    '[[]]',
    '[1]',
    `[${PET},{}]`,
    `[${PET},[${PET}]]`,
    '[',
    '',
    ...invalidPets.map((pet) => `[${pet || '{'}]`),
  ])('a list %j', async (body) => {
    const error = await failureOf(petsOf(fetchOf(new Response(body, { headers: JSON_TYPE }))).list());
    expect(error).toMatchObject({ name: 'APIConnectionError', status: undefined, retryable: true });
  });

  it.each(OPERATIONS)('a 204 of %s', async (operation) => {
    const error = await failureOf(petsOf(fetchOf(new Response(null, { status: 204 })))[operation]());
    expect(error).toMatchObject({ name: 'APIConnectionError' });
  });

  it.each([
    'text/html',
    'text/html; charset=utf-8',
    'application/xml',
    'application/jsonp',
    'text/plainer',
    'application/octet-stream',
    ';',
  ])('the type %s', async (type) => {
    const error = await failureOf(petsOf(fetchOf(new Response('[]', { headers: { 'Content-Type': type } }))).list());
    expect(error).toMatchObject({ name: 'APIConnectionError', message: 'The response is not of the type application/json' });
  });

  it.each(['application/json', 'Application/JSON; charset=utf-8', 'application/vnd.store+json', 'application/json;x'])(
    'but not the type %s',
    async (type) => {
      expect((await petsOf(fetchOf(new Response('[]', { headers: { 'Content-Type': type } }))).list()).data).toEqual([]);
    },
  );

  it('but not additional members, or a status of a later version', async () => {
    const later = '{"id":1,"name":"Rex","categoryId":7,"status":"reserved","born":"2026-01-01"}';
    expect(await petsOf(fetchOf(new Response(later))).create()).toEqual({ ...REX, status: 'reserved', born: '2026-01-01' });
  });

  it('and is retried with the same idempotency key', async () => {
    const fetch = fetchOf(new Response('[]'), new Response(PET, { status: 201 }));
    expect(await petsOf(fetch, { maxRetries: 1, minRetryDelay: 0 }).create()).toEqual(REX);
    const [first, second] = sent(fetch);
    expect(second).toEqual(first);
  });
});

describe('a body', () => {
  it('that never ends does not outlive the timeout, even if fetch ignores the signal', async () => {
    const stream = new ReadableStream({ pull: () => new Promise<never>(() => undefined) });
    for (const fetch of [async () => new Response(stream), () => new Promise<Response>(() => undefined)]) {
      expect(await failureOf(petsOf(fetch, { timeout: 20 }).list())).toMatchObject({ name: 'APIConnectionTimeoutError' });
    }
  });
});

describe('pages', () => {
  const page = (link: string) => new Response(`[${PET}]`, { headers: { Link: link } });
  const walk = async (fetch: ReturnType<typeof fetchOf>) => {
    const pets = [];
    for await (const pet of petsOf(fetch).list()) pets.push(pet);
    return pets.length;
  };

  it('that differ are all visited', async () => {
    expect(await walk(fetchOf(...Array.from({ length: 40 }, (_, n) => page(`<?cursor=${n}>; rel="next"`)), new Response('[]')))).toBe(40);
  });

  it('with a link that is not a URL fail, so that none is missed', async () => {
    expect(await failureOf(walk(fetchOf(page('<http://[>; rel="next"'))))).toMatchObject({ name: 'APIConnectionError' });
  });
});

describe('a cached response', () => {
  it.each([
    ['is no JSON', { etag: '"1"', body: '<html>' }],
    ['is no list', { etag: '"1"', body: '{}' }],
    ['has no valid ETag', { etag: 'a\nb', body: '[]' }],
    ['has an unquoted ETag', { etag: 'a', body: '[]' }],
    ['lacks members', {} as never],
  ])('that %s is replaced', async (_what, cached) => {
    const cache = new MemoryCache();
    cache.set('https://store.example/v1/pets', cached);
    const fetch = fetchOf(new Response(`[${PET}]`, { headers: { ETag: '"2"' } }));
    expect((await petsOf(fetch, { cache }).list()).data).toEqual([REX]);
    expect(sent(fetch)[0]?.headers).not.toHaveProperty('if-none-match');
    expect(cache.get('https://store.example/v1/pets')).toMatchObject({ etag: '"2"' });
  });

  it.each(['', 'a', '"a', '"a b"', '"a", "b"', 'w/"a"', '*'])('is not stored with the ETag %j', async (etag) => {
    const cache = { get: () => undefined, set: jest.fn<ResponseCache['set']>() };
    await petsOf(fetchOf(new Response('[]', { headers: { ETag: etag } })), { cache }).list();
    expect(cache.set).not.toHaveBeenCalled();
  });

  it('is not stored if it is not a list', async () => {
    const cache = { get: () => undefined, set: jest.fn<ResponseCache['set']>() };
    await failureOf(petsOf(fetchOf(new Response('{}', { headers: { ETag: '"1"' } })), { cache }).list());
    expect(cache.set).not.toHaveBeenCalled();
  });
});

describe('an option', () => {
  it.each(['a b', 'a\nb', 'a\r\nX-Evil: 1', 'é', 'a\u0000', '\u200bast_key'])('apiKey %j is rejected without repeating it', (apiKey) => {
    expect(() => transportOf({ apiKey })).toThrow(new TypeError('apiKey must be visible ASCII characters'));
  });

  it('apiKey is sent without the white space around it', async () => {
    const fetch = fetchOf();
    await transportOf({ fetch, apiKey: ' ast_key\r\n' }).send(LIST);
    expect(sent(fetch)).toMatchObject([{ headers: { authorization: 'Bearer ast_key' } }]);
  });

  it.each([
    ...[
      'store.example',
      '/v1',
      'ftp://store.example',
      'javascript:alert(1)',
      'https://',
      'https://store.example?',
      'https://store.example#',
    ],
    ...['https://store.example/?a=1', 'https://store.example/#a', 'https://user@store.example', 'https://:pw@store.example'],
  ])('baseURL %j is rejected', (baseURL) => {
    expect(() => transportOf({ baseURL })).toThrow(new TypeError('baseURL must be an http(s) URL without user name, query or fragment'));
  });

  it.each(['https://STORE.example:443', ' https://store.example/\n', 'https://store.example///'])(
    'baseURL %j is accepted',
    async (baseURL) => {
      const fetch = fetchOf();
      await transportOf({ fetch, baseURL }).send(LIST);
      expect(sent(fetch)).toMatchObject([{ url: 'https://store.example/v1/pets' }]);
    },
  );

  it('cannot replace the API key or leave the path', async () => {
    const fetch = fetchOf();
    const transport = transportOf({ fetch, headers: { AUTHORIZATION: 'Bearer other' } });
    await transport.send({ ...LIST, id: '../../admin?x' as never }, { headers: { authorization: 'Basic x' } });
    expect(sent(fetch)).toMatchObject([
      { url: 'https://store.example/v1/pets/..%2F..%2Fadmin%3Fx', headers: { authorization: 'Bearer ast_key' } },
    ]);
  });
});
