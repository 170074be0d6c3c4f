import { describe, expect, it } from '@jest/globals';
import { expectJson, type HttpResponse } from '../support/http-response.js';
import { useApi } from '../support/use-api.js';

const api = useApi();
const WITHOUT_KEY = { authorization: null };

interface Schema {
  readonly $ref?: string;
  readonly type?: string;
  readonly format?: string;
  readonly required?: readonly string[];
  readonly enum?: readonly string[];
  readonly properties?: Readonly<Record<string, Schema>>;
}

interface Parameter {
  readonly name: string;
  readonly in: string;
  readonly required?: boolean;
  readonly schema: Schema & { readonly minimum?: number; readonly maximum?: number; readonly default?: unknown };
}

interface Operation {
  readonly operationId: string;
  readonly deprecated?: boolean;
  readonly parameters?: readonly Parameter[];
  readonly security?: readonly Record<string, unknown>[];
  readonly responses: Readonly<Record<string, unknown>>;
}

interface OpenApi {
  readonly openapi: string;
  readonly info: { readonly version: string };
  readonly servers: readonly { readonly url: string }[];
  readonly security?: readonly Record<string, unknown>[];
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components: {
    readonly schemas: Readonly<Record<string, Schema>>;
    readonly securitySchemes: Readonly<Record<string, { readonly type: string; readonly scheme?: string }>>;
  };
}

async function openApi(): Promise<OpenApi> {
  return JSON.parse((await api.get('/openapi.json', WITHOUT_KEY)).text) as OpenApi;
}

function operation(document: OpenApi, operationId: string): { path: string; method: string; operation: Operation } {
  const found = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).flatMap(([method, candidate]) =>
      candidate.operationId === operationId ? [{ path, method, operation: candidate }] : [],
    ),
  );
  expect(found).toHaveLength(1);
  return found[0] as (typeof found)[number];
}

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
  it('is an OpenAPI 3.1 document of API version 1.0.0', async () => {
    const response = await api.get('/openapi.json', WITHOUT_KEY);
    expectJson(response);
    const document = JSON.parse(response.text) as OpenApi;
    expect(document.openapi).toMatch(/^3\.1\.[0-9]+$/);
    expect(document.info.version).toBe('1.0.0');
  });

  it('lists each server once', async () => {
    const { servers } = await openApi();
    expect(servers.length).toBeGreaterThan(0);
    expect(new Set(servers.map(({ url }) => url)).size).toBe(servers.length);
  });

  it.each([
    ['listPets', 'get', '/pets', ['200', '400', '401']],
    ['createPet', 'post', '/pets', ['201', '400', '401', '403', '413', '415']],
    ['getPet', 'get', '/pets/{petId}', ['200', '401', '404']],
  ])('describes %s', async (operationId, method, path, statuses) => {
    const document = await openApi();
    const found = operation(document, operationId);
    expect(found.method).toBe(method);
    for (const { url } of document.servers)
      expect(url.replace(/\/$/, '') + found.path).toMatch(new RegExp(`/v1${path.replace(/[{}]/g, '\\$&')}$`));
    expect(Object.keys(found.operation.responses)).toEqual(expect.arrayContaining(statuses));
    expect(found.operation.deprecated ?? false).toBe(operationId === 'getPet');
  });

  it('requires a bearer key for every operation', async () => {
    const document = await openApi();
    for (const operationId of ['listPets', 'createPet', 'getPet']) {
      const [requirement = {}] = operation(document, operationId).operation.security ?? document.security ?? [];
      const [scheme = ''] = Object.keys(requirement);
      expect(document.components.securitySchemes[scheme]).toMatchObject({ type: 'http', scheme: 'bearer' });
    }
  });

  it('describes limit', async () => {
    const { parameters } = operation(await openApi(), 'listPets').operation;
    expect(parameters).toContainEqual(
      expect.objectContaining({
        name: 'limit',
        in: 'query',
        schema: expect.objectContaining({ type: 'integer', minimum: 1, maximum: 100, default: 20 }),
      }),
    );
  });

  it('describes id', async () => {
    const { parameters } = operation(await openApi(), 'listPets').operation;
    expect(parameters).toContainEqual(expect.objectContaining({ name: 'id', in: 'query', schema: { type: 'integer', format: 'int64' } }));
  });

  it('references shared error responses', async () => {
    const document = await openApi();
    const errors = ['listPets', 'createPet', 'getPet'].flatMap((operationId) =>
      Object.entries(operation(document, operationId).operation.responses).filter(([status]) => Number(status) >= 400),
    );
    expect(errors.length).toBeGreaterThan(30);
    for (const [, response] of errors) expect(response).toEqual({ $ref: expect.stringMatching(/^#\/components\/responses\/[A-Za-z]+$/) });
  });

  it('describes the resources', async () => {
    const { components } = await openApi();
    expect(components.schemas['NewPet']?.required?.toSorted()).toEqual(['categoryId', 'name']);
    expect(components.schemas['Pet']?.required).toEqual(expect.arrayContaining(['categoryId', 'id', 'name']));
    expect(components.schemas['Pet']?.properties?.['id']).toMatchObject({ type: 'integer', format: 'int64' });
    // With a default, some generators make the member required.
    expect(components.schemas['NewPet']?.properties?.['status']).not.toHaveProperty('default');
    expect(components.schemas['Error']?.required?.toSorted()).toEqual(['code', 'message', 'status']);
    expect(components.schemas['PetStatus']?.enum).toEqual(['available', 'pending', 'sold']);
  });

  it('names the error codes of the operations', async () => {
    const { text } = await api.get('/openapi.json', WITHOUT_KEY);
    const published = text.match(/\b[a-z]+(?:_[a-z]+)+\b/g);
    expect(published).toEqual(
      expect.arrayContaining([
        'invalid_request',
        'malformed_json',
        'missing_api_key',
        'invalid_api_key',
        'insufficient_scope',
        'pet_not_found',
        'operation_removed',
        'payload_too_large',
        'unsupported_media_type',
        'service_unavailable',
      ]),
    );
  });

  it('has no broken references', async () => {
    const document = await openApi();
    const references = JSON.stringify(document).matchAll(/"\$ref":"([^"]+)"/g);
    for (const [, reference = ''] of references) {
      expect(reference).toMatch(/^#\//);
      const target = reference
        .slice(2)
        .split('/')
        .reduce<unknown>((node, name) => (node as Record<string, unknown> | undefined)?.[name], document);
      expect({ reference, target }).toEqual({ reference, target: expect.anything() });
    }
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
