import { MayBeAbsent, QueryInteger } from '@animal-store/http-kit';
import { DomainError } from '@animal-store/kernel';
import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { HTTP_ERRORS, HttpError } from '../errors/http-errors.js';
import { OrderDto } from './testing/order.dto.js';
import { ValidationPipe } from './validation.pipe.js';

class Page {
  @MayBeAbsent()
  @QueryInteger({ minimum: 1, maximum: 100 })
  limit = 20;
}

class Undeclared {}

const pipe = new ValidationPipe();
const body = (text: string | Buffer) => pipe.transform({ bytes: Buffer.from(text) }, { type: 'body', metatype: OrderDto });
const query = (parameters: object) => pipe.transform(parameters, { type: 'query', metatype: Page });

describe('a body', () => {
  it('becomes an instance of its class with only its declared members', () => {
    const order = body('{"title":"x","amount":9007199254740993,"other":1,"__proto__":{"gift":true},"constructor":1}');
    expect(order).toBeInstanceOf(OrderDto);
    expect(Object.entries(order as object)).toEqual([
      ['title', 'x'],
      ['amount', 9007199254740993n],
    ]);
    expect((order as OrderDto).gift).toBeUndefined();
    expect(({} as { gift?: unknown }).gift).toBeUndefined();
  });

  it.each(['{"constructor":1}', '{"constructor":{"prototype":1}}', '[{"constructor":1}]', '{"toString":1,"valueOf":1}'])(
    'is rejected with an object instead of a string: %s',
    (value) => {
      expect(() => body(`{"title":${value},"amount":1}`)).toThrow(/^title must be text$/);
    },
  );

  it.each(['['.repeat(3000) + ']'.repeat(3000), '{"a":'.repeat(3000) + '1' + '}'.repeat(3000)])(
    'is rejected if any member is nested too deeply',
    (value) => {
      for (const name of ['title', 'amount', 'gift', 'other', '__proto__', 'constructor']) {
        expect(() => body(`{"title":"x","amount":1,"${name}":${value}}`)).toThrow('The body is nested more than 64 levels deep.');
      }
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

describe('a query string', () => {
  it('uses defaults for missing parameters', () => expect(query({})).toEqual({ limit: 20 }));

  it('reads integers', () => expect(query({ limit: '7', page: 'x' })).toEqual({ limit: 7 }));

  it.each(['0', '101', '', '07', '7.0', '+7', '1e1', ' 7', '٧', '99999999999999999999'])('rejects limit=%j', (limit) => {
    expect(() => query({ limit })).toThrow('limit must be an integer from 1 to 100');
  });

  it('rejects a repeated parameter', () => {
    expect(() => query({ limit: ['7', '7'] })).toThrow('limit must be an integer from 1 to 100');
  });
});

describe('a handler whose parameter has no rules', () => {
  it.each([undefined, Object, Undeclared])('fails instead of accepting everything (%s)', (metatype) => {
    expect(() => pipe.transform({ bytes: Buffer.from('{}') }, { type: 'body', metatype })).toThrow('needs a class with validation rules');
  });

  it('is accepted if it is a path parameter', () => {
    expect(pipe.transform('x', { type: 'param', metatype: String })).toBe('x');
  });
});
