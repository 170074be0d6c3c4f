import { describe, expect, it, jest } from '@jest/globals';
import { APIPromise } from './api-promise.js';

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
