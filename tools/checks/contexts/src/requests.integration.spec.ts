import { useTestApp } from '@animal-store/api/testing/test-app';
import { describe, expect, it } from '@jest/globals';
import { operationsOf } from './operations.js';

const service = useTestApp(['nothing:much'], { env: { RATE_LIMIT: '0' } });

/** All public routes. New ones must be added here manually. */
const PUBLIC_ROUTES = ['/health/live', '/health/ready', '/openapi.json', '/', '/docs', '/docs/:file'];

describe('every route', () => {
  it('requires a key unless it is public', async () => {
    const table = service.routes;
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
    for (const [method, path] of service.routes.filter(([, path]) => !PUBLIC_ROUTES.includes(path))) {
      const response = await fetch(service.url + path.replace(/:\w+/g, '1'), {
        method,
        headers: { Authorization: `Bearer ${service.key}` },
      });
      await response.text();
      expect([method, path, response.status]).toEqual([method, path, 403]);
      expect(response.headers.get('www-authenticate')).toMatch(
        /^Bearer realm="animal-store", error="insufficient_scope", scope="[a-z-]+:(read|write)"$/,
      );
    }
  });
});

it('every operation requires the scopes of the OpenAPI document, and no other one', async () => {
  const operations = operationsOf(await (await fetch(`${service.url}/openapi.json`)).text());
  for (const { id, method, path, scopes } of operations) {
    const others = new Set(operations.flatMap((operation) => operation.scopes)).difference(new Set(scopes));
    const request = async (...chosen: string[]) => {
      const headers = { Authorization: `Bearer ${await service.createKey(...chosen)}` };
      const response = await fetch(`${service.url}/v1${path.replace(/\{[^}]+\}/g, '1')}`, { method, headers });
      await response.text();
      return response;
    };
    const forbidden = await request('nothing:much', ...others);
    expect([id, forbidden.status]).toEqual([id, 403]);
    expect(forbidden.headers.get('www-authenticate')).toContain(`scope="${scopes.join(' ')}"`);
    expect([401, 403]).not.toContain((await request(...scopes)).status);
  }
});
