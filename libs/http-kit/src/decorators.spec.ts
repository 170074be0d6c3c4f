import { Clock, type IdempotencyKey, type Precondition, type Principal, SystemClock } from '@animal-store/kernel';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { type ArgumentsHost, Controller, Get, Module, Patch, Post, Put, Query } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { FastifyAdapter, type NestFastifyApplication } from '@nestjs/platform-fastify';
import { ApiProperty, ApiResponse, DocumentBuilder, type OpenAPIObject, SwaggerModule } from '@nestjs/swagger';
import type { FastifyContextConfig, FastifyReply } from 'fastify';
import { createdHeaders, RequestIdempotencyKey } from './idempotency-key.js';
import { IfMatch, Revalidated, SendsEntityTag } from './conditional-requests.js';
import { defineContext } from './define-context.js';
import { PageQueryOf } from './pages.js';
import {
  Deprecated,
  EXTENSIONS,
  INTERNAL_EXTENSIONS,
  INVALID_REQUEST,
  Public,
  RateLimit,
  ReceivesBytes,
  RequireScopes,
  Throws,
} from './routes.js';

const DEPRECATED = {
  deprecatedAt: new Date('2025-12-05T00:00:00Z'),
  removedAt: new Date('2030-12-05T22:00:00Z'),
  successor: '/v1/games',
};
const BROKEN = { code: 'toy_broken', kind: 'unprocessable', message: 'The toy is broken.' } as const;

class ListToysQuery extends PageQueryOf('toys') {}

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
  @RateLimit({ name: 'toys', requestsPerMinute: 10 })
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

const descriptor = Object.getOwnPropertyDescriptor(ToysController.prototype, 'create') as PropertyDescriptor;

@Public()
class PublicToys {}

describe('the decorators of an operation', () => {
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

  it('document a body of bytes, and that no key is required', () => {
    const schema = { type: 'string', format: 'binary', minLength: 1, maxLength: 100 };
    expect(document.paths['/toys/photo']?.put).toMatchObject({
      requestBody: { required: true, content: { 'image/png': { schema }, 'image/webp': { schema } } },
      [INTERNAL_EXTENSIONS.acceptedBytes]: { types: ['image/png', 'image/webp'], maxBytes: 100 },
    });
    expect(document.paths['/toys']?.get).toMatchObject({ [EXTENSIONS.scopes]: [] });
  });

  it.each([
    [() => RateLimit({ name: 'toys', requestsPerMinute: 9 }), 'Two rate limits have the name toys.'],
    [() => RateLimit({ name: 'default', requestsPerMinute: 9 }), 'Two rate limits have the name default.'],
    [() => RateLimit({ name: 'new toys', requestsPerMinute: 9 }), 'must have a name in kebab-case'],
    [() => RateLimit({ name: 'no-toys', requestsPerMinute: 0 }), 'an integer of at least 1'],
    ...['Application/PDF', 'image/*', 'text/plain; charset=utf-8', 'pdf', ''].map(
      (type) => [() => ReceivesBytes({ type: ['image/png', type], maxBytes: 1 }), 'must be a media type in lower case'] as const,
    ),
    [() => Public()(ToysController.prototype, 'create', descriptor), 'create must have only one of @Public and @RequireScopes.'],
    [() => RequireScopes('toys:read')(class Toys extends PublicToys {}), undefined],
    [() => RequireScopes('toys:read')(PublicToys), 'PublicToys must have only one of @Public and @RequireScopes.'],
  ] as const)('%s fails: %s', (decorate, reason) => {
    if (reason === undefined) expect(decorate).not.toThrow();
    else expect(decorate).toThrow(reason);
  });

  it('document no Location of a resource without a URL', () => {
    expect(Object.keys(createdHeaders())).toEqual(['Idempotent-Replayed']);
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

it('a definition of a context with a misspelt or a missing member does not compile', () => {
  const [module, persistence] = [class Toys {}, { schema: 'toys', entities: [], migrations: [] }];
  // @ts-expect-error The member is `scopes`.
  defineContext({ module, persistence, scope: ['toys:read'] });
  // @ts-expect-error A scope has a colon.
  defineContext({ module, persistence, scopes: ['toys'] });
  // @ts-expect-error Without `persistence`.
  defineContext({ module });
  expect(defineContext({ module, persistence }).module).toBe(module);
});
