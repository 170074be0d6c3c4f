import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { contexts } from '@animal-store/api/contexts';
import { defaultErrorBody } from '@animal-store/api/errors';
import { createOpenApiText } from '@animal-store/api/openapi';
import { useTestApp } from '@animal-store/api/testing/test-app';
import { PRECONDITION_FAILED, PRECONDITION_REQUIRED } from '@animal-store/kernel';
import { query } from '@animal-store/local-postgres/testing';
import { beforeAll, describe, expect, it } from '@jest/globals';
import type { OpenAPIObject } from '@nestjs/swagger';
import { lintFromString, loadConfig } from '@redocly/openapi-core';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { operationsOf } from './operations.js';

const service = useTestApp(['nothing:much'], { env: { RATE_LIMIT: '0' } });

const WORKSPACE = join(import.meta.dirname, '../../../..');
const ADDRESSES = { PUBLIC_BASE_URL: 'https://store.test/animals', STAGING_BASE_URL: 'https://staging.store.test' };
const texts = new Map<string, Promise<string>>();

/** Returns the text of the document with settings. Creates it once, because that assembles the app. */
function textWith(env: Record<string, string> = {}): Promise<string> {
  const key = JSON.stringify(env);
  const text = texts.get(key) ?? createOpenApiText(env);
  texts.set(key, text);
  return text;
}

const documentWith = async (env?: Record<string, string>) => JSON.parse(await textWith(env)) as OpenAPIObject;

describe('every route', () => {
  const request = async (method: string, path: string, headers = {}) => {
    const response = await fetch(service.url + path.replace(/:\w+/g, '1'), { method, headers });
    return { response, body: await response.text() };
  };

  /** Method and path of each route of a version that is not documented as public, as those with `@Public` are. */
  async function protectedRoutes() {
    const operations = operationsOf(await textWith());
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
  const operations = operationsOf(await textWith());
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

describe('docs/openapi.json', () => {
  it('is up to date: `npx nx openapi api` writes it', async () => {
    const kept = readFileSync(join(WORKSPACE, 'docs/openapi.json'), 'utf8');
    expect(kept).toBe(await textWith());
  });

  it('shows exact ids above 2^53', async () => {
    const text = await textWith();
    expect(text.match(/"example": 9007199254740993\b/g)?.length).toBeGreaterThanOrEqual(3);
    expect(text).toContain('"example": "/v1/pets/9007199254740993"');
  });
});

describe('the servers', () => {
  it.each<[string, Record<string, string>, object[]]>([
    ['without addresses', {}, [{ url: '/v1', description: 'The server that serves this document' }]],
    [
      'with addresses',
      ADDRESSES,
      [
        { url: 'https://store.test/animals/v1', description: 'Production' },
        { url: 'https://staging.store.test/v1', description: 'Staging' },
      ],
    ],
  ])('%s', async (_what, env, servers) => {
    expect((await documentWith(env)).servers).toEqual(servers);
  });
});

it('error responses have a link to the explanation of their code', async () => {
  const { components } = await documentWith(ADDRESSES);
  expect(components?.responses?.['PetNotFound']).toHaveProperty('headers.Link.$ref', '#/components/headers/Link');
  expect(components?.headers?.['Link']).toHaveProperty(
    'example',
    '<https://docs.example.com/guides/errors.html#invalid_request>; rel="help"',
  );
});

/** Files that define errors: of the API, of the libraries that contexts share, and of each context. */
const SOURCES = ['apps/api/src/errors/*-errors.ts', 'libs/{kernel,http-kit}/src/index.ts', 'libs/*/domain/src/*-errors.ts'];

const PRECONDITIONS = [PRECONDITION_FAILED, PRECONDITION_REQUIRED].map(defaultErrorBody);
/** Errors that only the command-line tool reports. */
const NOT_OVER_HTTP = ['api_key_not_found', 'api_key_not_active', 'client_not_found'];

type Definition = Parameters<typeof defaultErrorBody>[0];
/** Sorted entries `code status`. */
type Codes = readonly string[];

const isDefinition = (value: unknown): value is Definition =>
  typeof value === 'object' && value !== null && 'code' in value && 'message' in value && ('kind' in value || 'status' in value);

/** Returns the exported definitions of a module, including members of exported objects. */
function definitionsIn(module: object): Definition[] {
  return Object.values(module).flatMap((exported: unknown) =>
    isDefinition(exported)
      ? [exported]
      : typeof exported === 'object' && exported !== null
        ? Object.values(exported).filter(isDefinition)
        : [],
  );
}

const sorted = (errors: readonly { readonly code: string; readonly status: number }[]): Codes =>
  [...new Set(errors.map(({ code, status }) => `${code} ${String(status)}`))].sort();

async function catalogue(): Promise<Codes> {
  const files = globSync(SOURCES, { cwd: WORKSPACE }).filter((file) => !file.endsWith('.spec.ts'));
  const modules = await Promise.all(files.map((file) => import(join(WORKSPACE, file)) as Promise<object>));
  return sorted(modules.flatMap(definitionsIn).map(defaultErrorBody)).filter(
    (entry) => !NOT_OVER_HTTP.some((code) => entry.startsWith(`${code} `)),
  );
}

describe('the error codes', () => {
  let document: OpenAPIObject;
  let expected: Codes;

  beforeAll(async () => {
    document = await documentWith();
    expected = await catalogue();
  });

  it('in the OpenAPI document match the code, except for those that only operations with @IfMatch document', () => {
    const inOperations = [...JSON.stringify(document).matchAll(/"code":"([^"]+)","message":"(?:[^"\\]|\\.)*","status":([0-9]+)/g)];
    const outsideOperations = [...(document.info.description ?? '').matchAll(/([0-9]{3}) `([a-z_]+)`/g)];
    const published = [
      ...inOperations.map(([, code = '', status]) => ({ code, status: Number(status) })),
      ...outsideOperations.map(([, status, code = '']) => ({ code, status: Number(status) })),
    ];
    expect(sorted([...published, ...PRECONDITIONS])).toEqual(expected);
  });

  it('in the schema Error match the code', () => {
    const error = document.components?.schemas?.['Error'] as { properties: { code: { examples: string[] } } };
    const examples = [...error.properties.code.examples, ...PRECONDITIONS.map(({ code }) => code)];
    expect([...new Set(examples)].sort()).toEqual([...new Set(expected.map((entry) => entry.split(' ')[0]))]);
  });

  it('in the guide match the code, each with an anchor, its status, and whether to retry', () => {
    const guide = readFileSync(join(WORKSPACE, 'docs/guides/errors.md'), 'utf8');
    const sections = [...guide.matchAll(/^### `([a-z_]+)`\n\nStatus ([0-9]{3})\. Retry: (?:no|yes)\b[^.]*\.\n\n\S/gm)];
    const listed = sections.map(([, code = '', status]) => ({ code, status: Number(status) }));
    expect(sorted(listed)).toEqual(expected);
    expect(guide.match(/^### /gm)).toHaveLength(expected.length);
  });
});

it('the guide to authentication lists the operations of each scope, which keys can have', async () => {
  const guide = readFileSync(join(WORKSPACE, 'docs/guides/authentication.md'), 'utf8');
  const listed = [...guide.matchAll(/^- `([a-z-]+:[a-z-]+)`: (.+)$/gm)].flatMap(([, scope = '', names = '']) =>
    [...names.matchAll(/`(\w+)`/g)].map(([, name = '']) => `${scope} ${name}`),
  );
  const operations = operationsOf(await textWith());
  expect(listed.sort()).toEqual(operations.flatMap(({ id, scopes }) => scopes.map((scope) => `${scope} ${id}`)).sort());
  expect(contexts.flatMap(({ scopes = [] }) => scopes)).toEqual(expect.arrayContaining(operations.flatMap(({ scopes }) => scopes)));
});

const CONFIG = join(WORKSPACE, 'tools/checks/contexts/redocly.yaml');

/** Returns each problem as `<rule> <pointer>: <message>`. */
async function lint(text: string): Promise<string[]> {
  const config = await loadConfig({ configPath: CONFIG });
  const problems = await lintFromString({ source: text, absoluteRef: 'openapi.json', config });
  return problems.map(({ ruleId, location, message }) => `${ruleId} ${location[0]?.pointer ?? ''}: ${message}`);
}

/** Returns the pointers of invalid defaults and header examples, which Redocly does not validate. */
function invalidValues(text: string): string[] {
  const ajv = new Ajv2020({ strict: false, validateFormats: false });
  const document = JSON.parse(text) as object;
  ajv.addSchema(document, 'openapi');
  const isValid = (pointer: string, value: unknown) => ajv.validate({ $ref: `openapi#${encodeURI(pointer)}` }, value);
  const search = (node: unknown, pointer: string): string[] => {
    if (typeof node !== 'object' || node === null) return [];
    const invalid = [
      ...('default' in node && !isValid(pointer, node.default) ? [`${pointer}/default`] : []),
      ...('example' in node && 'schema' in node && !isValid(`${pointer}/schema`, node.example) ? [`${pointer}/example`] : []),
    ];
    const children = Object.entries(node).filter(([key]) => key !== 'default' && key !== 'example' && key !== 'examples');
    const escaped = (key: string) => key.replaceAll('~', '~0').replaceAll('/', '~1');
    return [...invalid, ...children.flatMap(([key, child]) => search(child, `${pointer}/${escaped(key)}`))];
  };
  return search(document, '');
}

/** Returns the names of the schemas with a member that has a default. Some client generators make such members required. */
function schemasWithDefaults(text: string): string[] {
  const { components } = JSON.parse(text) as { components: { schemas: Record<string, object> } };
  return Object.entries(components.schemas).flatMap(([name, schema]) => (JSON.stringify(schema).includes('"default":') ? [name] : []));
}

describe('the OpenAPI document', () => {
  let text: string;
  beforeAll(async () => {
    text = await textWith();
  });

  it('follows the rules of redocly.yaml', async () => {
    expect(await lint(text)).toEqual([]);
  });

  it('has valid defaults and header examples', () => {
    expect(invalidValues(text)).toEqual([]);
  });

  it('has no members with a default', () => {
    expect(schemasWithDefaults(text)).toEqual([]);
  });
});
