import { readFileSync } from 'node:fs';
import { runInNewContext } from 'node:vm';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Client } from 'pg';
import { RawConnection } from '@animal-store/test-kit/raw-connection';
import { useTestApp } from './testing/test-app.js';

const PET = '{"name":"Rex","categoryId":1}';
const ORIGIN = 'https://app.example.com';
/** The last millisecond before getPet is removed. */
let time = new Date('2030-12-04T23:59:59.999Z');

const service = useTestApp(['pets:read', 'pets:write'], {
  clock: { now: () => time },
  env: {
    CORS_ORIGINS: `${ORIGIN},https://admin.example.com`,
    PUBLIC_BASE_URL: 'HTTPS://API.example.org:443/st%C3%B6r%7Ce/',
    DOCS_URL: 'https://docs.example.org/store/',
  },
});

describe('ETag and If-None-Match', () => {
  let keys: [string, string];

  beforeAll(async () => {
    keys = [await service.createKey('pets:read', 'pets:write'), await service.createKey('pets:read')];
    for (let i = 0; i < 3; i++) await post();
  });

  async function post(): Promise<void> {
    const response = await fetch(`${service.url}/v1/pets`, {
      method: 'POST',
      headers: { Authorization: `Bearer ${keys[0]}`, 'Content-Type': 'application/json' },
      body: PET,
    });
    expect(response.status).toBe(201);
    expect(response.headers.get('etag')).toBeNull();
    await response.text();
  }

  async function get(path: string, { known, key = keys[0], method = 'GET' }: { known?: string; key?: string; method?: string } = {}) {
    const headers = { Authorization: `Bearer ${key}`, ...(known !== undefined && { 'If-None-Match': known }) };
    const response = await fetch(service.url + path, { headers, method });
    return { status: response.status, headers: response.headers, text: await response.text() };
  }

  it.each(['/v1/pets?limit=2', '/v1/pets', '/v1/pets/1'])('lead to 304 if %s is unchanged', async (path) => {
    const { status, headers } = await get(path);
    const tag = headers.get('etag') ?? '';
    expect([status, tag]).toEqual([200, expect.stringMatching(/^"[\w-]{27}"$/)]);
    for (const known of [tag, `W/${tag}`, `"other", ${tag}`, `"a" , W/${tag}`, '*']) {
      for (const method of ['GET', 'HEAD']) {
        const current = await get(path, { known, method });
        expect([known, current.status, current.text]).toEqual([known, 304, '']);
        for (const name of ['etag', 'link', 'cache-control']) expect([name, current.headers.get(name)]).toEqual([name, headers.get(name)]);
        for (const name of ['content-type', 'content-length', 'transfer-encoding']) expect(current.headers.get(name)).toBeNull();
      }
    }
    for (const known of ['"other"', tag.slice(1, -1), '']) expect((await get(path, { known })).status).toBe(200);
  });

  it.each(['/v1/pets?limit=2', '/v1/pets/1', '/openapi.json'])('lead to 412 if %s has none of the tags in If-Match', async (path) => {
    const send = async (method: string, headers: Record<string, string>) => {
      const response = await fetch(service.url + path, { method, headers: { Authorization: `Bearer ${keys[0]}`, ...headers } });
      return { status: response.status, headers: response.headers, text: await response.text() };
    };
    const { headers, text } = await send('GET', {});
    const tag = headers.get('etag') ?? '';
    for (const field of [tag, `"other", ${tag}`, `,${tag},`, '*']) {
      expect(await send('GET', { 'If-Match': field })).toMatchObject({ status: 200, text });
      expect(await send('GET', { 'If-Match': field, 'If-None-Match': tag })).toMatchObject({ status: 304, text: '' });
    }
    for (const field of ['"other"', `W/${tag}`]) {
      for (const known of ['"other"', tag, '*']) {
        const failed = await send('GET', { 'If-Match': field, 'If-None-Match': known });
        expect([field, failed.status, JSON.parse(failed.text)]).toEqual([
          field,
          412,
          { code: 'precondition_failed', message: 'If-Match does not contain the current ETag; remove the header.', status: 412 },
        ]);
        expect([failed.headers.get('etag'), failed.headers.get('cache-control')]).toEqual([null, 'no-store']);
        const { status, headers, text } = await send('HEAD', { 'If-Match': field, 'If-None-Match': known });
        expect([status, text, headers.get('content-length')]).toEqual([412, '', failed.headers.get('content-length')]);
      }
    }
    expect((await send('GET', { 'If-Match': tag.slice(1, -1) })).status).toBe(400);
    // There are no modification dates and no ranges (RFC 9110, sections 13.1.3, 13.1.4 and 14.2).
    const ignored = { 'If-Modified-Since': new Date(4e12).toUTCString(), 'If-Unmodified-Since': new Date(0).toUTCString() };
    expect(await send('GET', { ...ignored, Range: 'bytes=0-1', 'If-Range': tag })).toMatchObject({ status: 200, text });
  });

  it('lead to 304 if the public /openapi.json is unchanged', async () => {
    const { status, headers } = await get('/openapi.json');
    expect([status, headers.get('etag'), headers.get('cache-control')]).toEqual([200, expect.any(String), 'private, no-cache']);
    expect(await get('/openapi.json', { known: headers.get('etag') ?? '' })).toMatchObject({ status: 304, text: '' });
  });

  it('depend on body and Link, but not on the API key', async () => {
    const page = await get('/v1/pets?limit=3');
    expect((await get('/v1/pets?limit=3', { key: keys[1] })).headers.get('etag')).toBe(page.headers.get('etag'));
    await post();
    const longer = await get('/v1/pets?limit=3');
    expect(longer.text).toBe(page.text);
    expect([page.headers.get('link'), longer.headers.get('link')]).toEqual([null, expect.stringContaining('rel="next"')]);
    expect(longer.headers.get('etag')).not.toBe(page.headers.get('etag'));
  });

  it('are ignored for errors', async () => {
    for (const path of ['/v1/pets/none', '/v1/pets?limit=0']) {
      const error = await get(path, { known: '*' });
      expect([error.status >= 400, error.headers.get('etag'), error.headers.get('cache-control')]).toEqual([true, null, 'no-store']);
    }
    expect((await get('/v1/pets', { known: '*', key: 'wrong' })).status).toBe(401);
    const headers = { Authorization: `Bearer ${keys[0]}`, 'If-Match': '"other"' };
    expect((await fetch(`${service.url}/v1/pets/none`, { headers })).status).toBe(404);
  });
});

describe('health', () => {
  let database: Client;
  afterAll(() => database.end());
  beforeAll(async () => {
    database = new Client({ connectionString: service.databaseUrl });
    await database.connect();
  });

  async function get(path: string) {
    const response = await fetch(service.url + path, { headers: { Authorization: `Bearer ${service.key}` } });
    const [connection, cacheControl] = ['connection', 'cache-control'].map((name) => response.headers.get(name));
    return { status: response.status, connection, cacheControl, body: await response.json() };
  }

  const OK = { status: 200, connection: 'keep-alive', cacheControl: 'no-store', body: { status: 'ok' } };
  const notReady = (message: string) => ({ status: 503, body: { code: 'service_unavailable', message, status: 503 } });

  it('is ready if and only if all its migrations are applied', async () => {
    expect(await get('/health/ready')).toEqual(OK);
    const { rows } = await database.query('DELETE FROM schema_migrations WHERE id = (SELECT max(id) FROM schema_migrations) RETURNING *');
    expect(await get('/health/ready')).toMatchObject(notReady('Migrations are pending.'));
    await database.query('ALTER TABLE schema_migrations RENAME TO hidden');
    expect(await get('/health/ready')).toMatchObject(notReady('Migrations are pending.'));
    expect(await get('/health/live')).toEqual(OK);
    await database.query('ALTER TABLE hidden RENAME TO schema_migrations');
    const { timestamp, name } = rows[0] as { timestamp: string; name: string };
    await database.query('INSERT INTO schema_migrations (timestamp, name) VALUES ($1, $2)', [timestamp, name]);
    expect(await get('/health/ready')).toEqual(OK);
    // A migration of a newer version.
    await database.query(`INSERT INTO schema_migrations (timestamp, name) VALUES (9999999999999, 'FromTheFuture9999999999999')`);
    expect(await get('/health/ready')).toEqual(OK);
  });
});

describe('CORS', () => {
  async function send(method: string, path: string, headers: Record<string, string>) {
    const response = await fetch(service.url + path, { method, headers });
    await response.text();
    return response;
  }

  const preflight = {
    'Access-Control-Request-Method': 'POST',
    'Access-Control-Request-Headers': 'authorization,content-type,idempotency-key',
  };

  it('allows preflights of a configured origin without an API key', async () => {
    const { status, headers } = await send('OPTIONS', '/v1/pets', { Origin: ORIGIN, ...preflight });
    expect(status).toBe(204);
    expect(headers.get('access-control-allow-origin')).toBe(ORIGIN);
    expect(headers.get('access-control-allow-methods')).toBe('GET, HEAD, POST, OPTIONS');
    expect(headers.get('access-control-allow-headers')).toBe(preflight['Access-Control-Request-Headers']);
    expect(headers.get('access-control-max-age')).toBe('600');
    expect(headers.get('access-control-allow-credentials')).toBeNull();
    expect(headers.get('x-request-id')).not.toBeNull();
  });

  it('exposes all response headers to a configured origin, also on errors', async () => {
    for (const [path, authorization] of [
      ['/v1/pets', `Bearer ${service.key}`],
      ['/v1/pets', 'none'],
      ['/v1/nothing', 'none'],
    ] as const) {
      const { headers } = await send('GET', path, { Origin: ORIGIN, Authorization: authorization });
      expect([path, headers.get('access-control-allow-origin')]).toEqual([path, ORIGIN]);
      expect(headers.get('vary')).toMatch(/Origin/);
      expect(headers.get('access-control-expose-headers')?.split(', ')).toEqual([
        ...['Accept-Patch', 'Allow', 'Deprecation', 'ETag', 'Idempotent-Replayed', 'Link', 'Location', 'Preference-Applied'],
        ...['RateLimit', 'RateLimit-Policy', 'Retry-After', 'Sunset', 'WWW-Authenticate', 'X-Request-Id'],
      ]);
    }
  });

  it.each([
    ['a long target', 414, `GET /${'x'.repeat(4_096)} HTTP/1.1\r\nHost: x\r\n`, ''],
    ['a target and headers that are too long', 431, `GET /${'x'.repeat(9_000)} HTTP/1.1\r\nHost: x\r\n`, ''],
    ['many headers', 431, 'GET /v1/pets HTTP/1.1\r\nHost: x\r\n', 'X: y\r\n'.repeat(70)],
    ['large headers', 431, 'GET /v1/pets HTTP/1.1\r\nHost: x\r\n', `X: ${'y'.repeat(9_000)}\r\n`],
    ['no Host', 400, 'GET /v1/pets HTTP/1.1\r\n', ''],
    ['a malformed header', 400, 'GET /v1/pets HTTP/1.1\r\nHost: x\r\n', 'X y\r\n'],
    ['an expectation', 417, 'GET /v1/pets HTTP/1.1\r\nHost: x\r\nExpect: 100-continue, nonsense\r\n', ''],
    ['too many pipelined requests', 503, 'GET /v1/pets HTTP/1.1\r\nHost: x\r\n', ''],
  ])('lets a configured origin read the error for %s', async (what, status, beginning, end) => {
    using connection = await RawConnection.open(service.url);
    const count = status === 503 ? 65 : 1;
    connection.write(`${beginning}Origin: ${ORIGIN}\r\n${end}\r\n`.repeat(count));
    let response = await connection.read();
    for (let i = 1; i < count; i++) response = await connection.read();
    expect([what, response?.status, response?.headers['access-control-allow-origin']]).toEqual([what, status, ORIGIN]);
    expect(response?.headers['access-control-expose-headers']).toMatch(/\bLink\b.*\bRetry-After\b/);
    expect(response?.headers['vary']).toBe('Origin');
  });

  it('allows none of several origins if the request cannot be read', async () => {
    using connection = await RawConnection.open(service.url);
    connection.write('GET\r\n\r\n');
    const { status, headers } = (await connection.read()) ?? {};
    expect([status, headers?.['vary'], headers?.['access-control-allow-origin']]).toEqual([400, 'Origin', undefined]);
  });

  it.each([
    ['another origin', ['Origin: https://evil.example']],
    ['a longer origin', [`Origin: ${ORIGIN}.evil.example`]],
    ['no origin', []],
    ['the origin null', ['Origin: null']],
    ['two origins', [`Origin: ${ORIGIN}`, 'Origin: https://evil.example']],
  ])('allows nothing to %s', async (_what, origins) => {
    for (const method of ['GET', 'OPTIONS', 'DELETE', 'CONNECT']) {
      using connection = await RawConnection.open(service.url);
      const fields = ['Host: x', ...origins, 'Access-Control-Request-Method: POST', 'Access-Control-Request-Headers: authorization'];
      connection.write(`${method} /v1/pets HTTP/1.1\r\n${fields.join('\r\n')}\r\n\r\n`);
      const { headers = {} } = (await connection.read()) ?? {};
      expect([method, headers['vary'], Object.keys(headers).filter((name) => name.startsWith('access-control-'))]).toEqual([
        method,
        'Origin',
        [],
      ]);
    }
  });
});

describe('with PUBLIC_BASE_URL and DOCS_URL', () => {
  const BASE = 'https://api.example.org/st%C3%B6r%7Ce';
  const ERRORS = 'https://docs.example.org/store/guides/errors.html';

  const get = (path: string, headers: Record<string, string> = { Authorization: `Bearer ${service.key}` }) =>
    fetch(service.url + path, { headers });

  it('Location and Link begin with it, whatever Host and the headers of a proxy are', async () => {
    const hostile = ['Host', 'X-Forwarded-Host'].map((name) => `${name}: evil.example\r\n`).join('');
    const fields = `${hostile}X-Forwarded-Proto: ftp\r\nForwarded: host=evil.example\r\nAuthorization: Bearer ${service.key}\r\n`;
    const length = `Content-Type: application/json\r\nContent-Length: ${String(PET.length)}\r\n`;
    const creation = `POST /v1/pets HTTP/1.1\r\n${fields}${length}\r\n${PET}`;
    using connection = await RawConnection.open(service.url);
    connection.write(`${creation}${creation}`);
    for (let i = 0; i < 2; i++) expect((await connection.read())?.headers['location']).toMatch(new RegExp(`^${BASE}/v1/pets/\\d+$`));
    connection.write(`GET / HTTP/1.1\r\n${fields}\r\n`);
    expect((await connection.read())?.headers).toMatchObject({ location: `${BASE}/docs` });
    connection.write(`GET /v1/pets?limit=1 HTTP/1.1\r\n${fields}\r\nhello\r\n\r\n`);
    expect((await connection.read())?.headers['link']).toMatch(new RegExp(`^<${BASE}/v1/pets\\?limit=1&cursor=[\\w-]+>; rel="next"$`));
    expect((await connection.read())?.headers['link']).toBe(`<${ERRORS}#invalid_request>; rel="help"`);
  });

  it('getPet works until the last millisecond before its removal, and then responds with 410', async () => {
    const created = await fetch(`${service.url}/v1/pets`, {
      method: 'POST',
      headers: { Authorization: `Bearer ${service.key}`, 'Content-Type': 'application/json' },
      body: PET,
    });
    const { id } = (await created.json()) as { id: number };
    expect([created.status, created.headers.get('location')]).toEqual([201, `${BASE}/v1/pets/${String(id)}`]);
    const { servers, externalDocs } = (await (await get('/openapi.json', {})).json()) as { servers: unknown; externalDocs: unknown };
    expect(servers).toEqual([{ url: `${BASE}/v1`, description: 'Production' }]);
    expect(externalDocs).toEqual({ description: 'Guides', url: 'https://docs.example.org/store' });
    const before = await get(`/v1/pets/${String(id)}`);
    expect([before.status, await before.json()]).toEqual([200, { id, name: 'Rex', categoryId: 1, status: 'available' }]);

    time = new Date('2030-12-05T00:00:00Z');
    for (const path of [`/v1/pets/${String(id)}`, '/v1/pets/none']) {
      const after = await get(path);
      expect([after.status, await after.json()]).toEqual([410, { code: 'operation_removed', message: expect.any(String), status: 410 }]);
      expect(after.headers.get('deprecation')).toBe('@1764892800');
      expect(after.headers.get('sunset')).toBe('Thu, 05 Dec 2030 00:00:00 GMT');
      expect(after.headers.get('link')).toBe(`<${BASE}/v1/pets>; rel="successor-version", <${ERRORS}#operation_removed>; rel="help"`);
    }
    expect((await get(`/v1/pets/${String(id)}`, {})).status).toBe(401);
    // The path has no identifier, so it is not that of getPet.
    const other = await get('/v1/pets/');
    expect([other.status, other.headers.get('deprecation'), other.headers.get('sunset'), other.headers.get('link')]).toEqual([
      404,
      null,
      null,
      `<${ERRORS}#route_not_found>; rel="help"`,
    ]);
    const list = await get(`/v1/pets?id=${String(id)}`);
    expect([list.status, list.headers.get('deprecation'), list.headers.get('link')]).toEqual([200, null, null]);
    expect(await list.json()).toEqual([{ id, name: 'Rex', categoryId: 1, status: 'available' }]);
  });
});

describe('the reference at /docs', () => {
  it('loads only files of this service', async () => {
    const response = await fetch(`${service.url}/docs`);
    const policy = response.headers.get('content-security-policy');
    expect(policy).toMatch(/^default-src 'none'; script-src 'self';/);
    // What Swagger UI does: style attributes, icons from data URLs, requests to the service.
    expect(policy).toContain("; style-src 'self' 'unsafe-inline'; img-src 'self' data:; connect-src 'self';");
    expect(policy).toMatch(/; base-uri 'none'; form-action 'none'; frame-ancestors 'none'$/);
    const files = [...(await response.text()).matchAll(/(?:src|href)="([^"]+)"/g)].map(([, file = '']) => file);
    expect(files).toEqual(['data:,', 'docs/swagger-ui.css', 'docs/swagger-ui-bundle.js', 'docs/docs.js']);
    for (const file of files.slice(1)) {
      const asset = await fetch(new URL(file, response.url));
      expect([file, asset.status, asset.headers.get('content-type')]).toEqual([
        file,
        200,
        `text/${file.endsWith('css') ? 'css' : 'javascript'}; charset=utf-8`,
      ]);
      expect((await asset.text()).length).toBeGreaterThan(1000);
    }
  });

  it.each(['docs/', 'docs/unknown.js', 'docs/__proto__', 'docs/docs.html', 'docs/..%2Fpackage.json'])('there is no /%s', async (path) => {
    const response = await fetch(`${service.url}/${path}`);
    expect(response.status).toBe(404);
    expect(await response.json()).toMatchObject({ code: 'route_not_found' });
  });

  it('Swagger UI shows every digit of integers in examples and responses', async () => {
    interface Options {
      readonly spec: { readonly example: unknown; readonly servers: unknown };
      readonly plugins: readonly [() => { afterLoad(system: object): void }, () => { wrapComponents: { responseBody: Wrapper } }];
    }
    type Wrapper = (original: string, system: object) => (props: object) => readonly unknown[];
    const text = '{"example":9007199254740993,"servers":[]}';
    const options = await new Promise<Options>((SwaggerUIBundle) => {
      const globals = { SwaggerUIBundle, URL, fetch: async () => new Response(text), location: { href: 'https://store.test/base/docs' } };
      runInNewContext(readFileSync(new URL('../../assets/docs.js', import.meta.url), 'utf8'), globals);
    });
    expect(options.spec).toEqual({ example: '9007199254740993', servers: [{ url: 'https://store.test/base/v1' }] });
    const fn = { getSampleSchema: () => '{"id": 9007199254740992}' };
    options.plugins[0]().afterLoad({ fn });
    expect(fn.getSampleSchema()).toBe('{"id": 9007199254740993}');
    const createElement = (...args: readonly unknown[]) => args;
    const body = options.plugins[1]().wrapComponents.responseBody('Original', { React: { createElement } });
    const props = (content: unknown) => ({ content, getComponent: (name: string) => name });
    expect(body(props('[{"id":9223372036854775807}]')).at(-1)).toBe('[\n  {\n    "id": 9223372036854775807\n  }\n]');
    expect(body(props('plain text'))[0]).toBe('Original');
  });
});
