import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { startTestApp, type TestApp } from '../testing/test-app.js';

describe('ETag and If-None-Match', () => {
  let service: TestApp;
  let keys: [string, string];

  beforeAll(async () => {
    service = await startTestApp();
    keys = [await service.createKey('pets:read', 'pets:write'), await service.createKey('pets:read')];
    for (let i = 0; i < 3; i++) await post();
  });

  afterAll(() => service.close());

  async function post(): Promise<void> {
    const response = await fetch(`${service.url}/v1/pets`, {
      method: 'POST',
      headers: { Authorization: `Bearer ${keys[0]}`, 'Content-Type': 'application/json' },
      body: '{"name":"Rex","categoryId":1}',
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

  it.each(['/openapi.json', '/docs', '/docs/errors', '/docs/assets/docs.css', '/docs/assets/swagger-ui-bundle.js'])(
    'lead to 304 if the public %s is unchanged',
    async (path) => {
      const { status, headers } = await get(path);
      expect([status, headers.get('etag'), headers.get('cache-control')]).toEqual([200, expect.any(String), 'private, no-cache']);
      expect(await get(path, { known: headers.get('etag') ?? '' })).toMatchObject({ status: 304, text: '' });
    },
  );

  it.each([
    ['/v1/pets?limit=2', {}],
    ['/v1/pets/1', {}],
    ['/v1/pets?limit=2', { known: '*' }],
    ['/v1/pets/1', { known: '*' }],
    ['/docs', { known: '*' }],
    ['/v1/pets?limit=0', {}],
    ['/v1/pets/none', {}],
    ['/v1/pets', { key: 'wrong' }],
    ['/missing', {}],
    ['/openapi.json', {}],
    ['/docs', {}],
    ['/docs/assets/docs.js', {}],
    ['/docs/assets/missing.js', {}],
    ['/health/live', {}],
    ['/health/ready', {}],
  ])('HEAD %s returns the headers of GET, %j', async (path, options) => {
    // fetch closes the connection after a HEAD request.
    const others = ['connection', 'keep-alive', 'date', 'ratelimit', 'x-request-id'];
    const headersOf = async (method: string) => {
      const { status, headers } = await get(path, { ...options, method });
      return [status, ...[...headers].filter(([name]) => !others.includes(name))];
    };
    expect(await headersOf('HEAD')).toEqual(await headersOf('GET'));
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
  });
});
