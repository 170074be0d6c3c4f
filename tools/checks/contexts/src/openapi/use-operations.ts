import fc, { type Arbitrary } from 'fast-check';
import type { ApiDocument, Operation } from './api-document.js';
import { type ApiRequest, CURSOR, ValidRequests } from './valid-requests.js';

const MAX_ROUNDS = 6;
const REQUESTS_PER_ROUND = 12;
/** Statuses with which an operation rejects a valid request because of what is stored. */
const REJECTED_BY_STATE = [409, 422];

/** What using every operation of an empty service has found. */
export interface UsedOperations {
  /** Identifiers of what was created, as JSON texts. */
  readonly ids: readonly string[];
  /** Targets from `Link` headers. */
  readonly links: readonly string[];
  /** Operations that have neither succeeded nor rejected a request because of what is stored. */
  readonly unused: readonly string[];
}

/** Sends valid requests to each operation until it succeeds. Several rounds, because operations need what others create. */
export async function useOperations(api: ApiDocument, url: string, key: string): Promise<UsedOperations> {
  const [ids, links] = [new Set<string>(), new Set<string>()];
  const [used, unsuccessful] = [new Set<Operation>(), new Set(inOrderOfUse(api.operations))];
  for (let round = 1; round <= MAX_ROUNDS && unsuccessful.size > 0; round++) {
    for (const operation of unsuccessful) {
      const valid = new ValidRequests(api, [...ids]);
      // Small pages have a link to the next one.
      const pages = operation.parameters.some(({ name }) => name === CURSOR) ? [valid.requests(operation, ['limit'])] : [];
      for (const request of [valid.requests(operation), ...pages].flatMap((requests) => sample(requests, round))) {
        const { status, headers, text } = await send(url, key, request);
        if (status >= 500) throw new Error(`${operation.id} responds with ${String(status)} to ${request.target} ${request.body ?? ''}`);
        if (status < 300 || REJECTED_BY_STATE.includes(status)) used.add(operation);
        if (status >= 300) continue;
        unsuccessful.delete(operation);
        const [, id] = /"id":(-?\d+|"[^"]*")/.exec(text) ?? [];
        if (status === 201 && id !== undefined) ids.add(id);
        const [, link] = /<([^>]+)>; rel="next"/.exec(headers.get('link') ?? '') ?? [];
        if (link !== undefined) links.add(link);
      }
    }
  }
  return { ids: [...ids], links: [...links], unused: api.operations.filter((operation) => !used.has(operation)).map(({ id }) => id) };
}

const sample = (requests: Arbitrary<ApiRequest>, seed: number) => fc.sample(requests, { numRuns: REQUESTS_PER_ROUND, seed });

/** Creations precede reads, which precede changes; deletions are last. */
function inOrderOfUse(operations: readonly Operation[]): Operation[] {
  const rank = ({ method, path }: Operation) => {
    const isNested = path.includes('{');
    if (method === 'POST') return isNested ? 2 : 0;
    return ['', 'GET', '', 'PUT', 'PATCH', 'DELETE'].indexOf(method);
  };
  return operations.toSorted((one, other) => rank(one) - rank(other));
}

export async function send(
  url: string,
  key: string,
  { operation: { method }, target, headers, body }: ApiRequest,
): Promise<{ status: number; headers: Headers; text: string }> {
  const response = await fetch(url + target, {
    method,
    headers: [...headers, ['Authorization', `Bearer ${key}`]].map(([name = '', value = '']): [string, string] => [name, value]),
    ...(body !== undefined && { body }),
  });
  return { status: response.status, headers: response.headers, text: await response.text() };
}
