import { MayBeAbsent, QueryInteger, ReceivesBytes, Rule } from '@animal-store/http-kit';
import { DomainError, INT64_MAX, INT64_MIN } from '@animal-store/kernel';
import { describe, expect, it } from '@jest/globals';
import { Body, Controller, Get, Param, Post, Query } from '@nestjs/common';
import type { ModulesContainer } from '@nestjs/core';
import fc from 'fast-check';
import { HTTP_ERRORS, HttpError } from '../errors/http-errors.js';
import { guardContext } from '../http/testing/guard-context.js';
import { parseJson } from './parse-json.js';
import { OrderDto } from './testing/order.dto.js';
import { PreferenceGuard, prefersStrictHandling, ValidationPipe } from './validation.pipe.js';

class Page {
  @MayBeAbsent()
  @QueryInteger({ minimum: 1, maximum: 100 })
  limit = 20;
}

class Undeclared {}

const pipe = new ValidationPipe();
const body = (text: string | Buffer) => pipe.transform({ bytes: Buffer.from(text) }, { type: 'body', metatype: OrderDto });

describe('a body', () => {
  it.each(['{"constructor":1}', '{"constructor":{"prototype":1}}', '[{"constructor":1}]', '{"toString":1,"valueOf":1}'])(
    'is rejected with an object instead of a string: %s',
    (value) => {
      expect(() => body(`{"title":${value},"amount":1}`)).toThrow(/^title must be text$/);
    },
  );

  it('is rejected with each invalid member and its rule', () => {
    const rejected = () => body('{"title":7,"gift":null}');
    expect(rejected).toThrow(DomainError);
    expect(rejected).toThrow(/^title must be text; amount must be a positive integer; gift must be true$/);
  });

  it.each([
    ['', 'A JSON object is required as the body.'],
    ['[]', 'The body must be a JSON object.'],
    ['null', 'The body must be a JSON object.'],
    ['"x"', 'The body must be a JSON object.'],
    ['{', 'The body is not well-formed JSON.'],
  ])('is rejected if it is %j', (text, message) => expect(() => body(text)).toThrow(message));

  it('gets the error of the parser, after the guards', () => {
    const error = new HttpError(HTTP_ERRORS.payloadTooLarge);
    expect(() => pipe.transform({ error }, { type: 'body', metatype: OrderDto })).toThrow(error);
  });

  it('results in an instance or a client error', () => {
    fc.assert(
      fc.property(
        fc.oneof(
          fc.json(),
          fc.string(),
          fc.uint8Array().map((bytes) => Buffer.from(bytes)),
        ),
        (bytes) => {
          try {
            expect(body(bytes)).toBeInstanceOf(OrderDto);
          } catch (error) {
            expect(error instanceof DomainError || error instanceof HttpError).toBe(true);
          }
        },
      ),
    );
  });
});

describe('a handler whose parameter has no rules', () => {
  it.each([undefined, Object, Undeclared])('fails instead of accepting everything (%s)', (metatype) => {
    expect(() => pipe.transform({ bytes: Buffer.from('{}') }, { type: 'body', metatype })).toThrow('needs a class with validation rules');
  });

  class Unreceived {
    add(@Body() _file: Buffer): void {}
  }

  class Unread {
    @ReceivesBytes({ type: 'image/png', maxBytes: 1 })
    add(): void {}
  }

  class Anything {
    add(@Body() _body: unknown): void {}
  }

  class Named {
    list(@Query('page') _page: Page): void {}
  }

  it.each([
    [Unreceived, 'Unreceived.add: a Buffer is the type of the @Body() of a route with @ReceivesBytes, and of no other.'],
    [Unread, 'Unread.add: a Buffer is the type of the @Body() of a route with @ReceivesBytes, and of no other.'],
    [Anything, 'Anything.add: a body parameter needs a class with validation rules as its type, and no name.'],
    [Named, 'Named.list: a query parameter needs a class with validation rules as its type, and no name.'],
  ])('prevents the start: %s', (metatype, reason) => {
    const modules = new Map([['', { controllers: new Map([['', { metatype }]]) }]]) as unknown as ModulesContainer;
    expect(() => new ValidationPipe(modules).onModuleInit()).toThrow(reason);
  });

  it('is accepted if it is a path parameter', () => {
    expect(pipe.transform('x', { type: 'param', metatype: String })).toBe('x');
  });
});

describe('the guard of preferences', () => {
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
    const { context, headers, request } = guardContext(Orders, handler, {
      headers: prefer === '' ? {} : { prefer },
      query,
      body,
      operation,
    });
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
});

const MALFORMED: unknown = expect.objectContaining({ definition: HTTP_ERRORS.malformedJson });

const parse = (text: string) => parseJson(Buffer.from(text));

describe('parseJson', () => {
  it('parses int64s as exact bigints, at any depth', () => {
    fc.assert(
      fc.property(fc.bigInt({ min: INT64_MIN, max: INT64_MAX }), (value) => {
        expect(parse(`{"a":${String(value)},"b":[{"c":${String(value)}}]}`)).toEqual({ a: value, b: [{ c: value }] });
      }),
    );
  });

  it.each([
    ['7.5', 7.5],
    ['9223372036854775808', 9223372036854775808],
    ['7.0000000000000000000001', 7],
    ['1e400', Infinity],
    ['9.007199254740992E15', 9007199254740992],
    ['-9007199254740992.0', -9007199254740992],
    ['9007199254740993e0', 9007199254740992],
  ])('parses %s, which is not an int64 or has lost digits, as a number', (text, value) => expect(parse(text)).toBe(value));

  it.each([
    ['[0,-0,7,-7,999999999999999]', [0n, 0n, 7n, -7n, 999999999999999n]],
    ['[7.0,7e0,70E-1,-0.0]', [7n, 7n, 7n, 0n]],
    ['[9007199254740991.0,-9.007199254740991e15,9007199254740993]', [9007199254740991n, -9007199254740991n, 9007199254740993n]],
    ['["1.5",7]', ['1.5', 7n]],
    ['{"__proto__":7}', JSON.parse('{"__proto__":"7n"}', (_key, value: unknown) => (value === '7n' ? 7n : value))],
  ])('parses the integers in %s as bigints, in every notation', (text, value) => expect(parse(text)).toEqual(value));

  it('parses everything except integers like JSON.parse', () => {
    fc.assert(
      fc.property(fc.json({ maxDepth: 3 }), (text) => {
        const numbers = (_key: string, value: unknown) => (typeof value === 'bigint' ? Number(value) : value);
        const exact = JSON.stringify(parse(text), numbers);
        expect(exact).toBe(JSON.stringify(JSON.parse(text)));
      }),
    );
  });

  it.each(['', '{', '{"a":01}', "{'a':1}", '[1,]', 'nul', '\u00a01'])('rejects %j', (text) => {
    expect(() => parse(text)).toThrow(MALFORMED);
  });

  it('rejects invalid UTF-8', () => {
    for (const bytes of [
      [0x22, 0xff, 0x22],
      [0x22, 0xc3, 0x22],
      [0x22, 0xed, 0xa0, 0x80, 0x22],
    ]) {
      expect(() => parseJson(Buffer.from(bytes))).toThrow('The body is not UTF-8.');
    }
  });

  it.each<[what: string, nest: (depth: number) => string]>([
    ['arrays', (depth) => `${'['.repeat(depth)}${']'.repeat(depth)}`],
    ['objects', (depth) => `${'{"a":'.repeat(depth)}1${'}'.repeat(depth)}`],
    ['arrays and numbers that may lose digits', (depth) => `${'[1.0,'.repeat(depth)}1${']'.repeat(depth)}`],
  ])('parses 64 levels of %s, and rejects more', (_what, nest) => {
    expect(() => parse(nest(64))).not.toThrow();
    for (const depth of [65, 100, 5_000, 10_000]) expect(() => parse(nest(depth))).toThrow('more than 64 levels deep');
    // Closed brackets and brackets in strings do not count.
    expect(() => parse(`[${`${nest(63)},`.repeat(5)}"${'[{'.repeat(100)}","\\"${'[{'.repeat(100)}\\\\"]`)).not.toThrow();
  });

  it('rejects many unclosed brackets', () => {
    for (const open of ['[', '{"a":', '{']) expect(() => parse(open.repeat(65_536))).toThrow(MALFORMED);
  });
});
