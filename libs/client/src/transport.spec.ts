import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { APIConnectionError, APIConnectionTimeoutError, APIUserAbortError } from './errors.js';
import { type Step, CREATE, LIST, fetchOf, sent, transportOf } from './testing/scripted-fetch.js';

const MAX_TIMER_MS = 2 ** 31 - 1;

/** Returns the value or the error of a promise, or `pending` if it has not settled after this time. */
async function outcomeOf(promise: Promise<unknown>, ms = 0): Promise<unknown> {
  let outcome: unknown = 'pending';
  const settle = (result: unknown) => void (outcome = result);
  promise.then(settle, settle);
  await jest.advanceTimersByTimeAsync(ms);
  return outcome;
}

/** Returns a signal and the number of its listeners. */
function observedSignal() {
  const controller = new AbortController();
  const { signal } = controller;
  const listeners = new Set<unknown>();
  jest.spyOn(signal, 'addEventListener').mockImplementation((...args: unknown[]) => {
    listeners.add(args[1]);
    EventTarget.prototype.addEventListener.apply(signal, args as never);
  });
  jest.spyOn(signal, 'removeEventListener').mockImplementation((...args: unknown[]) => {
    listeners.delete(args[1]);
    EventTarget.prototype.removeEventListener.apply(signal, args as never);
  });
  return { controller, signal, listeners };
}

beforeEach(() => {
  jest.useFakeTimers();
  jest.spyOn(Math, 'random').mockReturnValue(0.5);
});
afterEach(() => {
  const timers = jest.getTimerCount();
  jest.restoreAllMocks();
  jest.useRealTimers();
  // A timer that is left would keep a process alive.
  expect(timers).toBe(0);
});

describe('bytes', () => {
  const PHOTO = { path: '/pets', id: 7n, subpath: 'photo' };
  const bytes = Uint8Array.of(0, 255, 128);

  it('are sent as they are, with the type of the Blob, in each attempt', async () => {
    for (const [body, type] of [
      [bytes, 'application/octet-stream'] as const,
      [new Blob([bytes], { type: 'image/png' }), 'image/png'] as const,
    ]) {
      const fetch = fetchOf(new Error('lost'));
      await outcomeOf(transportOf({ fetch }).send({ ...PHOTO, method: 'POST', body, idempotencyKey: 'once' }), 1_000);
      const attempt = { body, headers: { 'content-type': type, 'idempotency-key': '"once"' } };
      expect(sent(fetch)).toMatchObject([attempt, attempt]);
    }
  });

  it('are received if the response has their type, also with parameters', async () => {
    const respond = (type: string, body: Uint8Array<ArrayBuffer> | string, status = 200) =>
      transportOf({ maxRetries: 0, fetch: fetchOf(new Response(body, { status, headers: { 'Content-Type': type } })) }).send({
        ...PHOTO,
        bytesType: 'image/png',
        isResult: (result) => result instanceof Uint8Array,
      });
    for (const type of ['image/png', 'image/png;v=1']) expect((await respond(type, bytes)).body).toEqual(bytes);
    for (const body of ['{}', '<html>']) await expect(respond('text/html', body)).rejects.toMatchObject({ name: 'APIConnectionError' });
    await expect(respond('image/png', 'bytes', 404)).rejects.toMatchObject({ status: 404 });
  });
});

describe('an option', () => {
  it.each([undefined, '', ' ', 'a b', 'a\nb', 'a\r\nX-Evil: 1', 'é', 'a\u0000', '\u200bast_key'])(
    'apiKey %j is rejected without repeating it',
    (apiKey) => {
      expect(() => transportOf({ apiKey })).toThrow(new TypeError('apiKey is required, and must be visible ASCII characters'));
    },
  );

  it('apiKey is sent without the white space around it', async () => {
    const fetch = fetchOf();
    await transportOf({ fetch, apiKey: ' ast_key\r\n' }).send(LIST);
    expect(sent(fetch)).toMatchObject([{ headers: { authorization: 'Bearer ast_key' } }]);
  });

  it.each([
    ...[undefined, '', 'store.example', '/v1', 'ftp://store.example', 'javascript:alert(1)', 'https://'],
    ...['https://store.example?', 'https://store.example#', 'https://store.example/?a=1', 'https://store.example/#a'],
    ...['https://user@store.example', 'https://:pw@store.example'],
  ])('baseURL %j is rejected', (baseURL) => {
    const message = 'baseURL is required, and must be an http(s) URL without user name, query or fragment';
    expect(() => transportOf({ baseURL })).toThrow(new TypeError(message));
  });

  it.each(['https://STORE.example:443', ' https://store.example/\n', 'https://store.example///'])(
    'baseURL %j is accepted',
    async (baseURL) => {
      const fetch = fetchOf();
      await transportOf({ fetch, baseURL }).send(LIST);
      expect(sent(fetch)).toMatchObject([{ url: 'https://store.example/v1/pets' }]);
    },
  );

  it('fetch is the global fetch by default', async () => {
    const fetch = fetchOf(new Response('[1]'));
    jest.spyOn(globalThis, 'fetch').mockImplementation(fetch as typeof globalThis.fetch);
    expect(await transportOf({ fetch: undefined }).send(LIST)).toMatchObject({ body: [1] });
    // A browser's fetch throws if it is called as a method of another object.
    expect(fetch.mock.contexts).toEqual([undefined]);
  });
});

describe('a request', () => {
  it('has the query without undefined parameters, and the headers of the client and of the call', async () => {
    const fetch = fetchOf();
    const transport = transportOf({
      fetch,
      baseURL: 'https://store.example/animals//',
      headers: { 'X-Client': 'a', 'X-Both': 'client', AUTHORIZATION: 'Bearer other' },
    });
    const query = { limit: 0, cursor: undefined, name: 'a&b', id: 9007199254740993n };
    await transport.send({ ...LIST, query }, { headers: { 'X-Both': 'call', authorization: 'Basic x' } });
    expect(sent(fetch)).toEqual([
      {
        url: 'https://store.example/animals/v1/pets?limit=0&name=a%26b&id=9007199254740993',
        method: 'GET',
        body: null,
        headers: { authorization: 'Bearer ast_key', 'x-both': 'call', 'x-client': 'a' },
      },
    ]);
  });

  it('cannot leave the path, and follows no redirect', async () => {
    const fetch = fetchOf();
    await transportOf({ fetch }).send({ ...LIST, id: '../../admin?x' as never });
    expect(sent(fetch)).toMatchObject([{ url: 'https://store.example/v1/pets/..%2F..%2Fadmin%3Fx' }]);
    expect(fetch.mock.calls[0]?.[1]).toMatchObject({ redirect: 'error' });
  });

  it('has a body with exact integers, and its idempotency key as a quoted string', async () => {
    const fetch = fetchOf();
    await transportOf({ fetch }).send({ ...CREATE, idempotencyKey: 'a"b\\c"' });
    const headers = { authorization: 'Bearer ast_key', 'content-type': 'application/json', 'idempotency-key': String.raw`"a\"b\\c\""` };
    expect(sent(fetch)).toMatchObject([{ method: 'POST', body: '{"name":"Rex","categoryId":9007199254740993}', headers }]);
  });

  it.each([
    ...['', 'x'.repeat(256), 'a b', 'ä', 'a\r\nX-Evil: 1', '\u0000'].map(
      (idempotencyKey) => ['idempotencyKey must be 1 to 255 visible ASCII characters', { ...CREATE, idempotencyKey }] as const,
    ),
    ['id must be a bigint such as 7n, because a number is not exact above 2^53', { ...LIST, id: 7 as never }],
    ['id must be a bigint such as 7n, because a number is not exact above 2^53', { ...LIST, query: { id: 7 } }],
  ] as const)('is rejected before it is sent: %s', async (message, request) => {
    const fetch = fetchOf();
    await expect(transportOf({ fetch }).send(request)).rejects.toEqual(new TypeError(message));
    expect(fetch).not.toHaveBeenCalled();
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

  it.each([
    ['by default', {}, [0, 250, 750, 1_750, 3_750, 7_750, 11_750]],
    ['as set', { minRetryDelay: 100 }, [0, 50, 150, 350, 750, 1_550, 3_150]],
  ])('have delays that grow up to a limit, %s', async (_what, delays, expected) => {
    const times: number[] = [];
    const start = performance.now();
    const fetch = async () => {
      times.push(performance.now() - start);
      return new Response('', { status: 503 });
    };
    await outcomeOf(transportOf({ fetch, maxRetries: 6, ...delays }).send(LIST), 60_000);
    expect(times).toEqual(expected);
  });

  it('wait a random delay longer than Retry-After, unless it is more than a minute', async () => {
    const limited = (seconds: string) => new Response('', { status: 429, headers: { 'Retry-After': seconds } });
    const fetch = fetchOf(limited('60'), limited('61'));
    const request = transportOf({ fetch, minRetryDelay: 100 }).send(LIST);
    await outcomeOf(request, 60_049);
    expect(fetch).toHaveBeenCalledTimes(1);
    expect(await outcomeOf(request, 1)).toMatchObject({ status: 429 });
    expect(fetch).toHaveBeenCalledTimes(2);
  });

  it.each([
    ['a failed connection', () => new Error('reset')],
    ['an incomplete response', () => new Response(new ReadableStream({ pull: (controller) => controller.error(new Error('reset')) }))],
    ['a response that is not JSON', () => new Response('[{"id":')],
    ['a result of another shape', () => new Response('[]')],
    ['status 500', () => new Response('<html>', { status: 500 })],
  ])('follow %s, with the same body and idempotency key', async (_what, fault) => {
    const fetch = fetchOf(fault(), fault(), new Response('{}', { status: 201 }));
    const isResult = (body: unknown) => !Array.isArray(body);
    expect(await outcomeOf(transportOf({ fetch }).send({ ...CREATE, isResult }), 60_000)).toMatchObject({ body: {} });
    const [first, ...others] = sent(fetch);
    expect(others).toEqual([first, first]);
  });

  it('do not follow an error response that would be the same again', async () => {
    const fetch = fetchOf(new Response('{"code":"pet_not_found","message":"No pet."}', { status: 404 }));
    const error = await outcomeOf(transportOf({ fetch }).send(LIST), 60_000);
    expect(error).toMatchObject({ name: 'APIError', message: '404 pet_not_found: No pet.', code: 'pet_not_found' });
    expect(fetch).toHaveBeenCalledTimes(1);
  });

  it.each<[string, Step, string]>([
    ['a failed connection', new Error('reset'), 'The connection failed before the response was complete: reset'],
    [
      'a cause of fetch',
      new TypeError('fetch failed', { cause: new Error('unexpected redirect') }),
      'The connection failed before the response was complete: unexpected redirect',
    ],
    ['no JSON', new Response('[{"id":'), 'The response is not valid JSON'],
  ])('end with a typed error and its cause: %s', async (_what, fault, message) => {
    const error = await outcomeOf(transportOf({ fetch: fetchOf(fault), maxRetries: 0 }).send(LIST));
    expect(error).toBeInstanceOf(APIConnectionError);
    expect(error).toMatchObject({ message, status: undefined, cause: fault instanceof Error ? fault : { name: 'SyntaxError' } });
  });
});

describe('a timeout', () => {
  it.each(['hang', 'hang in the body'] as const)('ends an attempt that would %s, which is then retried', async (step) => {
    const fetch = fetchOf(step, step);
    const request = transportOf({ fetch, timeout: 100, minRetryDelay: 20, maxRetries: 1 }).send(LIST);
    await outcomeOf(request, 109);
    expect(fetch).toHaveBeenCalledTimes(1);
    await outcomeOf(request, 1);
    expect(fetch).toHaveBeenCalledTimes(2);
    expect(await outcomeOf(request, 99)).toBe('pending');
    const error = await outcomeOf(request, 1);
    expect(error).toBeInstanceOf(APIConnectionTimeoutError);
    expect(error).toMatchObject({ message: 'No response within 100 ms', retryable: true, cause: { name: 'AbortError' } });
  });

  it.each([
    ['30 s by default', {}, {}, 30_000],
    ['set for the call', { timeout: 100 }, { timeout: 20 }, 20],
    ['the maximum delay of a timer', { timeout: 1e12 }, {}, MAX_TIMER_MS],
  ])('is %s', async (_what, options, callOptions, expected) => {
    const request = transportOf({ fetch: fetchOf('hang'), maxRetries: 0, ...options }).send(LIST, callOptions);
    expect(await outcomeOf(request, expected - 1)).toBe('pending');
    expect(await outcomeOf(request, 1)).toMatchObject({ name: 'APIConnectionTimeoutError' });
  });
});

describe('a signal', () => {
  const reason = new Error('enough');

  it('that is already aborted prevents the request', async () => {
    const fetch = fetchOf();
    const error = await outcomeOf(transportOf({ fetch }).send(LIST, { signal: AbortSignal.abort(reason) }));
    expect(error).toBeInstanceOf(APIUserAbortError);
    expect(error).toMatchObject({ message: 'The request was aborted', cause: reason, retryable: false });
    expect(fetch).not.toHaveBeenCalled();
  });

  it.each<Step>(['hang', 'hang in the body', new Error('reset')])('ends the request during %s', async (step) => {
    const fetch = fetchOf(step);
    const { controller, signal, listeners } = observedSignal();
    const request = transportOf({ fetch, minRetryDelay: 20_000 }).send(LIST, { signal });
    expect(await outcomeOf(request, 10)).toBe('pending');
    expect(listeners.size).toBe(1);
    controller.abort(reason);
    const error = await outcomeOf(request, 60_000);
    expect(error).toBeInstanceOf(APIUserAbortError);
    expect(error).toMatchObject({ cause: reason });
    expect(listeners.size).toBe(0);
    expect(fetch).toHaveBeenCalledTimes(1);
  });

  it.each<[string, readonly Step[]]>([
    ['success', []],
    ['retries', [new Error('reset'), new Response('', { status: 503 })]],
    ['an error response', [new Response('', { status: 400 })]],
    ['a timeout', ['hang', 'hang', 'hang']],
  ])('has no listeners after %s', async (_what, steps) => {
    const { signal, listeners } = observedSignal();
    expect(await outcomeOf(transportOf({ fetch: fetchOf(...steps), timeout: 10 }).send(LIST, { signal }), 60_000)).not.toBe('pending');
    expect(listeners.size).toBe(0);
  });
});
