import { readFileSync } from 'node:fs';
import { describe, expect, it } from '@jest/globals';
import { expectJson, type HttpResponse } from '../support/http-response.js';
import { useApi } from '../support/use-api.js';

const api = useApi();
const WITHOUT_KEY = { authorization: null };
const DOCUMENT = new URL('../../../../docs/openapi.json', import.meta.url);

describe.each(['/health/live', '/health/ready', '/openapi.json'])('%s', (path) => {
  it.each([
    ['without a key', null],
    ['with a wrong key', 'Bearer wrong'],
  ])('responds with 200 %s', async (_how, authorization) => {
    expect((await api.get(path, { authorization })).status).toBe(200);
    expect(await api.send('HEAD', path, { authorization })).toMatchObject({ status: 200, text: '' });
  });
});

describe('/openapi.json', () => {
  interface OpenApi {
    readonly servers: readonly { readonly url: string }[];
  }

  /** Drops what depends on the addresses of the deployment. */
  const withoutAddresses = (name: string, value: unknown) =>
    ['servers', 'example', 'examples', 'description'].includes(name) ? undefined : value;

  it('describes the same operations as docs/openapi.json', async () => {
    const response = await api.get('/openapi.json', WITHOUT_KEY);
    expectJson(response);
    expect(JSON.parse(response.text, withoutAddresses)).toEqual(JSON.parse(readFileSync(DOCUMENT, 'utf8'), withoutAddresses));
  });

  it('lists each server once, with the path of the version', async () => {
    const urls = (JSON.parse((await api.get('/openapi.json', WITHOUT_KEY)).text) as OpenApi).servers.map(({ url }) => url);
    expect(urls.length).toBeGreaterThan(0);
    expect(new Set(urls).size).toBe(urls.length);
    for (const url of urls) expect(url).toMatch(/\/v1$/);
  });
});

describe.each(['/docs', '/docs/errors', '/docs/reference'])('%s', (path) => {
  it('is a page that loads all of its resources from the service, without a key', async () => {
    const { page, url } = await fetchPage(path);
    expect(page.status).toBe(200);
    expect(page.headers['content-type']).toMatch(/^text\/html/);
    const parts = [...page.text.matchAll(/<(?:script|link|img)\b[^>]*\b(?:src|href)="([^"]+)"/g)].map(([, part = '']) => part);
    expect(parts.length).toBeGreaterThan(0);
    for (const part of parts.filter((reference) => !reference.startsWith('data:'))) {
      const { origin, pathname, search } = new URL(part, url);
      expect(origin).toBe(api.url.origin);
      const response = await api.get(relativeToBase(pathname + search), WITHOUT_KEY);
      expect({ part, status: response.status }).toEqual({ part, status: 200 });
      expectProtected(response);
    }
  });

  it('does not leak referrers, and allows inline styles only for Swagger UI', async () => {
    const { page } = await fetchPage(path);
    const policy = expectProtected(page);
    expect(policy.includes("'unsafe-inline'")).toBe(path === '/docs/reference');
    expect(policy.match(/connect-src [^;]*/)?.[0]).toBe(path === '/docs/reference' ? "connect-src 'self'" : undefined);
  });

  /** Expects the headers that protect readers of the pages. Returns the Content-Security-Policy. */
  function expectProtected({ headers }: HttpResponse): string {
    expect(headers['referrer-policy']).toBe('no-referrer');
    const policy = headers['content-security-policy'] ?? '';
    expect(policy).toMatch(/^default-src 'none'; script-src 'self'; /);
    expect(policy).toMatch(/; base-uri 'none'; form-action 'none'; frame-ancestors 'none'$/);
    return policy;
  }

  async function fetchPage(path: string): Promise<{ page: Awaited<ReturnType<typeof api.get>>; url: URL }> {
    const url = new URL(api.path(path), api.url);
    const page = await api.get(path, WITHOUT_KEY);
    const { location } = page.headers;
    return page.status >= 300 && page.status < 400 && location !== undefined
      ? fetchPage(relativeToBase(new URL(location, url).pathname))
      : { page, url };
  }

  function relativeToBase(path: string): string {
    return path.slice(api.path('').length);
  }
});

describe('the address of a page', () => {
  it.each([
    ['/', '/docs'],
    ['/docs/', '/docs'],
    ['/docs/quickstart/', '/docs/quickstart'],
    ['/docs/Quickstart', '/docs/quickstart'],
  ])('%s is redirected to %s, without a key', async (path, page) => {
    const { status, headers } = await api.get(path, WITHOUT_KEY);
    expect([status, new URL(headers['location'] ?? '', api.url).pathname]).toEqual([302, api.path(page)]);
  });

  it.each(['/docs/missing', '/docs/Missing/', '/docs/missing/page', '/docs/../package.json', '/docs/quickstart.html', '/docs/%zz'])(
    '%s does not exist: 404 with a page that has a search',
    async (path) => {
      const { status, headers, text } = await api.get(path, WITHOUT_KEY);
      expect([status, headers['content-type'], headers['cache-control']]).toEqual([404, 'text/html; charset=utf-8', 'no-store']);
      expect(text).toContain('Page not found');
      expect(text).toContain('class="search"');
    },
  );
});

describe('the text of pages and assets', () => {
  it.each(['/docs', '/docs/errors', '/docs/assets/docs.css', '/docs/assets/swagger-ui-bundle.js'])(
    '%s is compressed as Accept-Encoding says',
    async (path) => {
      const get = (field: string, known?: string) =>
        api.get(path, { ...WITHOUT_KEY, headers: { 'accept-encoding': field, ...(known !== undefined && { 'if-none-match': known }) } });
      const tags = new Set<string>();
      for (const [field, encoding] of [
        ['gzip, br', 'br'],
        ['gzip;q=0.5, br;q=0', 'gzip'],
        ['identity', undefined],
      ] as const) {
        const { status, headers } = await get(field);
        const { etag = '', vary, 'content-encoding': used } = headers;
        expect([status, used]).toEqual([200, encoding]);
        expect(vary?.split(', ')).toContain('Accept-Encoding');
        const unchanged = await get(field, etag);
        expect(unchanged).toMatchObject({ status: 304, text: '', headers: { etag, vary } });
        expect(unchanged.headers['content-encoding']).toBeUndefined();
        tags.add(etag);
      }
      expect(tags.size).toBe(3);
    },
  );
});
