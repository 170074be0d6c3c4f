import fc, { type Arbitrary } from 'fast-check';
import { anyByte, type Bytes, filler, KEY } from './hostile-bytes.js';

/** Name of the pets in smuggled requests: bytes that must never be processed as a request. */
export const SMUGGLED_NAME = 'smuggled';

const FIELDS = `Host: localhost\r\nAuthorization: Bearer ${KEY}\r\nContent-Type: application/json\r\n`;
const SMUGGLED_BODY = `{"name":"${SMUGGLED_NAME}","categoryId":7}`;
const SMUGGLED = `POST /v1/pets HTTP/1.1\r\n${FIELDS}Content-Length: ${String(SMUGGLED_BODY.length)}\r\n\r\n${SMUGGLED_BODY}`;
/** The last chunk of a body, then a request. It is a separate request only if the server reads the body as chunked. */
const ENDED_SMUGGLED = `0\r\n\r\n${SMUGGLED}`;
const CHUNKED_SMUGGLED = `${SMUGGLED.length.toString(16)}\r\n${SMUGGLED}\r\n0\r\n\r\n`;

const framing = fc.constantFrom(
  `Content-Length: ${String(SMUGGLED.length)}\r\nTransfer-Encoding: chunked\r\n`,
  `Content-Length: ${String(ENDED_SMUGGLED.length)}\r\nTransfer-Encoding: chunked\r\n`,
  'Transfer-Encoding: chunked\r\nContent-Length: 4\r\n',
  'Transfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\nContent-Length: 4\r\n',
  'Transfer-Encoding: identity\r\n',
  'Transfer-Encoding: xchunked\r\n',
  'Transfer-Encoding: chunked, identity\r\n',
  'Transfer-Encoding: identity, chunked\r\nContent-Length: 4\r\n',
  'Transfer-Encoding:\x0bchunked\r\n',
  'Transfer-Encoding : chunked\r\n',
  'Transfer-Encoding\r\n : chunked\r\n',
  ' Transfer-Encoding: chunked\r\n',
  'X: y\rTransfer-Encoding: chunked\r\n',
  'X: y\nTransfer-Encoding: chunked\n',
  'Transfer-Encoding: "chunked"\r\n',
  'Transfer_Encoding: chunked\r\nContent-Length: 4\r\nTransfer-Encoding: chunked\r\n',
  'Content-Length: 4\r\nContent-Length: 5\r\n',
  'Content-Length: 4, 4\r\n',
  'Content-Length: +4\r\n',
  'Content-Length: -4\r\n',
  'Content-Length: 0x4\r\n',
  'Content-Length: 4 4\r\n',
  'Content-Length:\r\n',
  'Content-Length: 99999999999999999999\r\n',
  'Content-Length : 4\r\n',
  'Content-Length\0: 4\r\n',
);
/** With ambiguous framing: in one interpretation there is a second request. */
const smuggling = fc
  .tuple(
    fc.constantFrom('GET', 'POST', 'OPTIONS'),
    fc.constantFrom('/v1/pets', '/health/live', '/missing'),
    framing,
    fc.constantFrom(SMUGGLED, CHUNKED_SMUGGLED, ENDED_SMUGGLED),
  )
  .map(([verb, uri, fields, inner]): Bytes => `${verb} ${uri} HTTP/1.1\r\n${FIELDS}${fields}\r\n${inner}`);
/** With unambiguous framing: the inner request is the body of the outer one, or must be ignored for another reason. */
const contained = fc
  .constantFrom<[head: string, frame?: string]>(
    [`GET /v1/pets HTTP/1.1\r\n${FIELDS}`],
    [`PUT /v1/pets HTTP/1.1\r\n${FIELDS}`],
    [`OPTIONS /v1/pets HTTP/1.1\r\n${FIELDS}`],
    [`POST /missing HTTP/1.1\r\n${FIELDS}`],
    [`POST /v1/pets HTTP/1.1\r\n${FIELDS}Content-Encoding: gzip\r\n`],
    [`POST /v1/pets HTTP/1.1\r\n${FIELDS}Expect: 100-continue\r\n`],
    [`POST /v1/pets HTTP/1.1\r\n${FIELDS}Expect: nonsense\r\n`],
    [`GET /v1/pets HTTP/1.1\r\n${FIELDS}Connection: Upgrade\r\nUpgrade: h2c\r\n`],
    ['GET /v1/pets HTTP/1.1\r\n'],
    [`GET /v1/pets HTTP/1.1\r\n${FIELDS}`, `Transfer-Encoding: chunked\r\n\r\n${CHUNKED_SMUGGLED}`],
    [`CONNECT localhost:80 HTTP/1.1\r\n${FIELDS}`, `\r\n${SMUGGLED}`],
  )
  .map(([head, frame = `Content-Length: ${String(SMUGGLED.length)}\r\n\r\n${SMUGGLED}`]): Bytes => head + frame);
const requestLine = fc.constantFrom(
  'GET /v1/pets',
  'GET /v1/pets HTTP/0.9',
  'GET /v1/pets HTTP/1.0',
  'GET /v1/pets HTTP/1.2',
  'GET /v1/pets HTTP/2.0',
  'GET /v1/pets HTTP/9.9',
  'GET /v1/pets HTTP/1.10',
  'GET /v1/pets http/1.1',
  'GET  /v1/pets HTTP/1.1',
  'GET\t/v1/pets\tHTTP/1.1',
  ' GET /v1/pets HTTP/1.1',
  '\r\n\r\nGET /v1/pets HTTP/1.1',
  'GET /v1/pets HTTP/1.1 ',
  'GET /v1/pets extra HTTP/1.1',
  'GET HTTP/1.1',
  'GET /v1/pets RTSP/1.0',
  'OPTIONS * HTTP/1.1',
  'CONNECT localhost:22 HTTP/1.1',
  'PRI * HTTP/2.0',
  'SOURCE /v1/pets ICE/1.0',
  'GET /\0 HTTP/1.1',
);
const oddHead = fc
  .tuple(
    requestLine,
    fc.constantFrom('\r\n', '\n', '\r', '\r\n\r\n'),
    fc.constantFrom(
      'Host: localhost',
      'Host: localhost\r\n folded',
      'Host : localhost',
      ': empty',
      'No colon',
      'X: \0',
      'X: \x7f',
      'X:\xff',
      `X: ${'x'.repeat(9000)}`,
    ),
  )
  .map(([line, lineEnd, field]): Bytes => `${line}${lineEnd}${field}${lineEnd}${lineEnd}`);
const chunk = fc.constantFrom<Bytes>(
  'G\r\nabc\r\n0\r\n\r\n',
  '-1\r\n\r\n',
  'ffffffffffffffff\r\nabc',
  '10000000000000000\r\nabc',
  '3;ext=1\r\nabc\r\n0\r\n\r\n',
  `3;${'e'.repeat(20_000)}\r\nabc\r\n0\r\n\r\n`,
  '3\r\nabcd\r\n0\r\n\r\n',
  '3\nabc\n0\n\n',
  '3\r\nabc\r\n0\r\nHost: a\r\nContent-Length: 5\r\n\r\n',
  `0\r\n${'X: y\r\n'.repeat(2_000)}\r\n`,
  '0x3\r\nabc\r\n0\r\n\r\n',
  '',
);
const oddChunks = chunk.map((text): Bytes => `POST /v1/pets HTTP/1.1\r\n${FIELDS}Transfer-Encoding: chunked\r\n\r\n${text as string}`);
const otherProtocol = fc.constantFrom<Bytes>(
  '\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03',
  'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\x04\0\0\0\0\0',
  'EHLO localhost\r\n',
  'SSH-2.0-x\r\n',
  '\0\0\0\x08\x04\xd2\x16\x2f',
  '*1\r\n$4\r\nPING\r\n',
  'PROXY TCP4 127.0.0.1 127.0.0.1 1 2\r\nGET / HTTP/1.1\r\nHost: a\r\n\r\n',
);
const validRequest = `GET /v1/pets HTTP/1.1\r\n${FIELDS}\r\n`;
const validCreation = `POST /v1/pets HTTP/1.1\r\n${FIELDS}Content-Length: 29\r\n\r\n{"name":"Rex","categoryId":7}`;
const truncated = fc
  .tuple(fc.constantFrom(validRequest, validCreation, `${validRequest}${validCreation}`), fc.nat())
  .map(([text, at]): Bytes => text.slice(0, at % text.length));
const mutated = fc
  .tuple(
    fc.constantFrom(validRequest, validCreation, `${validRequest}${validRequest}`),
    fc.array(fc.tuple(fc.nat(), anyByte), { minLength: 1, maxLength: 4 }),
  )
  .map(([text, changes]): Bytes =>
    changes.reduce<string>((result, [at, byte]) => result.slice(0, at % text.length) + byte + result.slice((at % text.length) + 1), text),
  );
/** Bytes that are not HTTP, and requests that a server might separate wrongly. */
export const rawPiece: Arbitrary<Bytes> = fc.oneof(
  { weight: 4, arbitrary: smuggling },
  { weight: 2, arbitrary: contained },
  { weight: 2, arbitrary: oddHead },
  { weight: 2, arbitrary: oddChunks },
  { weight: 1, arbitrary: otherProtocol },
  { weight: 2, arbitrary: truncated },
  { weight: 3, arbitrary: mutated },
  { weight: 1, arbitrary: fc.string({ unit: anyByte, maxLength: 200 }) },
  { weight: 1, arbitrary: filler('A', 9_000, 100_000) },
  { weight: 1, arbitrary: filler('\r\n', 1, 10_000) },
  // Several of these remain below the limit of 64 pipelined requests.
  { weight: 1, arbitrary: filler(validRequest, 2, 12) },
);
