import { describe, expect, it } from '@jest/globals';
import { expectError } from '../support/http-response.js';
import { NEW_PET, readPets } from '../support/json.js';
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

async function expectStillServing(): Promise<void> {
  expect((await api.get('/v1/pets')).status).toBe(200);
}

describe('bytes that are not a valid HTTP request', () => {
  // These do not send `Connection: close`: the exchange ends only if the service closes the connection.
  it.each<[string, () => string | Uint8Array]>([
    ['text that is not HTTP', () => 'hello\r\n\r\n'],
    ['binary', () => Uint8Array.of(0, 1, 2, 255, 13, 10, 13, 10)],
    ['a TLS client hello', () => Uint8Array.of(0x16, 3, 1, 0, 0xa5, 1, 0, 0, 0xa1, 3, 3)],
    ['a request line without a version', () => `GET ${pets()}\r\n\r\n`],
    ['a request line without a target', () => message('GET HTTP/1.1', [host()])],
    ['a version that does not exist', () => message(`GET ${pets()} HTTP/9.9`, [host()])],
    ['another protocol', () => message(`GET ${pets()} SIP/2.0`, [host()])],
    ['the preface of HTTP/2', () => 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'],
    ['white space in the target', () => message(`GET ${pets()} and more HTTP/1.1`, [host()])],
    ['no Host', () => message(`GET ${pets()} HTTP/1.1`, [key()])],
    ['no Host on an unknown path', () => message('GET /unknown HTTP/1.1', [])],
    ['no Host on a POST', () => message(`POST ${pets()} HTTP/1.1`, [key(), ...JSON_LENGTH], NEW_PET)],
    ['two Hosts', () => get('Host: other.example')],
    ['two equal Hosts', () => get(host())],
    ...['x y', 'x/y', 'x?', 'x#', 'user@x', 'x:80:80', 'x:port', '[::1', '::1]', '[::1]x', '[]', 'é', 'x,y', '<x>', 'x"y', 'x\\y'].map(
      (value): [string, () => string] => [
        `the Host ${value}`,
        () => message(`GET ${api.path('/health/live')} HTTP/1.1`, [`Host: ${value}`]),
      ],
    ),
    ['white space in a field name', () => get('Bad Name: x')],
    ['white space before the colon', () => get('X-Bad : x')],
    ['a field without a colon', () => get('nonsense')],
    ['a field without a name', () => get(': x')],
    ['U+0000 in a value', () => get('X-Bad: a\0b')],
    ['a lone carriage return in a value', () => get('X-Bad: a\rb')],
    ['a length that is not a number', () => post(['Content-Type: application/json', 'Content-Length: ten'], NEW_PET)],
    ['a negative length', () => post(['Content-Type: application/json', 'Content-Length: -1'], NEW_PET)],
    ['a signed length', () => post(['Content-Type: application/json', `Content-Length: +${NEW_PET.length}`], NEW_PET)],
    ['a length of 30 digits', () => post(['Content-Type: application/json', `Content-Length: ${'9'.repeat(30)}`], NEW_PET)],
    ['two lengths', () => post([...JSON_LENGTH, 'Content-Length: 3'], NEW_PET)],
    ['a list of lengths', () => post(['Content-Type: application/json', `Content-Length: ${NEW_PET.length}, 3`], NEW_PET)],
  ])('responds with 400 and closes the connection: %s', async (_what, bytes) => {
    const responses = await api.exchange(bytes());
    expect(responses).toHaveLength(1);
    for (const response of responses) expectError(response, 'invalid_request');
    await expectStillServing();
  });
});

describe('request smuggling', () => {
  const hidden = (): string => message(`GET ${api.path('/health/live')} HTTP/1.1`, [host()]);
  const chunked = 'Transfer-Encoding: chunked';
  const json = 'Content-Type: application/json';

  it.each([
    ...['gzip, chunked', 'deflate, chunked', 'unknown, chunked', 'identity, chunked', 'gzip,chunked', 'GZIP, Chunked', 'gzip,\tchunked'],
    ...[
      'gzip;q=1, chunked',
      '"chunked", chunked',
      'gzip\r\nTransfer-Encoding: chunked',
      'chunked, chunked',
      'chunked;q=1',
      'identity',
      'gzip',
    ],
  ])('rejects a body with the transfer coding %j, and closes the connection', async (coding) => {
    const chunks = `${NEW_PET.length.toString(16)}\r\n${NEW_PET}\r\n0\r\n\r\n`;
    for (const method of ['POST', 'GET', 'HEAD', 'OPTIONS', 'DELETE']) {
      for (const expectation of [[], ['Expect: 100-continue']]) {
        const fields = [host(), key(), json, `Transfer-Encoding: ${coding}`, ...expectation];
        const responses = await api.exchange(message(`${method} ${pets()} HTTP/1.1`, fields, chunks + hidden()));
        expect(responses.map(({ status, headers }) => [method, status, headers['connection']])).toEqual([[method, 400, 'close']]);
      }
    }
    await expectStillServing();
  });

  it.each(['Chunked', 'CHUNKED', ', chunked', '\tchunked'])('accepts a chunked body with Transfer-Encoding: %j', async (coding) => {
    const fields = [json, 'Connection: close', `Transfer-Encoding: ${coding}`];
    const responses = await api.exchange(post(fields, `${NEW_PET.length.toString(16)}\r\n${NEW_PET}\r\n0\r\n\r\n`));
    expect(responses.map(({ status }) => status)).toEqual([201]);
  });

  it('rejects a chunked body in HTTP/1.0, and closes the connection', async () => {
    const fields = [host(), key(), json, chunked, 'Connection: keep-alive'];
    const chunks = `${NEW_PET.length.toString(16)}\r\n${NEW_PET}\r\n0\r\n\r\n`;
    const responses = await api.exchange(message(`POST ${pets()} HTTP/1.0`, fields, chunks + hidden()));
    expect(responses).toHaveLength(1);
    for (const response of responses) expectError(response, 'invalid_request');
  });

  it.each<[string, () => string]>([
    ['Content-Length and then Transfer-Encoding', () => post([json, 'Content-Length: 5', chunked], `0\r\n\r\n${hidden()}`)],
    ['Transfer-Encoding and then Content-Length', () => post([json, chunked, 'Content-Length: 5'], `0\r\n\r\n${hidden()}`)],
    ['an unknown transfer coding', () => post([json, 'Transfer-Encoding: xchunked'], `0\r\n\r\n${hidden()}`)],
    ['chunked before another coding', () => post([json, 'Transfer-Encoding: chunked, identity'], `0\r\n\r\n${hidden()}`)],
    ['chunked twice with a length', () => post([json, chunked, 'transfer-encoding: chunked', 'Content-Length: 5'], `0\r\n\r\n${hidden()}`)],
    ['a chunk size that is not a number', () => post([json, chunked], `zz\r\n${NEW_PET}\r\n0\r\n\r\n${hidden()}`)],
    ['a chunk size of 20 digits', () => post([json, chunked], `${'f'.repeat(20)}\r\n${NEW_PET}\r\n0\r\n\r\n${hidden()}`)],
    ['a negative chunk size', () => post([json, chunked], `-1\r\n${NEW_PET}\r\n0\r\n\r\n${hidden()}`)],
    ['a chunk longer than its size', () => post([json, chunked], `5\r\n${NEW_PET}\r\n0\r\n\r\n${hidden()}`)],
  ])('responds with one error and does not serve the hidden request: %s', async (_what, bytes) => {
    const responses = await api.exchange(bytes());
    expect(responses).toHaveLength(1);
    for (const response of responses) expectError(response, 'invalid_request', 'malformed_json');
    await expectStillServing();
  });
});

describe('well-formed requests that are rejected', () => {
  const close = 'Connection: close';

  it.each<[string, () => string, ...string[]]>([
    ['a field of 20,000 bytes', () => get(close, `X-Big: ${'x'.repeat(20_000)}`), 'headers_too_large'],
    [
      '20,000 bytes of fields',
      () => get(close, ...Array.from({ length: 200 }, (_, n) => `X-Field-${n}: ${'x'.repeat(90)}`)),
      'headers_too_large',
    ],
    ['100 small fields', () => get(close, ...Array.from({ length: 100 }, (_, n) => `X-Field-${n}: x`)), 'headers_too_large'],
    [
      '20,000 bytes of fields without a key',
      () => message('GET /unknown HTTP/1.1', [host(), close, `X-Big: ${'x'.repeat(20_000)}`]),
      'headers_too_large',
    ],
    ['an expectation that cannot be met', () => post([close, 'Expect: nonsense', ...JSON_LENGTH], NEW_PET), 'expectation_failed'],
    ...['100-continue, 200-ok', '100-continue;q=1', '"100-continue"', 'x-100-continue'].map(
      (expectation): [string, () => string, string] => [
        `the expectation ${expectation}`,
        () => post([close, `Expect: ${expectation}`, ...JSON_LENGTH], NEW_PET),
        'expectation_failed',
      ],
    ),
    ['an unknown method', () => message(`FROB ${pets()} HTTP/1.1`, [host(), close]), 'method_not_allowed', 'invalid_request'],
    ['a method in lower case', () => message(`get ${pets()} HTTP/1.1`, [host(), close]), 'method_not_allowed', 'invalid_request'],
    [
      'CONNECT',
      () => message('CONNECT example.com:443 HTTP/1.1', ['Host: example.com:443', close]),
      'method_not_allowed',
      'route_not_found',
      'invalid_request',
    ],
    ['TRACE', () => message(`TRACE ${pets()} HTTP/1.1`, [host(), close]), 'method_not_allowed'],
    ['GET *', () => message('GET * HTTP/1.1', [host(), close]), 'route_not_found', 'invalid_request'],
    ['a target without a leading slash', () => message('GET v1/pets HTTP/1.1', [host(), close]), 'route_not_found', 'invalid_request'],
    ['a backslash in the target', () => message('GET \\v1\\pets HTTP/1.1', [host(), close]), 'route_not_found', 'invalid_request'],
    ['an absolute target without a host', () => message('GET http:// HTTP/1.1', [host(), close]), 'route_not_found', 'invalid_request'],
    ['an absolute target that is not a URL', () => message('GET http://[ HTTP/1.1', [host(), close]), 'invalid_request'],
    ['an absolute target with a broken path', () => message('GET https://%zz/%zz HTTP/1.1', [host(), close]), 'invalid_request'],
    ['an absolute target with a broken port', () => message('POST http://x:x/v1/pets HTTP/1.1', [host(), close]), 'invalid_request'],
    ['a target of another scheme', () => message('GET ftp://[/ HTTP/1.1', [host(), close]), 'route_not_found', 'invalid_request'],
    ['a fragment in the target', () => message(`GET ${pets()}x#y HTTP/1.1`, [host(), close]), 'route_not_found', 'invalid_request'],
  ])('%s', async (_what, bytes, ...codes) => {
    const [response, ...more] = await api.exchange(bytes());
    expect(more).toEqual([]);
    expectError(response, ...codes);
    await expectStillServing();
  });

  it('responds with 404 or 400 to non-ASCII bytes in the target', async () => {
    const bytes = Buffer.from(message(`GET ${pets()}/\xff HTTP/1.1`, [host(), key(), close]), 'latin1');
    const [response] = await api.exchange(bytes);
    expectError(response, 'pet_not_found', 'invalid_request');
  });
});

describe('unusual but valid requests', () => {
  const close = 'Connection: close';

  it('serves a target in absolute form', async () => {
    const [response] = await api.exchange(message(`GET ${api.url.origin}${pets()}?limit=1 HTTP/1.1`, [host(), key(), close]));
    expect(response?.status).toBe(200);
    expect(readPets(response?.text ?? '').length).toBeLessThanOrEqual(1);
  });

  it('requires a key for a target in absolute form', async () => {
    const [response] = await api.exchange(message(`GET ${api.url.origin}${pets()} HTTP/1.1`, [host(), close]));
    expect(response?.status).toBe(401);
  });

  it('responds to OPTIONS *', async () => {
    const [response] = await api.exchange(message('OPTIONS * HTTP/1.1', [host(), close]));
    if (response?.status !== 204) expectError(response, 'route_not_found', 'invalid_request', 'method_not_allowed');
  });

  it.each(['websocket', 'h2c'])('ignores a request to upgrade to %s', async (protocol) => {
    const [response] = await api.exchange(get('Connection: Upgrade, close', `Upgrade: ${protocol}`));
    expect(response?.status).toBe(200);
  });

  it('sends 100 and then 201 to a client that waits for 100 Continue', async () => {
    const responses = await api.exchange(post([close, 'Expect: 100-continue', ...JSON_LENGTH], NEW_PET));
    expect(responses.map(({ status }) => status)).toEqual([100, 201]);
  });

  it('responds to pipelined requests in order, including errors', async () => {
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

  it('ignores trailer fields and chunk extensions', async () => {
    const body = `${NEW_PET.length.toString(16)};extension=1\r\n${NEW_PET}\r\n0\r\nX-Trailer: x\r\n\r\n`;
    const [response] = await api.exchange(post([close, 'Content-Type: application/json', 'Transfer-Encoding: chunked'], body));
    expect(response?.status).toBe(201);
  });
});
