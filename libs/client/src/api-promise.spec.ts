import { describe, expect, it, jest } from '@jest/globals';
import { APIPromise, type CompletedRequest } from './api-promise.js';

function responseOf(text: string | null, init: ResponseInit = {}): Response {
  return Object.defineProperty(new Response(text, init), 'url', { value: 'https://store.example/v1/pets' });
}

async function promiseOf(text: string, init?: ResponseInit): Promise<{ promise: APIPromise<number>; response: Response }> {
  const response = responseOf(text === '' ? null : text, init);
  // The transport has read the body.
  await response.text();
  const completed: CompletedRequest = { response, text, body: 20, link: undefined };
  return { promise: new APIPromise(Promise.resolve(completed), ({ body }) => Number(body) + 1), response };
}

describe('the promise of a result', () => {
  it('resolves to the result', async () => {
    const { promise } = await promiseOf('20');
    const onFinally = jest.fn();
    expect(await promise).toBe(21);
    expect(await promise.then((value) => value * 2)).toBe(42);
    expect(await promise.catch(() => 0)).toBe(21);
    expect(await promise.finally(onFinally)).toBe(21);
    expect(onFinally).toHaveBeenCalledTimes(1);
    expect(Object.prototype.toString.call(promise)).toBe('[object APIPromise]');
  });

  it('gives access to the response, whose body is unread each time', async () => {
    const init = { status: 201, statusText: 'Created', headers: { 'X-Request-Id': 'r-1', Location: '/v1/pets/7' } };
    const { promise } = await promiseOf('{"id":7}', init);
    const { data, response, requestId } = await promise.withResponse();
    expect([data, requestId]).toEqual([21, 'r-1']);
    for (const copy of [response, await promise.asResponse(), await promise.asResponse()]) {
      const { status, statusText, url, bodyUsed } = copy;
      expect({ status, statusText, url, bodyUsed }).toEqual({
        status: 201,
        statusText: 'Created',
        url: 'https://store.example/v1/pets',
        bodyUsed: false,
      });
      expect(copy.headers.get('Location')).toBe('/v1/pets/7');
      expect(await copy.text()).toBe('{"id":7}');
    }
  });

  it.each([204, 304])('gives access to a response with status %s, which has no body', async (status) => {
    const { response, requestId } = await (await promiseOf('', { status })).promise.withResponse();
    expect([response.status, response.body, requestId]).toEqual([status, null, undefined]);
  });

  it('rejects with the error of the request in every form', async () => {
    const error = new Error('failed');
    const promise = new APIPromise<number>(Promise.reject(error), () => 1);
    const onFinally = jest.fn();
    await expect(promise.then()).rejects.toBe(error);
    await expect(promise.asResponse()).rejects.toBe(error);
    await expect(promise.withResponse()).rejects.toBe(error);
    await expect(promise.finally(onFinally)).rejects.toBe(error);
    expect(onFinally).toHaveBeenCalledTimes(1);
    expect(await promise.catch((reason: unknown) => reason)).toBe(error);
    expect(
      await promise.then(
        () => 'resolved',
        () => 'rejected',
      ),
    ).toBe('rejected');
  });
});
