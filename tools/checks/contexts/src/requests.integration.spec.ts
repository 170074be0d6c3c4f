import { useTestApp } from '@animal-store/api/testing/test-app';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { ApiDocument } from './openapi/api-document.js';
import { expectHealthy, fuzz } from './fuzz/fuzz.js';
import { type FuzzedService, startInProcess } from './fuzz/fuzzed-service.js';

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
  const api = await ApiDocument.of(service.url);
  for (const { id, method, path, scopes } of api.operations) {
    const others = api.scopes().filter((scope) => !scopes.includes(scope));
    const request = async (...chosen: string[]) => {
      const headers = { Authorization: `Bearer ${await service.createKey(...chosen)}` };
      const response = await fetch(service.url + path.replace(/\{[^}]+\}/g, '1'), { method, headers });
      await response.text();
      return response;
    };
    const forbidden = await request('nothing:much', ...others);
    expect([id, forbidden.status]).toEqual([id, 403]);
    expect(forbidden.headers.get('www-authenticate')).toContain(`scope="${scopes.join(' ')}"`);
    expect([401, 403]).not.toContain((await request(...scopes)).status);
  }
});

describe('hostile requests', () => {
  // A fixed seed; `npm run verify -- fuzz` uses random ones.
  const SEED = 1;
  const REQUESTS = 500;

  let service: FuzzedService;
  beforeAll(async () => {
    service = await startInProcess();
  });
  afterAll(() => service.stop());

  it('get the documented responses, and the service remains ready without errors', async () => {
    expect(await fuzz(service, { requests: REQUESTS, seed: SEED })).toBeGreaterThanOrEqual(REQUESTS);
    await expectHealthy(service);
  });
});
