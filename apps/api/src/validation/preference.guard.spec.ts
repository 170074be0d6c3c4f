import { MayBeAbsent, QueryInteger, Rule } from '@animal-store/http-kit';
import { describe, expect, it } from '@jest/globals';
import { Body, Controller, Get, Param, Post, Query } from '@nestjs/common';
import { guardContext } from '../http/testing/guard-context.js';
import { OrderDto } from './testing/order.dto.js';
import { PreferenceGuard, prefersStrictHandling } from './validation.pipe.js';
import { ValidationPipe } from './validation.pipe.js';

class PageQuery {
  @MayBeAbsent()
  @QueryInteger({ minimum: 1, maximum: 100 })
  limit = 20;
}

class FilterQuery {
  @MayBeAbsent()
  @Rule('must be a status', (value) => value === 'new' || value === 'sent')
  status?: string;
}

@Controller()
class Orders {
  @Get()
  list(@Param('shop') shop: string, @Query() page: PageQuery) {
    return { shop, page };
  }

  @Get('search')
  search(@Query() page: PageQuery, @Query() filter: FilterQuery) {
    return { page, filter };
  }

  @Post()
  create(@Body() order: OrderDto) {
    return order;
  }

  @Get(':id')
  get() {
    return undefined;
  }
}

const guard = new PreferenceGuard();

/** Returns a request, with strict handling by default, and the response headers after `check`. */
function request(
  handler: string,
  { query = {}, body = undefined as object | undefined, prefer = 'handling=strict', isOperation = true } = {},
) {
  const operation = isOperation ? handler : undefined;
  const { context, headers, request } = guardContext(Orders, handler, { headers: prefer === '' ? {} : { prefer }, query, body, operation });
  return { check: () => guard.canActivate(context), headers, body: request.body };
}

/** Returns the response headers of a request that the guard accepts. */
function accepted(...options: Parameters<typeof request>) {
  const { check, headers } = request(...options);
  expect(check()).toBe(true);
  return headers;
}

const APPLIED = { 'preference-applied': 'handling=strict' };

describe('a query', () => {
  it.each([
    ['list', { page: '2' }, '"page" is not a known query parameter'],
    ['list', { limit: '1', dry: '1', sort: 'x' }, '"dry" is not a known query parameter; "sort" is not a known query parameter'],
    ['list', { ['__proto__']: '1' }, '"__proto__" is not a known query parameter'],
    ['create', { limit: '1' }, '"limit" is not a known query parameter'],
    [
      'get',
      { expand: 'category', constructor: '1' },
      '"expand" is not a known query parameter; "constructor" is not a known query parameter',
    ],
    ['get', { ['x'.repeat(65)]: '' }, `"${'x'.repeat(64)}" is not a known query parameter`],
  ])('with strict handling is rejected with unknown parameters: %s %j', (handler, parameters, message) => {
    // A query has no prototype.
    const query = Object.assign(Object.create(null) as object, parameters);
    const { check, headers } = request(handler, { query });
    expect(check).toThrow(expect.objectContaining({ code: 'invalid_request', message }));
    expect(headers).toEqual(APPLIED);
    for (const prefer of ['', 'handling=lenient']) expect(accepted(handler, { query, prefer })).toEqual({});
  });

  it('with strict handling reports invalid values together with unknown parameters', () => {
    expect(request('list', { query: { limit: '0', status: 'new', page: '2' } }).check).toThrow(
      /^limit must be an integer from 1 to 100; "status" is not a known query parameter; "page" is not a known query parameter$/,
    );
  });

  it('is accepted with the parameters of all classes of the handler', () => {
    expect(accepted('search', { query: { limit: '7', status: 'sent' } })).toEqual(APPLIED);
    expect(accepted('get')).toEqual(APPLIED);
    expect(accepted('create')).toEqual(APPLIED);
  });

  it('of a route that is no operation is not checked', () => {
    expect(accepted('list', { query: { page: '2' }, isOperation: false })).toEqual({});
  });
});

describe('a body', () => {
  const json = '{"title":"x","amount":1,"other":1}';
  const create = (prefer?: string) => {
    const { check, headers, body } = request('create', { body: { bytes: Buffer.from(json) }, ...(prefer !== undefined && { prefer }) });
    check();
    expect(headers).toEqual(prefer === undefined ? APPLIED : {});
    return new ValidationPipe().transform(body, { type: 'body', metatype: OrderDto });
  };

  it('is rejected with unknown members, with strict handling', () => {
    expect(() => create()).toThrow(/^"other" is not a known member$/);
    for (const prefer of ['', 'handling=lenient']) expect(create(prefer)).toEqual({ title: 'x', amount: 1n });
  });
});

describe('Prefer', () => {
  it.each([
    'handling=strict',
    'Handling = Strict',
    'respond-async, wait=100, handling=strict',
    'handling="strict"',
    'handling=strict; x=1',
    ' handling = "STRICT" ;x',
    ',, ;x, a b, handling=strict',
    'handling=strict, handling=lenient',
    'x="a, handling=lenient, b", handling=strict',
    String.raw`x="\", handling=lenient", handling=strict`,
  ])('%j requests strict handling', (field) => expect(prefersStrictHandling(field)).toBe(true));

  it.each([
    '',
    'handling',
    'handling=lenient',
    'handling=lenient, handling=strict',
    'strict',
    'xhandling=strict',
    'return=minimal',
    'handling=strictly',
    'handling="strict',
    'handling="strict; x"',
    'x="a, handling=strict, b"',
    'x="a; handling=strict, handling=strict',
    'handling =',
  ])('%j does not request strict handling', (field) => expect(prefersStrictHandling(field)).toBe(false));
});
