import fc, { type Arbitrary } from 'fast-check';
import { anyByte, type Bytes, filler, KEY } from './hostile-bytes.js';

/** What raw bytes are made of. */
export interface Samples {
  readonly path: string;
  /** Body of a POST to the path. */
  readonly body: string;
  /** The key of requests that must never be processed: they are the body of another one, or follow an invalid one. */
  readonly smuggledKey: string;
}

interface Smuggled {
  readonly smuggled: string;
  /** The smuggled request after the last chunk of a body. It is a separate request only if the server reads the body as chunked. */
  readonly ended: string;
  readonly chunked: string;
}

const FIELDS = `Host: localhost\r\nAuthorization: Bearer ${KEY}\r\nContent-Type: application/json\r\n`;

function smuggledIn({ path, smuggledKey }: Samples): Smuggled {
  const smuggled = `GET ${path} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${smuggledKey}\r\n\r\n`;
  return {
    smuggled,
    ended: `0\r\n\r\n${smuggled}`,
    chunked: `${smuggled.length.toString(16)}\r\n${smuggled}\r\n0\r\n\r\n`,
  };
}

const framings = ({ smuggled, ended }: Smuggled) => [
  `Content-Length: ${String(smuggled.length)}\r\nTransfer-Encoding: chunked\r\n`,
  `Content-Length: ${String(ended.length)}\r\nTransfer-Encoding: chunked\r\n`,
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
];

/** With ambiguous framing: in one interpretation there is a second request. */
function ambiguous(samples: Samples): Arbitrary<Bytes> {
  const smuggled = smuggledIn(samples);
  return fc
    .tuple(
      fc.constantFrom('GET', 'POST', 'OPTIONS'),
      fc.constantFrom(samples.path, '/health/live', '/missing'),
      fc.constantFrom(...framings(smuggled)),
      fc.constantFrom(...Object.values<string>({ ...smuggled })),
    )
    .map(([verb, uri, fields, inner]) => `${verb} ${uri} HTTP/1.1\r\n${FIELDS}${fields}\r\n${inner}`);
}

/** With unambiguous framing: the inner request is the body of the outer one, or must be ignored for another reason. */
function contained(samples: Samples): Arbitrary<Bytes> {
  const { path } = samples;
  const { smuggled, chunked } = smuggledIn(samples);
  return fc
    .constantFrom<[head: string, frame?: string]>(
      [`GET ${path} HTTP/1.1\r\n${FIELDS}`],
      [`PUT ${path} HTTP/1.1\r\n${FIELDS}`],
      [`OPTIONS ${path} HTTP/1.1\r\n${FIELDS}`],
      [`POST /missing HTTP/1.1\r\n${FIELDS}`],
      [`POST ${path} HTTP/1.1\r\n${FIELDS}Content-Encoding: gzip\r\n`],
      [`POST ${path} HTTP/1.1\r\n${FIELDS}Expect: 100-continue\r\n`],
      [`POST ${path} HTTP/1.1\r\n${FIELDS}Expect: nonsense\r\n`],
      [`GET ${path} HTTP/1.1\r\n${FIELDS}Connection: Upgrade\r\nUpgrade: h2c\r\n`],
      [`GET ${path} HTTP/1.1\r\n`],
      [`GET ${path} HTTP/1.1\r\n${FIELDS}`, `Transfer-Encoding: chunked\r\n\r\n${chunked}`],
      [`CONNECT localhost:80 HTTP/1.1\r\n${FIELDS}`, `\r\n${smuggled}`],
    )
    .map(([head, frame = `Content-Length: ${String(smuggled.length)}\r\n\r\n${smuggled}`]): Bytes => head + frame);
}

const requestLines = (path: string) => [
  `GET ${path}`,
  `GET ${path} HTTP/0.9`,
  `GET ${path} HTTP/1.0`,
  `GET ${path} HTTP/1.2`,
  `GET ${path} HTTP/2.0`,
  `GET ${path} HTTP/9.9`,
  `GET ${path} HTTP/1.10`,
  `GET ${path} http/1.1`,
  `GET  ${path} HTTP/1.1`,
  `GET\t${path}\tHTTP/1.1`,
  ` GET ${path} HTTP/1.1`,
  `\r\n\r\nGET ${path} HTTP/1.1`,
  `GET ${path} HTTP/1.1 `,
  `GET ${path} extra HTTP/1.1`,
  'GET HTTP/1.1',
  `GET ${path} RTSP/1.0`,
  'OPTIONS * HTTP/1.1',
  'CONNECT localhost:22 HTTP/1.1',
  'PRI * HTTP/2.0',
  `SOURCE ${path} ICE/1.0`,
  'GET /\0 HTTP/1.1',
];

function oddHead({ path }: Samples): Arbitrary<Bytes> {
  return fc
    .tuple(
      fc.constantFrom(...requestLines(path)),
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
    .map(([line, lineEnd, field]) => `${line}${lineEnd}${field}${lineEnd}${lineEnd}`);
}

const chunk = fc.constantFrom(
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

function oddChunks({ path }: Samples): Arbitrary<Bytes> {
  return chunk.map((text) => `POST ${path} HTTP/1.1\r\n${FIELDS}Transfer-Encoding: chunked\r\n\r\n${text}`);
}

const otherProtocol = fc.constantFrom<Bytes>(
  '\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03',
  'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\x04\0\0\0\0\0',
  'EHLO localhost\r\n',
  'SSH-2.0-x\r\n',
  '\0\0\0\x08\x04\xd2\x16\x2f',
  '*1\r\n$4\r\nPING\r\n',
  'PROXY TCP4 127.0.0.1 127.0.0.1 1 2\r\nGET / HTTP/1.1\r\nHost: a\r\n\r\n',
);

/** Valid requests without their end, or with other bytes. */
function damaged({ path, body }: Samples): Arbitrary<Bytes> {
  const reading = readingOf(path);
  const creation = `POST ${path} HTTP/1.1\r\n${FIELDS}Content-Length: ${String(body.length)}\r\n\r\n${body}`;
  const text = fc.constantFrom(reading, creation, reading + reading, reading + creation);
  const truncated = fc.tuple(text, fc.nat()).map(([whole, at]) => whole.slice(0, at % whole.length));
  const changes = fc.array(fc.tuple(fc.nat(), anyByte), { minLength: 1, maxLength: 4 });
  const changed = fc
    .tuple(text, changes)
    .map(([whole, bytes]) =>
      bytes.reduce((result, [at, byte]) => result.slice(0, at % whole.length) + byte + result.slice((at % whole.length) + 1), whole),
    );
  return fc.oneof({ weight: 2, arbitrary: truncated }, { weight: 3, arbitrary: changed });
}

const readingOf = (path: string) => `GET ${path} HTTP/1.1\r\n${FIELDS}\r\n`;

/** Generates bytes that are not HTTP, and requests that a server might separate wrongly. */
export function hostileSockets(samples: Samples): Arbitrary<Bytes> {
  return fc.oneof(
    { weight: 4, arbitrary: ambiguous(samples) },
    { weight: 2, arbitrary: contained(samples) },
    { weight: 2, arbitrary: oddHead(samples) },
    { weight: 2, arbitrary: oddChunks(samples) },
    { weight: 1, arbitrary: otherProtocol },
    { weight: 5, arbitrary: damaged(samples) },
    { weight: 1, arbitrary: fc.string({ unit: anyByte, maxLength: 200 }) },
    { weight: 1, arbitrary: filler('A', 9_000, 100_000) },
    { weight: 1, arbitrary: filler('\r\n', 1, 10_000) },
    // Several of these remain below the limit of 64 pipelined requests.
    { weight: 1, arbitrary: filler(readingOf(samples.path), 2, 12) },
  );
}
