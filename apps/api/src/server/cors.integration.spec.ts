import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { RawConnection } from '../testing/fuzz/raw-connection.js';
import { startTestApp, type TestApp } from '../testing/test-app.js';

const ORIGIN = 'https://app.example.com';

describe('CORS', () => {
  let service: TestApp;
  let key: string;

  beforeAll(async () => {
    service = await startTestApp({ env: { CORS_ORIGINS: `${ORIGIN},https://admin.example.com` } });
    key = await service.createKey('pets:read');
  });

  afterAll(() => service.close());

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
    expect(headers.get('access-control-allow-methods')).toBe('GET, HEAD, POST');
    expect(headers.get('access-control-allow-headers')).toBe(preflight['Access-Control-Request-Headers']);
    expect(headers.get('access-control-allow-credentials')).toBeNull();
    expect(headers.get('x-request-id')).not.toBeNull();
  });

  it('exposes all response headers to a configured origin, also on errors', async () => {
    for (const [path, authorization] of [
      ['/v1/pets', `Bearer ${key}`],
      ['/v1/pets', 'none'],
      ['/v1/nothing', 'none'],
    ] as const) {
      const { headers } = await send('GET', path, { Origin: ORIGIN, Authorization: authorization });
      expect([path, headers.get('access-control-allow-origin')]).toEqual([path, ORIGIN]);
      expect(headers.get('vary')).toMatch(/Origin/);
      for (const name of ['Link', 'Location', 'ETag', 'Idempotent-Replayed', 'RateLimit', 'Retry-After', 'Sunset', 'X-Request-Id']) {
        expect(headers.get('access-control-expose-headers')).toMatch(new RegExp(`\\b${name}\\b`));
      }
    }
  });

  it.each([
    ['a long target', 414, `GET /${'x'.repeat(4_096)} HTTP/1.1\r\nHost: x\r\n`, ''],
    ['a target and headers that are too long', 414, `GET /${'x'.repeat(9_000)} HTTP/1.1\r\nHost: x\r\n`, ''],
    ['many headers', 431, 'GET /v1/pets HTTP/1.1\r\nHost: x\r\n', 'X: y\r\n'.repeat(70)],
    ['large headers', 431, 'GET /v1/pets HTTP/1.1\r\nHost: x\r\n', `X: ${'y'.repeat(9_000)}\r\n`],
    ['no Host', 400, 'GET /v1/pets HTTP/1.1\r\n', ''],
    ['a malformed header', 400, 'GET /v1/pets HTTP/1.1\r\nHost: x\r\n', 'X y\r\n'],
    ['an expectation', 417, 'GET /v1/pets HTTP/1.1\r\nHost: x\r\nExpect: nonsense\r\n', ''],
    ['too many pipelined requests', 503, 'GET /v1/pets HTTP/1.1\r\nHost: x\r\n', ''],
  ])('lets a configured origin read the error for %s', async (what, status, beginning, end) => {
    const connection = await RawConnection.open(Number(new URL(service.url).port));
    const count = status === 503 ? 65 : 1;
    connection.write(Buffer.from(`${beginning}Origin: ${ORIGIN}\r\n${end}\r\n`.repeat(count)));
    let response = await connection.read({ isHead: false });
    for (let i = 1; i < count; i++) response = await connection.read({ isHead: false });
    connection.reset();
    expect([what, response?.status, response?.headers['access-control-allow-origin']]).toEqual([what, status, ORIGIN]);
    expect(response?.headers['access-control-expose-headers']).toMatch(/\bLink\b.*\bRetry-After\b/);
    expect(response?.headers['link']).toMatch(/^<\/docs\/errors#[a-z_]+>; rel="help"$/);
    expect(response?.headers['vary']).toBe('Origin');
  });

  it('sends no CORS headers to other origins', async () => {
    for (const origin of ['https://evil.example', `${ORIGIN}.evil.example`, 'null']) {
      expect(
        (await send('GET', '/v1/pets', { Origin: origin, Authorization: `Bearer ${key}` })).headers.get('access-control-allow-origin'),
      ).toBeNull();
      expect((await send('OPTIONS', '/v1/pets', { Origin: origin, ...preflight })).headers.get('access-control-allow-origin')).toBeNull();
    }
  });

  it('does not change the status of unknown paths and methods, or of OPTIONS', async () => {
    expect((await send('GET', '/v1/nothing', {})).status).toBe(404);
    const { status, headers } = await send('OPTIONS', '/v1/pets', {});
    expect([status, headers.get('allow')]).toEqual([204, 'GET, HEAD, POST, OPTIONS']);
    expect((await send('PUT', '/v1/pets', {})).status).toBe(405);
  });
});
