import { Clock, type IdempotencyKey, type Precondition, PRECONDITION_REQUIRED, type Principal, SystemClock } from '@animal-store/kernel';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { type ArgumentsHost, Controller, Get, Module, Patch, Post, Put, Query } from '@nestjs/common';
import { NestFactory, Reflector } from '@nestjs/core';
import { FastifyAdapter, type NestFastifyApplication } from '@nestjs/platform-fastify';
import { ApiProperty, ApiResponse, DocumentBuilder, type OpenAPIObject, SwaggerModule } from '@nestjs/swagger';
import type { FastifyContextConfig, FastifyReply } from 'fastify';
import { createdHeaders, IDEMPOTENCY_KEY_SCHEMA, RequestIdempotencyKey } from './idempotency-key.js';
import { IfMatch, Revalidated, REVALIDATION_HEADERS, SendsEntityTag } from './conditional-requests.js';
import { defineContext } from './define-context.js';
import { PageQueryOf } from './pages.js';
import {
  AUTHORIZATION,
  Deprecated,
  EXTENSIONS,
  INTERNAL_EXTENSIONS,
  INVALID_REQUEST,
  Public,
  RATE_LIMIT,
  RateLimit,
  ReceivesBytes,
  RequireScopes,
  Throws,
} from './routes.js';
import { EXAMPLE_ID } from './validation-rules.js';

const DEPRECATED = {
  deprecatedAt: new Date('2025-12-05T00:00:00Z'),
  removedAt: new Date('2030-12-05T22:00:00Z'),
  successor: '/v1/games',
};
const BROKEN = { code: 'toy_broken', kind: 'unprocessable', message: 'The toy is broken.' } as const;

class ListToysQuery extends PageQueryOf('toys') {}

const POLICY = { name: 'toys', requestsPerMinute: 10 };

let key: IdempotencyKey | undefined;

class ToyDto {
  @ApiProperty()
  id!: bigint;
}

@Controller('toys')
class ToysController {
  @Public()
  @Get()
  @Revalidated()
  @Deprecated(DEPRECATED)
  list(@Query() _query: ListToysQuery): string {
    return '[]';
  }

  @RequireScopes('toys:read', 'toys:write')
  @Post()
  @Throws(INVALID_REQUEST, BROKEN)
  @ApiResponse({ status: 201, description: 'The created toy.', headers: createdHeaders('/v1/toys/7') })
  create(@RequestIdempotencyKey() given: IdempotencyKey | undefined): void {
    key = given;
  }

  @Put()
  @SendsEntityTag()
  @RateLimit(POLICY)
  replace(): void {}

  @Patch()
  @Revalidated()
  change(@IfMatch({ required: false, type: ToyDto }) _given: Precondition): void {}

  @Put('photo')
  @ReceivesBytes({ type: ['image/png', 'image/webp'], maxBytes: 100 })
  setPhoto(): void {}

  @Patch('strictly')
  changeStrictly(@IfMatch({ required: true, type: ToyDto }) _given: Precondition): void {}
}

@Module({ controllers: [ToysController], providers: [{ provide: Clock, useClass: SystemClock }] })
class ToysModule {}

let app: NestFastifyApplication;
let document: OpenAPIObject;
let principal: Principal | undefined;
let config: FastifyContextConfig | undefined;
let thrown: unknown;

beforeAll(async () => {
  app = await NestFactory.create<NestFastifyApplication>(ToysModule, new FastifyAdapter(), { logger: false });
  app.useGlobalFilters({
    catch: (error: unknown, host: ArgumentsHost) => {
      thrown = error;
      void host.switchToHttp().getResponse<FastifyReply>().status(418).send();
    },
  });
  const fastify = app.getHttpAdapter().getInstance();
  fastify.addHook('onRequest', async (request) => {
    request.principal = principal;
    config = request.routeOptions.config;
  });
  document = SwaggerModule.createDocument(app, new DocumentBuilder().build());
  await app.init();
  await fastify.ready();
});
afterAll(() => app.close());

const metadata = (name: symbol, method: 'list' | 'create' | 'replace'): unknown =>
  new Reflector().get(name, Object.getOwnPropertyDescriptor(ToysController.prototype, method)?.value as () => unknown);

describe('the decorators of an operation', () => {
  it('set what guards read', () => {
    expect((['list', 'create', 'replace'] as const).map((method) => metadata(AUTHORIZATION, method))).toEqual([
      ...['public', ['toys:read', 'toys:write'], undefined],
    ]);
    expect([metadata(RATE_LIMIT, 'replace'), metadata(RATE_LIMIT, 'create')]).toEqual([POLICY, undefined]);
  });

  it('extend the configuration of its route, and set Cache-Control', async () => {
    const { headers } = await app.inject('/toys');
    expect(headers['cache-control']).toBe('private, no-cache');
    expect(config).toMatchObject({ revalidated: true, deprecation: DEPRECATED });
    expect((await app.inject({ method: 'POST', url: '/toys' })).headers['cache-control']).toBeUndefined();
    expect(config).not.toHaveProperty('revalidated');
    expect(config).not.toHaveProperty('deprecation');
  });

  it.each([
    ['POST', '/toys', {}],
    ['PUT', '/toys', { conditional: true }],
    ['PATCH', '/toys', { conditional: true, revalidated: true }],
    ['PATCH', '/toys/strictly', { conditional: true }],
  ] as const)('configure the ETag of %s %s: %j', async (method, url, expected) => {
    await app.inject({ method, url });
    const { conditional, revalidated } = config ?? {};
    expect({ conditional, revalidated }).toEqual(expected);
  });

  it('document revalidation, deprecation and the page', () => {
    expect(document.paths['/toys']?.get).toMatchObject({
      parameters: [
        {
          name: 'limit',
          in: 'query',
          required: false,
          description: 'Maximum number of toys returned.',
          schema: { type: 'integer' },
        },
        {
          name: 'cursor',
          in: 'query',
          required: false,
          description: 'Cursor from the `Link` header of the previous page. Valid only with the same filters.',
          schema: { type: 'string' },
        },
        {
          name: 'If-None-Match',
          in: 'header',
          required: false,
          description: 'ETags of the cached responses, or `*`.',
          schema: { type: 'string' },
        },
      ],
      responses: { 304: { description: 'The cached response is current.' } },
      [INTERNAL_EXTENSIONS.revalidation]: REVALIDATION_HEADERS,
      'x-sunset': '2030-12-05',
      [INTERNAL_EXTENSIONS.deprecation]: DEPRECATED,
    });
    expect(REVALIDATION_HEADERS['Cache-Control'].example).toBe('private, no-cache');
  });

  it('document the idempotency key, errors, scopes and the headers of a creation', () => {
    expect(document.paths['/toys']?.post).toMatchObject({
      parameters: [
        {
          name: 'Idempotency-Key',
          in: 'header',
          required: false,
          description: expect.stringContaining('Keys expire after 24 hours.'),
          schema: IDEMPOTENCY_KEY_SCHEMA,
        },
      ],
      responses: {
        201: {
          headers: {
            Location: { description: 'URL of the created resource.', required: true, schema: { type: 'string' }, example: '/v1/toys/7' },
            'Idempotent-Replayed': { schema: { type: 'string' }, example: 'true' },
          },
        },
      },
      [INTERNAL_EXTENSIONS.throws]: [INVALID_REQUEST, BROKEN],
      'x-required-scopes': ['toys:read', 'toys:write'],
    });
  });

  it('document a body of bytes, and that no key is required', () => {
    const schema = { type: 'string', format: 'binary', minLength: 1, maxLength: 100 };
    expect(document.paths['/toys/photo']?.put).toMatchObject({
      requestBody: { required: true, content: { 'image/png': { schema }, 'image/webp': { schema } } },
      [INTERNAL_EXTENSIONS.acceptedBytes]: { types: ['image/png', 'image/webp'], maxBytes: 100 },
    });
    expect(document.paths['/toys']?.get).toMatchObject({ [EXTENSIONS.scopes]: [] });
  });

  it('document no Location of a resource without a URL', () => {
    expect(Object.keys(createdHeaders())).toEqual(['Idempotent-Replayed']);
  });

  it('document the policy of the rate limit, the ETag of a change, If-Match and its errors', () => {
    const entityTag = { [INTERNAL_EXTENSIONS.entityTag]: { ETag: REVALIDATION_HEADERS.ETag } };
    expect(document.paths['/toys']?.put).toMatchObject({ [EXTENSIONS.rateLimit]: POLICY, ...entityTag });
    expect(document.paths['/toys']?.patch).toMatchObject(entityTag);
    const parameter = {
      name: 'If-Match',
      in: 'header',
      description: 'ETags from responses to GET requests, or `*`. The operation fails unless one of them is current.',
      schema: { type: 'string' },
    };
    expect(document.paths['/toys']?.patch).toMatchObject({
      parameters: [{ ...parameter, required: false }, { name: 'If-None-Match' }],
      [INTERNAL_EXTENSIONS.precondition]: [],
    });
    expect(document.paths['/toys/strictly']?.patch).toMatchObject({
      parameters: [{ ...parameter, required: true }],
      [INTERNAL_EXTENSIONS.precondition]: [PRECONDITION_REQUIRED],
    });
  });
});

describe('@RequestIdempotencyKey', () => {
  beforeEach(() => {
    principal = { clientId: 7n, clientName: 'shop', keyId: 9n, scopes: [], rateLimit: undefined };
    key = undefined;
    thrown = undefined;
  });
  const create = async (headers: Record<string, string>) => (await app.inject({ method: 'POST', url: '/toys', headers })).statusCode;

  it('injects the key with the client that sent it', async () => {
    expect(await create({ 'Idempotency-Key': '"a\\"b"' })).toBe(201);
    expect(key).toEqual({ clientId: 7n, key: 'a"b' });
  });

  it('injects undefined without the header, also on a public route', async () => {
    key = { clientId: 1n, key: 'earlier' };
    principal = undefined;
    expect(await create({})).toBe(201);
    expect(key).toBeUndefined();
  });

  it('requires authentication', async () => {
    principal = undefined;
    expect(await create({ 'Idempotency-Key': 'a' })).toBe(418);
    expect(thrown).toMatchObject({ message: '@RequestIdempotencyKey requires a route with authentication.' });
  });
});

it('a JavaScript number would round the example identifier', () => {
  expect(BigInt(Number(EXAMPLE_ID))).not.toBe(EXAMPLE_ID);
});

it('a definition of a context with a misspelt or a missing member does not compile', () => {
  const [module, persistence] = [class Toys {}, { schema: 'toys', entities: [], migrations: [] }];
  // @ts-expect-error The member is `scopes`.
  defineContext({ module, persistence, scope: ['toys:read'] });
  // @ts-expect-error Without `persistence`.
  defineContext({ module });
  expect(defineContext({ module, persistence }).module).toBe(module);
});
