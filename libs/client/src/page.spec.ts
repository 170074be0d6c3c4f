import { describe, expect, it, jest } from '@jest/globals';
import { APIPromise, type CompletedRequest } from './api-promise.js';
import { APIConnectionError, APIConnectionTimeoutError, APIError, APIUserAbortError, errorOf } from './errors.js';
import { PagePromise } from './page.js';

const completed = (body: unknown, link?: string): Promise<CompletedRequest> =>
  Promise.resolve({ response: new Response(null, link === undefined ? {} : { headers: { Link: link } }), body });

/** Returns the first of these pages. Each page links to the next one. */
function listOf(...pages: readonly (readonly string[])[]) {
  const requested: unknown[] = [];
  const request = (query: { cursor?: string }): PagePromise<string> => {
    requested.push(query);
    const place = Number(query.cursor ?? 0);
    const isLast = place === pages.length - 1;
    return new PagePromise<string>(completed(pages[place], isLast ? undefined : `</v1/pets?cursor=${place + 1}>; rel="next"`), request);
  };
  return { list: request({}), requested };
}

/** Returns the query of the next page for a `Link` header. */
async function nextQuery(link: string): Promise<object | undefined> {
  let query: object | undefined;
  const page = await new PagePromise<string>(completed([], link), (next) => {
    query = next;
    return new PagePromise<string>(completed([]), () => {
      throw new Error();
    });
  });
  if (page.hasNextPage()) await page.getNextPage();
  return query;
}

describe('a list', () => {
  it('is iterated over all pages, and each is requested when the loop reaches it', async () => {
    const { list, requested } = listOf(['A', 'B'], [], ['C']);
    const visited: [string, number][] = [];
    for await (const item of list) visited.push([item, requested.length]);
    expect(visited).toEqual([
      ['A', 1],
      ['B', 1],
      ['C', 3],
    ]);
  });

  it('is read page by page', async () => {
    const { list } = listOf(['A', 'B'], ['C']);
    const first = await list;
    expect([first.data, first.hasNextPage()]).toEqual([['A', 'B'], true]);
    const second = await first.getNextPage();
    expect([second.data, second.hasNextPage()]).toEqual([['C'], false]);
    expect(() => second.getNextPage()).toThrow('This is the last page: check hasNextPage() first');
  });

  it('can be iterated again from any page', async () => {
    const first = await listOf(['A'], ['B'], ['C']).list;
    const items: string[] = [];
    for await (const item of await first.getNextPage()) items.push(item);
    expect(items).toEqual(['B', 'C']);
  });

  it('rejects if a page fails', async () => {
    const error = new Error('reset');
    const list = new PagePromise<string>(completed(['A'], '<?cursor=1>; rel=next'), () => {
      throw error;
    });
    const items: string[] = [];
    await expect(
      (async () => {
        for await (const item of list) items.push(item);
      })(),
    ).rejects.toBe(error);
    expect(items).toEqual(['A']);
  });
});

describe('the link to the next page', () => {
  it.each([
    ['<https://store.example/v1/pets?limit=2&cursor=a%2Bb>; rel="next"', { limit: '2', cursor: 'a+b' }],
    ['</v1/pets?cursor=2>;rel=next', { cursor: '2' }],
    ['<?cursor=2>; REL="NEXT"', { cursor: '2' }],
    ['<?cursor=1>; rel="prev", <?cursor=2>; rel="next", <?cursor=3>; rel="last"', { cursor: '2' }],
    ['<?cursor=2>; rel="next", <?cursor=1>; rel="prev"', { cursor: '2' }],
    ['</v1/pets>; rel="next"', {}],
    ['</a.css>; rel=preload; as=style, <?cursor=2>; rel = "next"', { cursor: '2' }],
    ['<?cursor=1>; rel="next-archive"', undefined],
    ['<?cursor=1>; rel="prev"', undefined],
    ['<?cursor=1>; rel="nextcloud"', undefined],
    ['<?rel=next>; rel="prev"', undefined],
    ['?cursor=1; rel="next"', undefined],
    ['', undefined],
  ])('is found in %s', async (link, query) => {
    expect(await nextQuery(link)).toEqual(query);
  });

  it('that is not a URL rejects, so that no item is missed', async () => {
    await expect(nextQuery('<http://[>; rel="next"')).rejects.toMatchObject({ name: 'APIConnectionError' });
  });
});

const promiseOf = (response = new Response()) => new APIPromise(Promise.resolve({ response, body: 20 }), ({ body }) => Number(body) + 1);

describe('the promise of a result', () => {
  it('resolves to the result', async () => {
    const promise = promiseOf();
    const onFinally = jest.fn();
    expect(await promise).toBe(21);
    expect(await promise.then((value) => value * 2)).toBe(42);
    expect(await promise.catch(() => 0)).toBe(21);
    expect(await promise.finally(onFinally)).toBe(21);
    expect(onFinally).toHaveBeenCalledTimes(1);
  });

  it('gives access to the response and its id', async () => {
    const response = new Response('{"id":7}', { status: 201, headers: { 'X-Request-Id': 'r-1' } });
    expect(await promiseOf(response).withResponse()).toEqual({ data: 21, response, requestId: 'r-1' });
    expect(await promiseOf().withResponse()).toMatchObject({ requestId: undefined });
  });

  it('rejects with the error of the request in every form', async () => {
    const error = new Error('failed');
    const promise = new APIPromise<number>(Promise.reject(error), () => 1);
    const onFinally = jest.fn();
    await expect(promise.then()).rejects.toBe(error);
    await expect(promise.withResponse()).rejects.toBe(error);
    await expect(promise.finally(onFinally)).rejects.toBe(error);
    expect(onFinally).toHaveBeenCalledTimes(1);
    expect(await promise.catch((reason: unknown) => reason)).toBe(error);
  });
});

const BODY = '{"code":"rate_limited","message":"Too many requests.","status":429}';

describe('the error of a response', () => {
  it.each([
    ...[300, 304, 400, 401, 403, 404, 409, 410, 412, 422, 428, 499, 501, 505].map((status) => [status, false] as const),
    ...[408, 429, 500, 502, 503, 504].map((status) => [status, true] as const),
  ])('with status %s is retryable: %s', (status, retryable) => {
    const error = errorOf(new Response(null, { status }), BODY);
    expect(error).toBeInstanceOf(APIError);
    expect({ ...error, retryable: error.retryable }).toMatchObject({ name: 'APIError', status, retryable, code: 'rate_limited' });
    expect(error.message).toBe(`${status} rate_limited: Too many requests.`);
    expect('cause' in error).toBe(false);
  });

  it('has the headers, the request id and the time to wait', () => {
    const response = new Response('', { status: 429, headers: { 'X-Request-Id': 'r-1', 'Retry-After': '30' } });
    const error = errorOf(response, BODY);
    expect(error).toMatchObject({ headers: response.headers, requestId: 'r-1', retryAfter: 30_000 });
    const other = errorOf(new Response('', { status: 429 }), BODY);
    expect([other.requestId, other.retryAfter]).toEqual([undefined, undefined]);
  });

  it.each(['0', '7', '9'.repeat(400)])('has the time to wait of Retry-After: %s', (seconds) => {
    const response = new Response('', { status: 429, headers: { 'Retry-After': seconds } });
    expect(errorOf(response, BODY).retryAfter).toBe(Number(seconds) * 1000);
  });

  it.each(['', 'soon', '-5', '1.5', '1e3', 'Infinity', 'Sun, 22 Nov 2026 12:00:30 GMT'])(
    'has no time to wait of Retry-After: %j',
    (value) => {
      expect(errorOf(new Response('', { status: 429, headers: { 'Retry-After': value } }), BODY).retryAfter).toBeUndefined();
    },
  );

  it.each(['', '<html>', 'null', '[]', '"x"', '{"code":"x"}', '{"message":"x"}', '{"code":7,"message":"x"}', '{"code":"x","message":7}'])(
    'has no code if a proxy sent the body %j',
    (body) => {
      const error = errorOf(new Response(null, { status: 502, statusText: 'Bad Gateway' }), body);
      expect([error.code, error.message]).toEqual([undefined, '502 Bad Gateway']);
      expect(errorOf(new Response(null, { status: 502 }), body).message).toBe('502');
    },
  );
});

describe('an error without a response', () => {
  it.each([
    ['APIConnectionError', APIConnectionError, APIError, true],
    ['APIConnectionTimeoutError', APIConnectionTimeoutError, APIConnectionError, true],
    ['APIUserAbortError', APIUserAbortError, APIError, false],
  ] as const)('is %s and has a cause', (name, ErrorClass, Base, retryable) => {
    const cause = new Error('reset');
    const error = new ErrorClass('failed', { cause });
    expect(error).toBeInstanceOf(Base);
    expect([error.name, error.message, error.cause, error.retryable]).toEqual([name, 'failed', cause, retryable]);
    const { status, headers, code, requestId, retryAfter } = error;
    expect({ status, headers, code, requestId, retryAfter }).toEqual({});
    expect('cause' in new ErrorClass('failed')).toBe(false);
  });
});
