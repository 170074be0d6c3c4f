import fc, { type Arbitrary } from 'fast-check';
import { bodyBytes } from './hostile-bodies.js';
import { type Bytes, KEY, mostly, words } from './hostile-bytes.js';
import { type HeaderField, headers, knownHeader } from './hostile-headers.js';
import { rawPiece } from './hostile-sockets.js';
import { target } from './hostile-targets.js';

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

const VALID_HEADERS: readonly HeaderField[] = [
  ['Host', 'localhost'],
  ['Authorization', `Bearer ${KEY}`],
];

const method = mostly(
  fc.constantFrom(...words`GET POST GET POST HEAD OPTIONS`),
  fc.constantFrom(...words`PUT PATCH DELETE TRACE PROPFIND QUERY M-SEARCH PURGE SUBSCRIBE SEARCH LINK ACL`),
  fc.constantFrom('get', 'G', 'GETT', 'POST\t', 'X-METHOD', '__proto__'),
);

const body = fc.record({ bytes: bodyBytes, isChunked: fc.boolean() });
const extraHeaders = fc.oneof(
  fc.constant([]),
  knownHeader.map((field) => [field]),
);
const request: Arbitrary<HostileRequest> = fc
  .tuple(method, target, headers, fc.oneof({ weight: 3, arbitrary: body }, { weight: 1, arbitrary: fc.constant(undefined) }))
  .map(([verb, uri, fields, content]) => {
    const sendsBody = content !== undefined && (verb === 'POST' || content.bytes.length === 1);
    return { method: verb, target: uri, headers: fields, ...(sendsBody && { body: content }) };
  });
/** A creation that is valid except for its body or one header, so that the server reaches this part. */
const creation: Arbitrary<HostileRequest> = fc.tuple(body, extraHeaders).map(([content, more]) => ({
  method: 'POST',
  target: '/v1/pets',
  headers: [...VALID_HEADERS, ['Content-Type', 'application/json'], ...more],
  body: content,
}));
const reading: Arbitrary<HostileRequest> = fc
  .tuple(fc.constantFrom('GET', 'HEAD'), target, extraHeaders)
  .map(([verb, uri, more]) => ({ method: verb, target: uri, headers: [...VALID_HEADERS, ...more] }));
const anyRequest = fc.oneof({ weight: 2, arbitrary: request }, { weight: 1, arbitrary: creation }, { weight: 1, arbitrary: reading });

/** Requests, or bytes that may not be HTTP. */
export const hostileInput: Arbitrary<HostileInput> = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({
      kind: fc.constant('requests' as const),
      isPipelined: fc.boolean(),
      requests: fc.array(anyRequest, { minLength: 1, maxLength: 8 }),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({ kind: fc.constant('raw' as const), pieces: fc.array(rawPiece, { minLength: 1, maxLength: 3 }) }),
  },
);
