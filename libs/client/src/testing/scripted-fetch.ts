import { afterEach, beforeEach, expect, jest } from '@jest/globals';
import type { ClientOptions } from '../options.js';
import { type APIRequest, Transport } from '../transport.js';

export const LIST: APIRequest = { operation: 'listPets', method: 'GET', path: '/pets' };
export const CREATE: APIRequest = {
  operation: 'createPet',
  method: 'POST',
  path: '/pets',
  body: { name: 'Rex', categoryId: 9007199254740993n },
  idempotencyKey: 'once',
};

/** `hang` never responds. `hang in the body` responds with headers only. */
export type Step = Response | Error | 'hang' | 'hang in the body';

/** Returns a `fetch` with one step for each of the next requests. Later requests get an empty list. */
export function fetchOf(...steps: readonly Step[]) {
  const left = [...steps];
  return jest.fn(async (_url: string, { signal }: RequestInit): Promise<Response> => {
    const step = left.shift() ?? new Response('[]');
    if (step instanceof Response) return step;
    if (typeof step === 'object') throw step;
    const aborted = new Promise<never>((_resolve, reject) => {
      const end = () => reject(signal?.reason as Error);
      signal?.addEventListener('abort', end);
      if (signal?.aborted) end();
    });
    return step === 'hang' ? aborted : new Response(new ReadableStream({ pull: () => aborted }));
  });
}

export const transportOf = (options: Partial<ClientOptions> = {}) =>
  new Transport({ apiKey: 'ast_key', baseURL: 'https://store.example', ...options });

export const sent = ({ mock }: ReturnType<typeof fetchOf>) =>
  mock.calls.map(([url, { method, headers, body }]) => ({ url, method, body, headers: Object.fromEntries(headers as Headers) }));

/** Returns the value or the error of a promise, or `pending` if it has not settled after this time. */
export async function outcomeOf(promise: Promise<unknown>, ms = 0): Promise<unknown> {
  let outcome: unknown = 'pending';
  const settle = (result: unknown) => void (outcome = result);
  promise.then(settle, settle);
  await jest.advanceTimersByTimeAsync(ms);
  return outcome;
}

/** Returns a signal and its listeners. */
export function observedSignal() {
  const controller = new AbortController();
  const { signal } = controller;
  const listeners = new Set<unknown>();
  const add = signal.addEventListener.bind(signal);
  const remove = signal.removeEventListener.bind(signal);
  signal.addEventListener = (type: string, listener: EventListener) => {
    if (type === 'abort') listeners.add(listener);
    add(type, listener);
  };
  signal.removeEventListener = (type: string, listener: EventListener) => {
    if (type === 'abort') listeners.delete(listener);
    remove(type, listener);
  };
  return { controller, signal, listeners };
}

/** Fakes the clock and the random part of delays in each test of the file, and expects that no timer is left. */
export function useFakeClock(): void {
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
}
