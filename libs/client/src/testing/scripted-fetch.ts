import { jest } from '@jest/globals';
import type { ClientOptions } from '../options.js';
import { type APIRequest, Transport } from '../transport.js';

export const LIST: APIRequest = { path: '/pets' };
export const CREATE: APIRequest = {
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
      signal?.addEventListener('abort', () => reject(signal.reason as Error));
    });
    return step === 'hang' ? aborted : new Response(new ReadableStream({ pull: () => aborted }));
  });
}

export const transportOf = (options: Partial<ClientOptions> = {}) =>
  new Transport({ apiKey: 'ast_key', baseURL: 'https://store.example', ...options });

export const sent = ({ mock }: ReturnType<typeof fetchOf>) =>
  mock.calls.map(([url, { method, headers, body }]) => ({ url, method, body, headers: Object.fromEntries(headers as Headers) }));
