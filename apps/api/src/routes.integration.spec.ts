import { TcpProxy } from '@animal-store/local-postgres/testing';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { INestApplication } from '@nestjs/common';
import { RouteTable } from './server/route-table.js';
import { startTestApp, type TestApp } from './testing/test-app.js';

/** All public routes. New ones must be added here manually. */
const PUBLIC_ROUTES = ['/health/live', '/health/ready', '/openapi.json', '/docs', '/docs/:page', '/docs/assets/:file'];

describe('every route', () => {
  let service: TestApp;

  beforeAll(async () => {
    service = await startTestApp();
  });

  afterAll(() => service.close());

  const routes = (app: INestApplication) => app.get(RouteTable).entries();

  it('requires a key unless it is public', async () => {
    const table = routes(service.app);
    expect(table.map(([, path]) => path)).toEqual(expect.arrayContaining(['/v1/pets', '/v1/pets/:petId', ...PUBLIC_ROUTES]));
    for (const [method, path] of table) {
      const response = await fetch(service.url + path.replace(/:\w+/g, '1'), { method });
      const body = await response.text();
      if (PUBLIC_ROUTES.includes(path)) {
        expect([method, path, response.status]).not.toEqual([method, path, 401]);
      } else {
        expect([method, path, response.status]).toEqual([method, path, 401]);
        expect(response.headers.get('www-authenticate')).toBe('Bearer realm="animal-store"');
        if (method !== 'HEAD') expect(JSON.parse(body)).toMatchObject({ code: 'missing_api_key', status: 401 });
      }
    }
  });

  it('requires a scope unless it is public', async () => {
    const key = await service.createKey('nothing:much');
    for (const [method, path] of routes(service.app).filter(([, path]) => !PUBLIC_ROUTES.includes(path))) {
      const response = await fetch(service.url + path.replace(/:\w+/g, '1'), { method, headers: { Authorization: `Bearer ${key}` } });
      await response.text();
      expect([method, path, response.status]).toEqual([method, path, 403]);
      expect(response.headers.get('www-authenticate')).toMatch(
        /^Bearer realm="animal-store", error="insufficient_scope", scope="[a-z-]+:(read|write)"$/,
      );
    }
  });
});

describe('without its database', () => {
  it('the service responds with 503, never 401, and remains live', async () => {
    let proxy: TcpProxy | undefined;
    const service = await startTestApp({
      databaseUrl: async (url) => {
        proxy = await TcpProxy.start(url);
        return proxy.url;
      },
    });
    const key = await service.createKey('pets:read', 'pets:write');
    const get = (path: string) => fetch(service.url + path, { headers: { Authorization: `Bearer ${key}` } });
    await proxy?.cut();
    for (const path of ['/v1/pets', '/v1/pets/1', '/health/ready']) {
      const response = await get(path);
      expect([path, response.status, await response.json()]).toEqual([
        path,
        503,
        { code: 'service_unavailable', message: expect.any(String), status: 503 },
      ]);
      expect(response.headers.get('retry-after')).toMatch(/^[1-9][0-9]*$/);
    }
    const live = await get('/health/live');
    expect([live.status, await live.json()]).toEqual([200, { status: 'ok' }]);
    await proxy?.restore();
    const back = await get('/v1/pets');
    expect([back.status, await back.json()]).toEqual([200, []]);
    await service.close();
    await proxy?.cut();
  });
});
