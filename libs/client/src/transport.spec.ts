import { describe, expect, it, jest } from '@jest/globals';
import { APIConnectionError, APIConnectionTimeoutError, RateLimitError } from './errors.js';
import { MemoryCache } from './memory-cache.js';
import type { Hooks } from './options.js';
import type { APIRequest } from './transport.js';
import { type Step, CREATE, LIST, fetchOf, outcomeOf, sent, transportOf, useFakeClock } from './testing/scripted-fetch.js';

useFakeClock();

describe('a client', () => {
  it.each([
    ['apiKey', { apiKey: undefined }],
    ['apiKey', { apiKey: '' }],
    ['baseURL', { baseURL: undefined }],
    ['baseURL', { baseURL: '' }],
  ])('requires %s', (name, options) => {
    expect(() => transportOf(options)).toThrow(expect.objectContaining({ name: 'AnimalStoreError', message: `${name} is required` }));
  });

  it('uses the global fetch by default', async () => {
    const fetch = fetchOf(new Response('[1]'));
    jest.spyOn(globalThis, 'fetch').mockImplementation(fetch as typeof globalThis.fetch);
    expect(await outcomeOf(transportOf({ fetch: undefined }).send(LIST))).toMatchObject({ text: '[1]', body: [1] });
    // A browser's fetch throws if it is called as a method of another object.
    expect(fetch.mock.contexts).toEqual([undefined]);
  });
});

describe('a request', () => {
  it('has the query without undefined parameters, and the headers of the client and of the call', async () => {
    const fetch = fetchOf();
    const headers = { 'X-Client': 'a', 'X-Both': 'client', authorization: 'other' };
    const query = { limit: 0, cursor: undefined, name: 'a&b', id: 9007199254740993n };
    await outcomeOf(
      transportOf({ fetch, baseURL: 'https://store.example/animals//', headers }).send(
        { ...LIST, query },
        { headers: { 'X-Both': 'call' } },
      ),
    );
    expect(sent(fetch)).toEqual([
      {
        url: 'https://store.example/animals/v1/pets?limit=0&name=a%26b&id=9007199254740993',
        method: 'GET',
        body: null,
        headers: { authorization: 'Bearer ast_key', 'x-both': 'call', 'x-client': 'a' },
      },
    ]);
  });

  it('has a body with exact integers, and its idempotency key as a quoted string', async () => {
    const fetch = fetchOf();
    await outcomeOf(transportOf({ fetch }).send({ ...CREATE, idempotencyKey: 'a"b\\c"' }));
    expect(sent(fetch)).toEqual([
      {
        url: 'https://store.example/v1/pets',
        method: 'POST',
        body: '{"name":"Rex","categoryId":9007199254740993}',
        headers: {
          authorization: 'Bearer ast_key',
          'content-type': 'application/json',
          'idempotency-key': String.raw`"a\"b\\c\""`,
        },
      },
    ]);
  });

  it('to change a resource has a merge patch', async () => {
    const fetch = fetchOf();
    await outcomeOf(transportOf({ fetch }).send({ ...LIST, method: 'PATCH', body: { name: null } }, { headers: { 'If-Match': '"1"' } }));
    const headers = { authorization: 'Bearer ast_key', 'content-type': 'application/merge-patch+json', 'if-match': '"1"' };
    expect(sent(fetch)).toMatchObject([{ method: 'PATCH', body: '{"name":null}', headers }]);
  });

  it('accepts an idempotency key of 255 characters', async () => {
    const fetch = fetchOf();
    await outcomeOf(transportOf({ fetch }).send({ ...CREATE, idempotencyKey: '~'.repeat(255) }));
    expect(sent(fetch)).toMatchObject([{ headers: { 'idempotency-key': `"${'~'.repeat(255)}"` } }]);
  });

  it.each([
    ...['', 'x'.repeat(256), 'a b', 'ä', 'a\r\nX-Evil: 1', '\u0000'].map(
      (idempotencyKey) => ['idempotencyKey must be 1 to 255 visible ASCII characters', { ...CREATE, idempotencyKey }] as const,
    ),
    ['id must be a bigint such as 7n, because a number is not exact above 2^53', { ...LIST, id: 7 as never }],
    ['id must be a bigint such as 7n, because a number is not exact above 2^53', { ...LIST, query: { id: 7 } }],
  ] as const)('is rejected before it is sent: %s', async (message, request) => {
    const fetch = fetchOf();
    expect(await outcomeOf(transportOf({ fetch }).send(request))).toEqual(new TypeError(message));
    expect(fetch).not.toHaveBeenCalled();
  });
});

describe('a response', () => {
  it('has its text, its parsed body and its Link', async () => {
    const response = new Response('[{"id":9007199254740993}]', { headers: { Link: '</v1/pets?cursor=x>; rel="next"' } });
    expect(await outcomeOf(transportOf({ fetch: fetchOf(response) }).send(LIST))).toEqual({
      response,
      text: '[{"id":9007199254740993}]',
      body: [{ id: 9007199254740993n }],
      link: '</v1/pets?cursor=x>; rel="next"',
    });
    expect(await outcomeOf(transportOf({ fetch: fetchOf() }).send(LIST))).toMatchObject({ link: undefined });
  });

  it('without a body, such as that of a DELETE, is a success', async () => {
    const fetch = fetchOf(new Response(null, { status: 204 }));
    const outcome = await outcomeOf(transportOf({ fetch }).send({ ...LIST, method: 'DELETE', id: 7n }), 60_000);
    expect(outcome).toMatchObject({ text: '', body: undefined });
    expect(sent(fetch)).toMatchObject([{ method: 'DELETE', url: 'https://store.example/v1/pets/7', body: null }]);
  });

  it('that marks the operation as deprecated is logged', async () => {
    Object.assign(globalThis, { [Symbol.for('@animal-store/client.warned')]: undefined });
    const deprecated = () => new Response('[]', { headers: { Deprecation: '@0' } });
    const warn = jest.spyOn(console, 'warn').mockReturnValue();
    await outcomeOf(transportOf({ fetch: fetchOf(deprecated()) }).send(LIST));
    expect(warn.mock.calls).toEqual([['Animal Store: listPets has been deprecated since 1970-01-01.']]);
    const logger = { warn: jest.fn() };
    await outcomeOf(transportOf({ fetch: fetchOf(deprecated()), logger }).send(CREATE));
    expect(logger.warn.mock.calls).toEqual([['Animal Store: createPet has been deprecated since 1970-01-01.']]);
  });
});

describe('retries', () => {
  const failing = () => fetchOf(...Array.from({ length: 20 }, () => new Response('', { status: 503 })));

  it.each([
    ['the default', {}, {}, 3],
    ['undefined', { maxRetries: undefined }, { maxRetries: undefined }, 3],
    ['set for the client', { maxRetries: 1 }, {}, 2],
    ['set for the call', { maxRetries: 1 }, { maxRetries: 4 }, 5],
    ['0', { maxRetries: 1 }, { maxRetries: 0 }, 1],
  ])('are limited by maxRetries: %s', async (_what, options, callOptions, attempts) => {
    const fetch = failing();
    expect(await outcomeOf(transportOf({ fetch, ...options }).send(LIST, callOptions), 60_000)).toMatchObject({ status: 503 });
    expect(fetch).toHaveBeenCalledTimes(attempts);
  });

  it('wait for the delay that is reported, which grows', async () => {
    const times: number[] = [];
    const delays: unknown[] = [];
    const hooks: Hooks = {
      onRequest: () => void times.push(performance.now()),
      onError: (_request, _error, delay) => void delays.push(delay),
    };
    const transport = transportOf({ fetch: failing(), hooks, minRetryDelay: 100, maxRetryDelay: 300, maxRetries: 3 });
    const start = performance.now();
    await outcomeOf(transport.send(LIST), 60_000);
    expect(delays).toEqual([50, 100, 150, undefined]);
    expect(times.map((time) => time - start)).toEqual([0, 50, 150, 300]);
  });

  it('have delays of up to 500 ms and 8 s by default', async () => {
    const onError = jest.fn<NonNullable<Hooks['onError']>>();
    await outcomeOf(transportOf({ fetch: failing(), hooks: { onError }, maxRetries: 6 }).send(LIST), 60_000);
    expect(onError.mock.calls.map(([, , delay]) => delay)).toEqual([250, 500, 1_000, 2_000, 4_000, 4_000, undefined]);
  });

  it('wait for Retry-After, unless it is more than a minute', async () => {
    const limited = (seconds: string) => new Response('', { status: 429, headers: { 'Retry-After': seconds } });
    const fetch = fetchOf(limited('60'), limited('61'));
    const request = transportOf({ fetch, minRetryDelay: 0 }).send(LIST);
    await outcomeOf(request, 59_999);
    expect(fetch).toHaveBeenCalledTimes(1);
    expect(await outcomeOf(request, 1)).toBeInstanceOf(RateLimitError);
    expect(fetch).toHaveBeenCalledTimes(2);
  });

  it.each([
    ['a failed connection', () => new Error('reset')],
    ['an incomplete response', () => new Response(new ReadableStream({ pull: (controller) => controller.error(new Error('reset')) }))],
    ['a response that is not JSON', () => new Response('[{"id":')],
    ['status 500', () => new Response('<html>', { status: 500 })],
  ])('follow %s, with the same body and idempotency key', async (_what, fault) => {
    const fetch = fetchOf(fault(), fault(), new Response('{}', { status: 201 }));
    expect(await outcomeOf(transportOf({ fetch }).send(CREATE), 60_000)).toMatchObject({ text: '{}' });
    const [first, ...others] = sent(fetch);
    expect(others).toEqual([first, first]);
  });

  it.each<[APIRequest['method'], Record<string, string>, attempts: number]>([
    ['GET', {}, 3],
    ['PUT', {}, 3],
    ['DELETE', {}, 3],
    ['POST', {}, 1],
    ['POST', { 'Idempotency-Key': 'once' }, 3],
    ['PATCH', {}, 1],
    ['PATCH', { 'If-Match': '"1"' }, 3],
  ])('of %s with %j cannot have a second effect: %i attempts', async (method, headers, attempts) => {
    const fetch = failing();
    expect(await outcomeOf(transportOf({ fetch }).send({ ...LIST, method }, { headers }), 60_000)).toMatchObject({ status: 503 });
    expect(fetch).toHaveBeenCalledTimes(attempts);
  });

  it('do not follow an error response that would be the same again', async () => {
    const fetch = fetchOf(new Response('{"code":"pet_not_found","message":"No pet."}', { status: 404 }));
    expect(await outcomeOf(transportOf({ fetch }).send(LIST), 60_000)).toMatchObject({
      name: 'NotFoundError',
      message: '404 pet_not_found: No pet.',
    });
    expect(fetch).toHaveBeenCalledTimes(1);
  });

  it.each<[string, Step, string]>([
    ['a failed connection', new Error('reset'), 'The connection failed before the response was complete'],
    ['no JSON', new Response('[{"id":'), 'The response is not valid JSON'],
  ])('end with a typed error and its cause: %s', async (_what, fault, message) => {
    const error = await outcomeOf(transportOf({ fetch: fetchOf(fault), maxRetries: 0 }).send(LIST));
    expect(error).toBeInstanceOf(APIConnectionError);
    expect(error).not.toBeInstanceOf(APIConnectionTimeoutError);
    expect(error).toMatchObject({ message, status: undefined, cause: fault instanceof Error ? fault : { name: 'SyntaxError' } });
  });
});

describe('hooks', () => {
  it('get the same request object for all events of an attempt', async () => {
    const requests = new Map<unknown, string[]>();
    const add = (request: unknown, event: string) => void requests.set(request, [...(requests.get(request) ?? []), event]);
    const fetch = fetchOf(new Error('reset'), new Response('', { status: 503 }));
    const hooks: Hooks = {
      onRequest: (request) => add(request, 'request'),
      onResponse: (request, { status }) => add(request, `response ${status}`),
      onError: (request, { name }) => add(request, name),
    };
    await outcomeOf(transportOf({ fetch, hooks }).send({ ...CREATE, query: { id: 1n } }), 60_000);
    const attempt = { operation: 'createPet', method: 'POST', url: 'https://store.example/v1/pets?id=1' };
    expect([...requests]).toEqual([
      [{ ...attempt, attempt: 1, headers: expect.any(Headers) }, ['request', 'APIConnectionError']],
      [{ ...attempt, attempt: 2, headers: expect.any(Headers) }, ['request', 'response 503', 'InternalServerError']],
      [{ ...attempt, attempt: 3, headers: expect.any(Headers) }, ['request', 'response 200']],
    ]);
  });

  it('can add headers to one attempt, also after a delay', async () => {
    const fetch = fetchOf(new Error('reset'));
    const hooks: Hooks = {
      onRequest: async ({ headers, attempt }) => {
        await Promise.resolve();
        headers.set(`X-Attempt-${attempt}`, 'yes');
      },
    };
    await outcomeOf(transportOf({ fetch, hooks }).send(LIST), 60_000);
    expect(sent(fetch).map(({ headers }) => Object.keys(headers))).toEqual([
      ['authorization', 'x-attempt-1'],
      ['authorization', 'x-attempt-2'],
    ]);
  });

  it('get the status, headers, request id and duration of a response', async () => {
    const responses = [new Response('[]', { headers: { 'X-Request-Id': 'r-1' } }), new Response('[]')];
    const onResponse = jest.fn<NonNullable<Hooks['onResponse']>>();
    const fetch = async () => {
      jest.advanceTimersByTime(40);
      return responses[onResponse.mock.calls.length] as Response;
    };
    const transport = transportOf({ fetch, hooks: { onResponse } });
    await outcomeOf(transport.send(LIST));
    await outcomeOf(transport.send(LIST));
    expect(onResponse.mock.calls.map(([, info]) => info)).toEqual([
      { status: 200, headers: responses[0]?.headers, requestId: 'r-1', durationMs: 40 },
      { status: 200, headers: responses[1]?.headers, requestId: undefined, durationMs: 40 },
    ]);
  });

  it.each(['onRequest', 'onResponse', 'onError'])('fail the request with their error, without a retry: %s', async (name) => {
    const error = new Error('hook');
    const fetch = fetchOf(new Response('', { status: 503 }));
    const fail = () => {
      throw error;
    };
    const onError = jest.fn<NonNullable<Hooks['onError']>>();
    expect(await outcomeOf(transportOf({ fetch, hooks: { onError, [name]: fail } }).send(LIST), 60_000)).toBe(error);
    expect(fetch.mock.calls.length).toBeLessThanOrEqual(1);
    expect(onError).not.toHaveBeenCalled();
  });
});

describe('a cache', () => {
  const fresh = () => new Response('[{"id":1}]', { headers: { ETag: '"1"', Link: '<?cursor=x>; rel="next"' } });
  const notModified = (headers = {}) => new Response(null, { status: 304, headers });
  /** Asynchronous, like a cache outside the process. */
  const asyncCache = (entries: Map<string, object>) => ({
    get: async (url: string) => entries.get(url) as never,
    set: async (url: string, response: object) => {
      await Promise.resolve();
      entries.set(url, response);
    },
  });

  it('stores the response by URL, before the call returns, and sends its ETag', async () => {
    const fetch = fetchOf(fresh());
    const entries = new Map<string, object>();
    const transport = transportOf({ fetch, cache: asyncCache(entries) });
    await outcomeOf(transport.send({ ...LIST, query: { limit: 1 } }));
    const url = 'https://store.example/v1/pets?limit=1';
    expect([...entries]).toEqual([[url, { etag: '"1"', body: '[{"id":1}]', link: '<?cursor=x>; rel="next"' }]]);
    await outcomeOf(transport.send({ ...LIST, query: { limit: 1 } }));
    await outcomeOf(transport.send({ ...LIST, query: { limit: 2 } }));
    expect(sent(fetch).map(({ headers }) => headers['if-none-match'])).toEqual([undefined, '"1"', undefined]);
  });

  it('supplies the body and the Link of a 304', async () => {
    const fetch = fetchOf(fresh(), notModified(), notModified({ ETag: '"2"', Link: '<?cursor=y>; rel="next"' }), notModified());
    const transport = transportOf({ fetch, cache: new MemoryCache() });
    await outcomeOf(transport.send(LIST));
    for (let i = 0; i < 3; i++) {
      expect(await outcomeOf(transport.send(LIST))).toMatchObject({ text: '', body: [{ id: 1n }], link: '<?cursor=x>; rel="next"' });
    }
    expect(sent(fetch).at(-1)).toMatchObject({ headers: { 'if-none-match': '"1"' } });
  });

  it('is replaced by a new response', async () => {
    const fetch = fetchOf(fresh(), new Response('[2]', { headers: { ETag: '"2"' } }), notModified());
    const transport = transportOf({ fetch, cache: new MemoryCache() });
    await outcomeOf(transport.send(LIST));
    expect(await outcomeOf(transport.send(LIST))).toMatchObject({ body: [2], link: undefined });
    expect(await outcomeOf(transport.send(LIST))).toMatchObject({ body: [2], link: undefined });
  });

  it.each([
    ['a creation', CREATE, new Response('{}', { status: 200, headers: { ETag: '"1"' } })],
    ['a response without an ETag', LIST, new Response('[]')],
    ['a status other than 200', LIST, new Response('[]', { status: 203, headers: { ETag: '"1"' } })],
  ])('is not used for %s', async (_what, request, response) => {
    const cache = { get: jest.fn((_url: string) => undefined), set: jest.fn() };
    await outcomeOf(transportOf({ fetch: fetchOf(response), cache }).send(request));
    expect(cache.get).toHaveBeenCalledTimes(request === CREATE ? 0 : 1);
    expect(cache.set).not.toHaveBeenCalled();
  });

  it('fails the call with its own errors', async () => {
    const error = new Error('disk full');
    const cache = { get: () => undefined, set: () => Promise.reject(error) };
    expect(await outcomeOf(transportOf({ fetch: fetchOf(fresh()), cache }).send(LIST))).toBe(error);
  });

  it('is required for a 304', async () => {
    expect(await outcomeOf(transportOf({ fetch: fetchOf(notModified()) }).send(LIST))).toMatchObject({ name: 'APIError', status: 304 });
  });
});
