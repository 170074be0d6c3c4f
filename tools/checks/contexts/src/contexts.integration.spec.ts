import { useTestApp } from '@animal-store/api/testing/test-app';
import { query } from '@animal-store/local-postgres/testing';
import { describe, expect, it } from '@jest/globals';
import { operationsOf } from './operations.js';

const service = useTestApp(['nothing:much'], { env: { RATE_LIMIT: '0' } });

describe('every route', () => {
  const request = async (method: string, path: string, headers = {}) => {
    const response = await fetch(service.url + path.replace(/:\w+/g, '1'), { method, headers });
    return { response, body: await response.text() };
  };

  /** Method and path of each route of a version that is not documented as public, as those with `@Public` are. */
  async function protectedRoutes() {
    const operations = operationsOf((await request('GET', '/openapi.json')).body);
    const open = operations.flatMap(({ method, path, isPublic }) => (isPublic ? `${method} /v1${path}` : []));
    const documented = (method: string, path: string) => `${method.replace('HEAD', 'GET')} ${path.replace(/:(\w+)/g, '{$1}')}`;
    return service.routes.filter(([method, path]) => /^\/v\d/.test(path) && !open.includes(documented(method, path)));
  }

  it('of a version requires a key unless it is public', async () => {
    const routes = await protectedRoutes();
    expect(routes.map(([, path]) => path)).toEqual(expect.arrayContaining(['/v1/pets', '/v1/pets/:petId']));
    for (const [method, path] of routes) {
      const { response, body } = await request(method, path);
      expect([method, path, response.status]).toEqual([method, path, 401]);
      expect(response.headers.get('www-authenticate')).toBe('Bearer realm="animal-store"');
      if (method !== 'HEAD') expect(JSON.parse(body)).toMatchObject({ code: 'missing_api_key', status: 401 });
    }
  });

  it('of a version requires a scope unless it is public', async () => {
    for (const [method, path] of await protectedRoutes()) {
      const { response } = await request(method, path, { Authorization: `Bearer ${service.key}` });
      expect([method, path, response.status]).toEqual([method, path, 403]);
      expect(response.headers.get('www-authenticate')).toMatch(
        /^Bearer realm="animal-store", error="insufficient_scope", scope="[a-z-]+:[a-z-]+(?: [a-z-]+:[a-z-]+)*"$/,
      );
    }
  });

  it('outside of the versions is public', async () => {
    const routes = service.routes.filter(([, path]) => !/^\/v\d/.test(path));
    expect(routes.map(([, path]) => path)).toEqual(expect.arrayContaining(['/health/live', '/openapi.json']));
    for (const [method, path] of routes) expect([path, (await request(method, path)).response.status]).not.toEqual([path, 401]);
  });
});

it('every operation requires the scopes of the OpenAPI document, and no other one', async () => {
  const operations = operationsOf(await (await fetch(`${service.url}/openapi.json`)).text());
  for (const { id, method, path, scopes } of operations.filter((operation) => operation.scopes.length > 0)) {
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

describe('text in indexes', () => {
  // With another collation, an update of the operating system changes the order, and PostgreSQL then misses rows of the index.
  it('indexes on text have the collation "C"', async () => {
    expect(await indexesInLocale(service.databaseUrl)).toEqual([]);
  });

  it('an index whose order depends on the locale is found', async () => {
    await query(
      service.databaseUrl,
      'CREATE SCHEMA shop',
      'CREATE TABLE shop.labels (name text PRIMARY KEY, code text COLLATE "C" UNIQUE, note text)',
      'CREATE INDEX notes ON shop.labels (code, note)',
      'CREATE INDEX lower_names ON shop.labels (lower(code), lower(name))',
      'CREATE INDEX exact_notes ON shop.labels (note COLLATE "C")',
    );
    expect(await indexesInLocale(service.databaseUrl)).toEqual([
      'shop.labels_pkey (name)',
      'shop.lower_names (lower(name))',
      'shop.notes (note)',
    ]);
  });

  /** Returns the columns of indexes whose order depends on the locale, such as `pets_name_idx (name)`. */
  async function indexesInLocale(url: string): Promise<string[]> {
    const rows = await query<{ found: string }>(
      url,
      `SELECT format('%I.%I (%s)', nspname, relname, pg_get_indexdef(indexrelid, ordinal::int4, true)) AS found
     FROM pg_index JOIN pg_class ON pg_class.oid = indexrelid JOIN pg_namespace ON pg_namespace.oid = relnamespace
     CROSS JOIN LATERAL unnest(indcollation) WITH ORDINALITY AS indexed (collation_oid, ordinal)
     JOIN pg_collation ON pg_collation.oid = collation_oid
     WHERE nspname NOT IN ('pg_catalog', 'pg_toast') AND collname <> 'C' ORDER BY 1`,
    );
    return rows.map(({ found }) => found.replaceAll('"', ''));
  }
});
