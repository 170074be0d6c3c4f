import { METHODS } from 'node:http';
import { describe, expect, it } from '@jest/globals';
import { expectError, type HttpResponse } from '../support/http-response.js';
import { useApi } from '../support/use-api.js';

const api = useApi();
const MAX_TARGET = 4 * 1024;
const WITHOUT_KEY = { authorization: null };

const READ = ['GET', 'HEAD', 'OPTIONS'];
const KNOWN_PATHS: readonly [string, readonly string[]][] = [
  ['/v1/pets', [...READ, 'POST']],
  ...['/v1/pets/1', `/v1/pets/${'9'.repeat(200)}`, '/health/live', '/openapi.json', '/', '/docs', '/docs/docs.js'].map(
    (path): [string, readonly string[]] => [path, READ],
  ),
];

const UNKNOWN_PATHS = [
  ...['/pets', '/v2/pets', '/v1', '/v1/', '/V1/PETS', '/v1/petss', '//v1/pets', '/v1//pets', '/v1/pets/1/2', '/v1/pets/1/'],
  ...['/v1/./pets', '/v1/../v1/pets', '/v1%2Fpets', '/v1/pets%00', '/v1/pets%3Flimit=1', '/health', '/metrics', '/.env'],
  ...['/package.json', '/docs/quickstart/page', '/__proto__'],
];

function allowOf(headers: Readonly<Record<string, string>>): string[] {
  return (headers['allow'] ?? '').split(/\s*,\s*/).sort();
}

describe('an unknown path', () => {
  it.each(UNKNOWN_PATHS)('responds with 404 route_not_found to %s, without a key', async (path) => {
    expectError(await api.get(path, WITHOUT_KEY), 'route_not_found');
  });

  it.each(UNKNOWN_PATHS.slice(0, 4))('responds with the same to %s with a valid and with a wrong key', async (path) => {
    expectError(await api.get(path), 'route_not_found');
    expectError(await api.get(path, { authorization: 'Bearer wrong' }), 'route_not_found');
  });

  it('responds with 404 to every method', async () => {
    for (const method of METHODS.filter((each) => each !== 'CONNECT')) {
      const response = await api.send(method, '/v1/unknown', WITHOUT_KEY);
      expect([method, response.status]).toEqual([method, 404]);
      if (method !== 'HEAD') expectError(response, 'route_not_found');
    }
  });

  it('responds with 404 to any body', async () => {
    const options = { ...WITHOUT_KEY, headers: { 'content-type': 'text/plain', 'content-encoding': 'gzip' }, body: 'x'.repeat(100_000) };
    expectError(await api.send('POST', '/v1/unknown', options), 'route_not_found');
  });

  it.each(['/%zz', '/v1/%ff', '/v1/pets/1/%zz', '/%', '/docs/%zz'])(
    'responds with an error to %s, which cannot be decoded',
    async (path) => {
      expectError(await api.get(path, WITHOUT_KEY), 'route_not_found', 'invalid_request');
    },
  );

  it('responds with 404 to a missing id after the slash', async () => {
    expectError(await api.get('/v1/pets/'), 'route_not_found', 'pet_not_found');
  });
});

describe.each(KNOWN_PATHS)('%s', (path, methods) => {
  it('responds to OPTIONS with 204 and Allow, without a key', async () => {
    const response = await api.send('OPTIONS', path, WITHOUT_KEY);
    expect(response).toMatchObject({ status: 204, text: '' });
    expect(allowOf(response.headers)).toEqual(methods);
  });

  it('responds to other methods with 405 method_not_allowed and Allow, without a key', async () => {
    for (const method of ['POST', 'PUT', 'PATCH', 'DELETE', 'TRACE', 'QUERY', 'MKCOL'].filter((each) => !methods.includes(each))) {
      const response = await api.send(method, path, WITHOUT_KEY);
      expectError(response, 'method_not_allowed');
      expect([method, allowOf(response.headers)]).toEqual([method, methods]);
    }
  });

  it('responds with 405 to any body', async () => {
    const options = { ...WITHOUT_KEY, headers: { 'content-type': 'text/plain', 'content-encoding': 'gzip' }, body: 'x'.repeat(100_000) };
    expectError(await api.send('PUT', path, options), 'method_not_allowed');
  });
});

describe('HEAD', () => {
  /** Headers that differ between two equal requests. */
  const VARYING = ['connection', 'keep-alive', 'date', 'ratelimit', 'x-request-id'];

  it.each([
    ['/v1/pets?limit=2', {}],
    ['/v1/pets?limit=0', {}],
    ['/v1/pets/1', { authorization: 'Bearer wrong' }],
    ['/v1/pets/-1', {}],
    ['/v1/pets/{petId}', {}],
    ['/v1/pets/{petId}', { headers: { 'if-none-match': '*' } }],
    ['/v1/unknown', WITHOUT_KEY],
    ['/openapi.json', WITHOUT_KEY],
    ['/', WITHOUT_KEY],
    ['/docs', WITHOUT_KEY],
    ['/health/ready', WITHOUT_KEY],
  ])('responds to %s, %j with the status and headers of GET, and no body', async (template, options) => {
    const path = template.includes('{petId}') ? `/v1/pets/${String((await api.createPet()).id)}` : template;
    const [head, get] = [await api.send('HEAD', path, options), await api.get(path, options)];
    const fixed = ({ headers }: HttpResponse) => Object.fromEntries(Object.entries(headers).filter(([name]) => !VARYING.includes(name)));
    expect([head.status, head.text, fixed(head)]).toEqual([get.status, '', fixed(get)]);
  });
});

describe('a URL', () => {
  it('of 4 KiB is accepted, one byte more is 414 uri_too_long', async () => {
    const start = '/v1/pets?x=';
    const longest = start + 'x'.repeat(MAX_TARGET - api.path(start).length);
    expect((await api.get(longest)).status).toBe(200);
    expectError(await api.get(`${longest}x`), 'uri_too_long');
  });

  it('is measured as sent, not decoded', async () => {
    const path = `/v1/pets/${'%'.repeat(MAX_TARGET - api.path('/v1/pets/').length)}`;
    expectError(await api.get(path), 'pet_not_found');
    expectError(await api.get(`${path}%`), 'uri_too_long');
  });

  it('above 4 KiB is 414 on any path', async () => {
    expectError(await api.get(`/${'x'.repeat(MAX_TARGET)}`, WITHOUT_KEY), 'uri_too_long');
    expectError(await api.get(`/v1/pets/${'7'.repeat(MAX_TARGET)}`), 'uri_too_long');
  });
});

describe('X-Request-Id', () => {
  const RESPONSES = [
    ['200', 'GET', '/v1/pets', {}, 200],
    ['204', 'OPTIONS', '/v1/pets', WITHOUT_KEY, 204],
    ['401', 'GET', '/v1/pets', WITHOUT_KEY, 401],
    ['404 of an unknown path', 'GET', '/unknown', WITHOUT_KEY, 404],
    ['413', 'POST', '/v1/pets', { headers: { 'content-type': 'application/json' }, body: 'x'.repeat(70_000) }, 413],
    ['414', 'GET', `/${'x'.repeat(MAX_TARGET)}`, {}, 414],
  ] as const;

  it.each(RESPONSES)('of the request is returned on %s', async (_what, method, path, options, status) => {
    const headers = { ...('headers' in options ? options.headers : {}), 'x-request-id': 'suite-4711' };
    const response = await api.send(method, path, { ...options, headers });
    expect(response.status).toBe(status);
    expect(response.headers['x-request-id']).toBe('suite-4711');
  });
});

describe('an error', () => {
  it.each(['text/html', 'application/xml', 'application/problem+json', 'image/png', '*/*;q=0', ''])(
    'is JSON even if Accept is "%s"',
    async (accept) => {
      const headers = { accept };
      expectError(await api.get('/v1/pets?limit=0', { headers }), 'invalid_request');
      expectError(await api.get('/v1/pets', { ...WITHOUT_KEY, headers }), 'missing_api_key');
      expectError(await api.get('/v1/pets/-1', { headers }), 'pet_not_found');
      expectError(await api.get('/unknown', { headers }), 'route_not_found');
    },
  );

  it('contains neither header values nor the key of the request', async () => {
    const headers = { 'content-type': 'text/secret-type', 'x-secret': 'secret-value' };
    const response = await api.send('POST', '/v1/pets', { headers, body: '{}' });
    expectError(response, 'unsupported_media_type');
    for (const secret of ['secret-type', 'secret-value', api.target.key]) expect(response.text).not.toContain(secret);
  });
});
