import fc, { type Arbitrary } from 'fast-check';
import type { ApiDocument, Operation } from '../openapi/api-document.js';
import type { UsedOperations } from '../openapi/use-operations.js';
import { type HeaderField, ValidRequests } from '../openapi/valid-requests.js';
import { hostileBodies, utf8 } from './hostile-bodies.js';
import { type Bytes, KEY, mostly, visible, words } from './hostile-bytes.js';
import { hostileHeaders, knownHeader } from './hostile-headers.js';
import { hostileSockets } from './hostile-sockets.js';
import { hostilePath, hostileQuery } from './hostile-targets.js';

export interface HostileRequest {
  readonly method: string;
  readonly target: string;
  readonly headers: readonly HeaderField[];
  readonly body?: { readonly bytes: readonly Bytes[]; readonly isChunked: boolean };
}

/** Input for one connection. */
export type HostileInput =
  | { readonly kind: 'requests'; readonly isPipelined: boolean; readonly requests: readonly HostileRequest[] }
  /** Bytes that may not be HTTP. Each piece is written separately. */
  | { readonly kind: 'raw'; readonly pieces: readonly Bytes[] };

const AUTHORIZED: readonly HeaderField[] = [
  ['Host', 'localhost'],
  ['Authorization', `Bearer ${KEY}`],
];

const strangeMethod = fc.constantFrom(
  ...words`GET POST HEAD OPTIONS PUT PATCH DELETE TRACE PROPFIND QUERY M-SEARCH PURGE SUBSCRIBE SEARCH LINK ACL`,
  ...['get', 'G', 'GETT', 'POST\t', 'X-METHOD', '__proto__'],
);

/** The parts of a request to an operation: valid ones, and hostile ones. */
interface Parts {
  readonly method: Arbitrary<string>;
  readonly path: Arbitrary<string>;
  readonly query: Arbitrary<string>;
  readonly headers: Arbitrary<readonly HeaderField[]>;
  readonly body: Arbitrary<readonly Bytes[] | undefined>;
}

function validParts(operation: Operation, requests: ValidRequests): Parts {
  const { method } = operation;
  return {
    method: method === 'GET' ? fc.constantFrom('GET', 'GET', 'HEAD') : fc.constant(method),
    path: requests.path(operation),
    query: requests.query(operation),
    headers: requests.headers(operation).map((fields) => [...AUTHORIZED, ...fields]),
    body: requests.body(operation).map((json) => (json === undefined ? undefined : [utf8(json)])),
  };
}

function hostileParts(operation: Operation, requests: ValidRequests): Parts {
  const documented = requests.headers(operation);
  return {
    method: strangeMethod,
    path: hostilePath(operation),
    query: hostileQuery(operation),
    headers: fc.oneof(
      fc.tuple(hostileHeaders, documented).map((fields) => fields.flat()),
      fc.tuple(documented, knownHeader).map(([fields, field]) => [...AUTHORIZED, ...fields, field]),
      hostileHeaders,
    ),
    body: hostileBodies(requests.values, operation.body?.schema ?? {}),
  };
}

/** Generates requests with one hostile part, so that the server reaches this part, and requests with several. */
function requestsTo(operation: Operation, valid: ValidRequests): Arbitrary<HostileRequest> {
  const [usual, hostile] = [validParts(operation, valid), hostileParts(operation, valid)];
  const parts = { ...usual, isChunked: fc.boolean() };
  return fc
    .oneof(
      fc.record({
        ...parts,
        method: mostly(usual.method, hostile.method),
        path: mostly(usual.path, hostile.path),
        query: fc.oneof(usual.query, hostile.query),
        headers: fc.oneof(usual.headers, hostile.headers),
        body: fc.oneof<Arbitrary<readonly Bytes[] | undefined>[]>(usual.body, hostile.body),
      }),
      fc.record(parts),
      ...(['path', 'query', 'headers', 'body', 'body'] as const).map((part) => fc.record({ ...parts, [part]: hostile[part] })),
    )
    .map(({ path, query, body, isChunked, ...request }) => ({
      ...request,
      target: path + query,
      ...(body && { body: { bytes: body, isChunked } }),
    }));
}

/** Generates requests to the operations of the document, or bytes that may not be HTTP. */
export function hostileInputs(api: ApiDocument, { ids, links }: UsedOperations, smuggledKey: string): Arbitrary<HostileInput> {
  const valid = new ValidRequests(api, ids);
  const next = fc.constantFrom(...links, '/v1/missing?cursor=');
  const damaged = fc
    .tuple(next, fc.nat({ max: 20 }), visible)
    .map(([link, end, byte]) => link.slice(0, -1 - end) + byte + link.slice(link.length - end));
  const following = fc.oneof(next, damaged).map((target): HostileRequest => ({ method: 'GET', target, headers: AUTHORIZED }));
  const requests = fc.oneof(...api.operations.map((operation) => ({ weight: 9, arbitrary: requestsTo(operation, valid) })), {
    weight: api.operations.length,
    arbitrary: following,
  });
  const [{ path } = { path: '/' }] = api.operations.filter((operation) => !operation.path.includes('{'));
  const creation = api.find('POST', path)?.body;
  const [body = '{}'] = creation ? fc.sample(valid.values.json(creation.schema), { numRuns: 1, seed: 1 }) : [];
  const pieces = fc.array(hostileSockets({ path, body: utf8(body), smuggledKey }), { minLength: 1, maxLength: 3 });
  return fc.oneof(
    {
      weight: 4,
      arbitrary: fc.record({
        kind: fc.constant('requests' as const),
        isPipelined: fc.boolean(),
        requests: fc.array(requests, { minLength: 1, maxLength: 8 }),
      }),
    },
    { weight: 1, arbitrary: pieces.map((all) => ({ kind: 'raw' as const, pieces: smuggledFirst(all, smuggledKey) })) },
  );
}

/** Keeps one smuggled request, at the start: elsewhere, the end of a damaged request's body could make it a valid one. */
function smuggledFirst(pieces: readonly Bytes[], smuggledKey: string): Bytes[] {
  const isSmuggled = (piece: Bytes) => JSON.stringify(piece).includes(smuggledKey);
  return [...pieces.filter(isSmuggled).slice(0, 1), ...pieces.filter((piece) => !isSmuggled(piece))];
}
