import fc, { type Arbitrary } from 'fast-check';
import type { HeaderField } from '../openapi/valid-requests.js';
import { bytes, KEY, mostly, READ_ONLY_KEY, visible } from './hostile-bytes.js';

const authorization = mostly(
  fc.constant(`Bearer ${KEY}`),
  fc.constantFrom(
    `bearer  ${KEY}`,
    `Bearer ${READ_ONLY_KEY}`,
    `Bearer ${KEY}x`,
    `Bearer ${KEY} `,
    `Bearer ${KEY},${KEY}`,
    `Bearer "${KEY}"`,
  ),
  fc.constantFrom(
    '',
    'Bearer',
    'Bearer ',
    'Basic dXNlcjpwYXNz',
    'Digest x',
    KEY,
    `Bearer ast_test_${'a'.repeat(49)}`,
    `Bearer ${'a'.repeat(7000)}`,
  ),
  bytes.map((text) => `Bearer ${withoutLineBreaks(text)}`),
);
const HEADER_VALUES: Readonly<Record<string, readonly string[]>> = {
  'Content-Type': [
    'application/json',
    'application/json; charset=utf-8',
    'application/json;charset="UTF-8"',
    'application/json; charset=latin1',
    'application/json;',
    'application/json; a',
    'application/merge-patch+json',
    'APPLICATION/JSON',
    'text/plain',
    'multipart/form-data; boundary=x',
    'application/x-www-form-urlencoded',
    '',
    ';',
    'a'.repeat(1000),
    'application/json; charset="\\',
    '__proto__',
  ],
  'Content-Encoding': ['gzip', 'identity', 'br', '', 'gzip, gzip'],
  Accept: ['*/*', 'text/html', 'application/xml', 'application/json;q=0', ''],
  'Accept-Encoding': ['gzip', 'br, *;q=0', 'identity;q=0'],
  Prefer: [
    'handling=strict',
    'handling=lenient',
    'handling="strict"; x',
    'respond-async, handling=strict',
    ',,,',
    '=',
    'handling'.repeat(500),
  ],
  'Idempotency-Key': ['a', '"a"', '"', '""', '"\\"', 'a b', 'a'.repeat(255), 'a'.repeat(256), 'ä', '"a", "b"', '__proto__', '\t'],
  'If-None-Match': ['*', '"a"', 'W/"a"', '"a", W/"b"', '"', ',,,', 'a'.repeat(5000)],
  'If-Match': ['*', '"a"'],
  'If-Modified-Since': ['Thu, 01 Jan 1970 00:00:00 GMT', 'nonsense'],
  Range: ['bytes=0-0', 'bytes=-1', 'bytes=0-0,1-1'],
  'X-Request-Id': ['a', 'a'.repeat(128), 'a'.repeat(129), 'ä', 'a b', '', '{"a":1}', '__proto__'],
  traceparent: ['00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01', '00-0-0-0', 'ff', ''],
  tracestate: ['a=b', ',,,', 'a'.repeat(600)],
  Origin: ['https://example.com', 'null', '*', ''],
  'Access-Control-Request-Method': ['POST', 'nonsense', ''],
  'Access-Control-Request-Headers': ['authorization', '*', ',,,'],
  Cookie: [`api_key=${KEY}`, 'a', '__proto__=1; a=b; a=c'],
  Connection: ['keep-alive', 'Host', 'Authorization, close', 'upgrade'],
  Upgrade: ['h2c', 'websocket', 'TLS/1.0', ''],
  'HTTP2-Settings': ['AAMAAABkAARAAAAAAAIAAAAA'],
  Expect: ['100-continue', '200-ok', '', '100-continue, 100-continue'],
  TE: ['trailers', 'chunked', 'gzip'],
  Trailer: ['Content-Length', 'Authorization'],
  'X-HTTP-Method-Override': ['DELETE', 'GET'],
  'X-Forwarded-For': ['127.0.0.1', '::1, 10.0.0.1', 'nonsense', ','],
  'X-Forwarded-Host': ['evil.example', 'evil.example, b'],
  'X-Forwarded-Proto': ['https', 'javascript', ''],
  Forwarded: ['for=1;host=evil.example'],
  'X-Original-Url': ['/health/live'],
  'Max-Forwards': ['0', '-1'],
  'Content-Location': ['/etc/passwd'],
  'Content-MD5': ['x'],
  Via: ['1.0 fred'],
  __proto__x: ['1'],
  constructor: ['1'],
  toString: ['1'],
};
export const knownHeader = fc
  .constantFrom(...Object.entries(HEADER_VALUES))
  .chain(([name, values]) => fc.constantFrom(...values).map((value) => [name, value] as const));
const strangeHeader = fc.tuple(
  fc.string({ unit: visible, minLength: 1, maxLength: 20 }).map((name) => name.replace(/[:\s]/g, '') || 'x'),
  fc.oneof(
    bytes.map(withoutLineBreaks),
    fc.constantFrom(100, 4000, 9000).map((length) => 'v'.repeat(length)),
  ),
);
const manyHeaders = fc
  .constantFrom(60, 70, 200)
  .map((count) => Array.from({ length: count }, (_, index) => [`x-${String(index)}`, '1'] as const));
const host = mostly(
  fc.constant<readonly HeaderField[]>([['Host', 'localhost']]),
  fc.constantFrom<readonly HeaderField[]>(
    [],
    [['Host', '']],
    [['Host', 'a b']],
    [['Host', 'a@b']],
    [['Host', 'evil.example:99999']],
    [
      ['Host', 'a'],
      ['host', 'b'],
    ],
  ),
);
/** Header fields, without those that the operation documents and the framing of the body. */
export const hostileHeaders: Arbitrary<readonly HeaderField[]> = fc
  .tuple(
    host,
    fc.oneof(
      { weight: 9, arbitrary: authorization.map((value) => [['Authorization', value] as const]) },
      { weight: 1, arbitrary: fc.constant([]) },
    ),
    fc.array(fc.oneof({ weight: 5, arbitrary: knownHeader }, { weight: 1, arbitrary: strangeHeader }), { maxLength: 4 }),
    fc.oneof({ weight: 30, arbitrary: fc.constant([]) }, { weight: 1, arbitrary: manyHeaders }),
  )
  .map((parts) => parts.flat());

function withoutLineBreaks(text: string): string {
  return text.replace(/[\r\n]/g, '');
}
