import { describe, expect, it } from '@jest/globals';
import { expectError } from '../support/http-response.js';
import { NEW_PET } from '../support/json.js';
import { useApi } from '../support/use-api.js';

const api = useApi();
const JSON_LENGTH = ['Content-Type: application/json', `Content-Length: ${NEW_PET.length}`];

/** Returns the text of a request. The request line and the header lines are written unchanged. */
function message(requestLine: string, fields: readonly string[], body = ''): string {
  return [requestLine, ...fields, '', body].join('\r\n');
}

const host = (): string => `Host: ${api.url.host}`;
const key = (): string => `Authorization: Bearer ${api.target.key}`;
const pets = (): string => api.path('/v1/pets');
const post = (fields: readonly string[], body: string): string => message(`POST ${pets()} HTTP/1.1`, [host(), key(), ...fields], body);
const get = (...fields: readonly string[]): string => message(`GET ${pets()} HTTP/1.1`, [host(), key(), ...fields]);

// The specs of the service (rfc9110.integration.spec.ts) send every method with every kind of body.
describe('bytes that are not a valid HTTP request', () => {
  const json = 'Content-Type: application/json';

  // These do not send `Connection: close`: the exchange ends only if the service closes the connection.
  it.each<[string, () => string | Uint8Array]>([
    ['text that is not HTTP', () => 'hello\r\n\r\n'],
    ['binary', () => Uint8Array.of(0, 1, 2, 255, 13, 10, 13, 10)],
    ['a TLS client hello', () => Uint8Array.of(0x16, 3, 1, 0, 0xa5, 1, 0, 0, 0xa1, 3, 3)],
    ['a request line without a version', () => `GET ${pets()}\r\n\r\n`],
    ['another protocol', () => message(`GET ${pets()} SIP/2.0`, [host()])],
    ['the preface of HTTP/2', () => 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'],
    ['a request line of HTTP/2.0', () => message(`GET ${pets()} HTTP/2.0`, [host()])],
    ['a method of RTSP', () => message(`DESCRIBE ${pets()} RTSP/1.0`, ['Connection: keep-alive'])],
    ['CONNECT without Host', () => message('CONNECT x:1 HTTP/1.1', [])],
    ['two Hosts', () => get('Host: other.example')],
    ...['x y', 'x/y', 'x?', 'x#', 'user@x', 'x:80:80', 'x:port', '[::1', '::1]', '[::1]x', '[]', 'é', 'x,y', '<x>', 'x"y', 'x\\y'].map(
      (value): [string, () => string] => [
        `the Host ${value}`,
        () => message(`GET ${api.path('/health/live')} HTTP/1.1`, [`Host: ${value}`]),
      ],
    ),
    ['white space in a field name', () => get('Bad Name: x')],
    ['white space before the colon', () => get('X-Bad : x')],
    ['U+0000 in a value', () => get('X-Bad: a\0b')],
    ['a lone carriage return in a value', () => get('X-Bad: a\rb')],
    ...['ten', '-1', `+${NEW_PET.length}`, '9'.repeat(30), `${NEW_PET.length}, 3`].map((length): [string, () => string] => [
      `the length ${length}`,
      () => post([json, `Content-Length: ${length}`], NEW_PET),
    ]),
  ])('responds with 400 and closes the connection: %s', async (_what, bytes) => {
    const responses = await api.exchange(bytes());
    expect(responses).toHaveLength(1);
    for (const response of responses) expectError(response, 'invalid_request');
  });
});

describe('request smuggling', () => {
  const hidden = (): string => message(`GET ${api.path('/health/live')} HTTP/1.1`, [host()]);
  const chunked = 'Transfer-Encoding: chunked';
  const json = 'Content-Type: application/json';
  const chunks = `${NEW_PET.length.toString(16)}\r\n${NEW_PET}\r\n0\r\n\r\n`;

  it.each([
    ...['gzip, chunked', 'identity, chunked', 'GZIP, Chunked', 'gzip,\tchunked', 'gzip;q=1, chunked', '"chunked", chunked'],
    ...['gzip\r\nTransfer-Encoding: chunked', 'chunked, chunked', 'chunked, identity', 'chunked;q=1', 'identity', 'xchunked'],
  ])('rejects a body with the transfer coding %j, and closes the connection', async (coding) => {
    const responses = await api.exchange(post([json, `Transfer-Encoding: ${coding}`], chunks + hidden()));
    expect(responses.map(({ status, headers }) => [status, headers['connection']])).toEqual([[400, 'close']]);
  });

  it.each(['Chunked', 'CHUNKED', ', chunked', '\tchunked'])('accepts a chunked body with Transfer-Encoding: %j', async (coding) => {
    const responses = await api.exchange(post([json, 'Connection: close', `Transfer-Encoding: ${coding}`], chunks));
    expect(responses.map(({ status }) => status)).toEqual([201]);
  });

  it.each<[string, () => string]>([
    ['HTTP/1.0 with chunks', () => message(`POST ${pets()} HTTP/1.0`, [host(), key(), json, chunked, 'Connection: keep-alive'], chunks)],
    ['Content-Length and then Transfer-Encoding', () => post([json, 'Content-Length: 5', chunked], '0\r\n\r\n')],
    ['Transfer-Encoding and then Content-Length', () => post([json, chunked, 'Content-Length: 5'], '0\r\n\r\n')],
    ...['zz', 'f'.repeat(20), '-1', '5'].map((size): [string, () => string] => [
      `the chunk size ${size}`,
      () => post([json, chunked], `${size}\r\n${NEW_PET}\r\n0\r\n\r\n`),
    ]),
  ])('responds with one error and does not serve the hidden request: %s', async (_what, bytes) => {
    const responses = await api.exchange(bytes() + hidden());
    expect(responses).toHaveLength(1);
    for (const response of responses) expectError(response, 'invalid_request', 'malformed_json');
  });
});

const close = 'Connection: close';

it.each<[string, () => string, ...string[]]>([
  ...['*', 'v1/pets', '\\v1\\pets', 'http://', 'http://[', 'https://%zz/%zz', 'http://x:x/v1/pets', 'ftp://[/', '/v1/petsx#y'].map(
    (target): [string, () => string, ...string[]] => [
      `the target ${target}`,
      () => message(`GET ${target} HTTP/1.1`, [host(), close]),
      'route_not_found',
      'invalid_request',
    ],
  ),
])('%s is rejected', async (_what, bytes, ...codes) => {
  const [response, ...more] = await api.exchange(bytes());
  expect(more).toEqual([]);
  expectError(response, ...codes);
});

it('non-ASCII bytes in the target are rejected', async () => {
  const [response] = await api.exchange(Buffer.from(message(`GET ${pets()}/\xff HTTP/1.1`, [host(), key(), close]), 'latin1'));
  expectError(response, 'pet_not_found', 'invalid_request');
});

it('a target in absolute form requires a key', async () => {
  const statuses = async (...fields: readonly string[]) =>
    (await api.exchange(message(`GET ${api.url.origin}${pets()} HTTP/1.1`, [host(), close, ...fields]))).map(({ status }) => status);
  expect([await statuses(key()), await statuses()]).toEqual([[200], [401]]);
});

it('pipelined requests get responses in order, including errors', async () => {
  const bytes = [
    get(),
    message(`GET ${pets()}/-1 HTTP/1.1`, [host(), key()]),
    post(JSON_LENGTH, NEW_PET),
    message(`GET ${pets()} HTTP/1.1`, [host()]),
    post(['Content-Type: text/plain', `Content-Length: ${NEW_PET.length}`], NEW_PET),
    get(close),
  ].join('');
  const responses = await api.exchange(bytes);
  expect(responses.map(({ status }) => status)).toEqual([200, 404, 201, 401, 415, 200]);
});

it('trailer fields and chunk extensions are ignored', async () => {
  const body = `${NEW_PET.length.toString(16)};extension=1\r\n${NEW_PET}\r\n0\r\nX-Trailer: x\r\n\r\n`;
  const [response] = await api.exchange(post([close, 'Content-Type: application/json', 'Transfer-Encoding: chunked'], body));
  expect(response?.status).toBe(201);
});
