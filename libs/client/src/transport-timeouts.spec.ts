import { describe, expect, it, jest } from '@jest/globals';
import { APIConnectionTimeoutError, APIUserAbortError } from './errors.js';
import type { Hooks } from './options.js';
import { type Step, LIST, fetchOf, observedSignal, outcomeOf, transportOf, useFakeClock } from './testing/scripted-fetch.js';

useFakeClock();

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

  it('is 30 s by default, and can be set for the call', async () => {
    const transport = transportOf({ fetch: fetchOf('hang', 'hang'), maxRetries: 0 });
    expect(await outcomeOf(transport.send(LIST, { timeout: 20.4 }), 21)).toMatchObject({ message: 'No response within 20 ms' });
    const request = transport.send(LIST);
    expect(await outcomeOf(request, 29_999)).toBe('pending');
    expect(await outcomeOf(request, 1)).toMatchObject({ message: 'No response within 30000 ms' });
  });

  it('may exceed the maximum delay of a timer', async () => {
    const request = transportOf({ fetch: fetchOf('hang'), timeout: 1e12, maxRetries: 0 }).send(LIST);
    expect(await outcomeOf(request, 2 ** 31 - 2)).toBe('pending');
    expect(await outcomeOf(request, 1)).toMatchObject({ name: 'APIConnectionTimeoutError' });
  });
});

describe('the total timeout', () => {
  it('limits the last attempt', async () => {
    const fetch = fetchOf('hang', 'hang', 'hang', 'hang');
    const delays = { minRetryDelay: 20, maxRetryDelay: 20 };
    const transport = transportOf({ fetch, timeout: 100, maxRetries: 10, totalTimeout: 1_000, ...delays });
    expect(await outcomeOf(transport.send(LIST, { totalTimeout: 250 }), 250)).toMatchObject({ message: 'No response within 30 ms' });
    expect(fetch).toHaveBeenCalledTimes(3);
  });

  it('equal to the timeout allows one attempt', async () => {
    const fetch = fetchOf('hang', 'hang');
    // The timer fires before the deadline.
    jest.spyOn(performance, 'now').mockReturnValue(0);
    const request = transportOf({ fetch, timeout: 100, totalTimeout: 100, minRetryDelay: 0 }).send(LIST);
    expect(await outcomeOf(request, 100)).toMatchObject({ name: 'APIConnectionTimeoutError' });
    expect(fetch).toHaveBeenCalledTimes(1);
  });

  it.each([
    [2_000, 1],
    [2_001, 2],
  ])('of %s ms allows no attempt that would start after it', async (totalTimeout, attempts) => {
    const fetch = fetchOf(new Response('', { status: 503, headers: { 'Retry-After': '2' } }), new Response('', { status: 404 }));
    const onError = jest.fn<NonNullable<Hooks['onError']>>();
    const request = transportOf({ fetch, hooks: { onError }, totalTimeout, minRetryDelay: 0 }).send(LIST);
    expect(await outcomeOf(request, attempts === 1 ? 0 : 2_000)).toMatchObject({ status: attempts === 1 ? 503 : 404 });
    expect(fetch).toHaveBeenCalledTimes(attempts);
    expect(onError.mock.calls.map(([, , retryInMs]) => retryInMs)).toEqual(attempts === 1 ? [undefined] : [2_000, undefined]);
  });

  it('includes the time of hooks', async () => {
    const hooks: Hooks = { onRequest: () => new Promise((resolve) => setTimeout(resolve, 60)) };
    const request = transportOf({ fetch: fetchOf('hang'), hooks, totalTimeout: 100 }).send(LIST);
    expect(await outcomeOf(request, 100)).toMatchObject({ message: 'No response within 40 ms' });
  });
});

describe('a signal', () => {
  const reason = new Error('enough');

  it('that is already aborted prevents the request', async () => {
    const fetch = fetchOf();
    const onRequest = jest.fn<NonNullable<Hooks['onRequest']>>();
    const error = await outcomeOf(transportOf({ fetch, hooks: { onRequest } }).send(LIST, { signal: AbortSignal.abort(reason) }));
    expect(error).toBeInstanceOf(APIUserAbortError);
    expect(error).toMatchObject({ message: 'The request was aborted', cause: reason, retryable: false });
    expect([onRequest.mock.calls, fetch.mock.calls]).toEqual([[], []]);
  });

  it('that a hook aborts ends the attempt before it is sent', async () => {
    const { controller, signal, listeners } = observedSignal();
    const hooks: Hooks = { onRequest: () => controller.abort(reason) };
    const error = await outcomeOf(transportOf({ fetch: fetchOf('hang'), hooks }).send(LIST, { signal }));
    expect(error).toBeInstanceOf(APIUserAbortError);
    expect(listeners.size).toBe(0);
  });

  it.each(['hang', 'hang in the body'] as const)('ends an attempt that would %s, without a retry', async (step) => {
    const fetch = fetchOf(step);
    const onError = jest.fn<NonNullable<Hooks['onError']>>();
    const { controller, signal, listeners } = observedSignal();
    const request = transportOf({ fetch, hooks: { onError } }).send(LIST, { signal });
    expect(await outcomeOf(request, 10)).toBe('pending');
    controller.abort(reason);
    const error = await outcomeOf(request);
    expect(error).toBeInstanceOf(APIUserAbortError);
    expect(error).toMatchObject({ cause: reason });
    expect(onError.mock.calls).toEqual([[expect.objectContaining({ attempt: 1 }), error, undefined]]);
    expect(listeners.size).toBe(0);
    await outcomeOf(request, 60_000);
    expect(fetch).toHaveBeenCalledTimes(1);
  });

  it('ends the delay before a retry', async () => {
    const fetch = fetchOf(new Error('reset'));
    const { controller, signal, listeners } = observedSignal();
    const request = transportOf({ fetch, minRetryDelay: 3_600_000, maxRetryDelay: 3_600_000 }).send(LIST, { signal });
    expect(await outcomeOf(request, 1_000)).toBe('pending');
    expect(listeners.size).toBe(1);
    controller.abort();
    expect(await outcomeOf(request)).toBeInstanceOf(APIUserAbortError);
    expect(listeners.size).toBe(0);
    expect(fetch).toHaveBeenCalledTimes(1);
  });

  it('that a hook aborts after an attempt prevents the delay', async () => {
    const { controller, signal, listeners } = observedSignal();
    const hooks: Hooks = { onError: () => controller.abort() };
    const request = transportOf({ fetch: fetchOf(new Error('reset')), hooks }).send(LIST, { signal });
    expect(await outcomeOf(request)).toBeInstanceOf(APIUserAbortError);
    expect(listeners.size).toBe(0);
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
