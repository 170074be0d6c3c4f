import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { SystemClock } from './clock.js';
import { DomainError } from './domain-error.js';
import { defineEvent, type EventPayload } from './domain-event.js';
import { JsonText } from './json-text.js';
import { JsonPage } from './page.js';
import { INT64_MAX, INT64_MIN } from './value-rules.js';

it('SystemClock returns the current time', () => {
  const before = Date.now();
  const now = new SystemClock().now().getTime();
  expect(now).toBeGreaterThanOrEqual(before);
  expect(now).toBeLessThanOrEqual(Date.now());
});

it('DomainError has the code and kind of its definition, and its message by default', () => {
  const definition = { code: 'pet_not_found', kind: 'not_found', message: 'There is no such pet.' } as const;
  const cause = new Error('no row');
  expect(new DomainError(definition)).toMatchObject({ ...definition, name: 'DomainError' });
  expect(new DomainError(definition, 'No pet is called Rex.', { cause })).toMatchObject({ message: 'No pet is called Rex.', cause });
});

/** JSON.stringify can return `undefined`, but its declared return type lacks this. */
const stringify: (value: unknown) => string | undefined = JSON.stringify;

describe('JsonText.of', () => {
  it('writes the same text as JSON.stringify', () => {
    const value = fc.anything({ maxDepth: 3, withDate: true, withNullPrototype: true });
    fc.assert(
      fc.property(value, (given) => {
        expect(JsonText.of(given).text).toBe(stringify(given));
      }),
      { examples: [[{ a: undefined, b: [undefined, () => 1], c: NaN, d: -0, 'a"\u2028': '\ud800\u0000' }], [undefined]], numRuns: 300 },
    );
  });

  it('writes bigints as exact numbers, at any depth', () => {
    fc.assert(
      fc.property(fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }), (id) => {
        expect(JsonText.of([{ id, list: [id] }, id]).text).toBe(`[{"id":${String(id)},"list":[${String(id)}]},${String(id)}]`);
      }),
    );
  });
});

it('JsonPage parses its items once, when they are first read', () => {
  let calls = 0;
  const parse = (text: string) => {
    calls++;
    return JSON.parse(text) as number[];
  };
  const page = new JsonPage<number>(new JsonText('[1,2]'), { id: 2n }, parse, []);
  expect([calls, page.next]).toEqual([0, { id: 2n }]);
  expect(page.items).toEqual([1, 2]);
  expect(page.items).toBe(page.items);
  expect(calls).toBe(1);
});

const OrderPlaced = defineEvent('orders.order_placed', 'orderId', {
  orderId: 'int64',
  quantity: 'integer',
  customer: 'text',
  isGift: 'boolean',
  placedAt: 'time',
  note: 'text?',
  petId: 'int64?',
});

const placed: EventPayload<typeof OrderPlaced> = {
  orderId: INT64_MAX,
  quantity: 2,
  customer: 'Ann "O"',
  isGift: false,
  placedAt: new Date(1_763_683_200_123),
};
const stored = OrderPlaced.of(placed).payload.text;
const withMember = (name: string, json: string) => stored.replace(/\}$/, `,"${name}":${json}}`);

describe('an event', () => {
  it('belongs to an aggregate of the context in its type', () => {
    expect(OrderPlaced).toMatchObject({ type: 'orders.order_placed', aggregateType: 'orders', aggregate: 'orderId' });
    expect(OrderPlaced.of(placed).aggregateId).toBe('9223372036854775807');
    // @ts-expect-error An optional member does not identify an aggregate.
    defineEvent('orders.order_moved', 'note', { orderId: 'int64', note: 'text?' });
  });

  it('is stored as JSON with exact integers', () => {
    expect(stored).toBe(
      '{"orderId":9223372036854775807,"quantity":2,"customer":"Ann \\"O\\"","isGift":false,"placedAt":"2025-11-21T00:00:00.123Z"}',
    );
  });

  it('is parsed to the payload that was published', () => {
    const int64 = fc.bigInt({ min: INT64_MIN, max: INT64_MAX });
    const payloads = fc.record({
      orderId: int64,
      quantity: fc.maxSafeInteger(),
      customer: fc.string(),
      isGift: fc.boolean(),
      placedAt: fc.date({ noInvalidDate: true, min: new Date(0), max: new Date('9999-12-31') }),
      note: fc.option(fc.string(), { nil: undefined }),
      petId: fc.option(int64, { nil: undefined }),
    });
    fc.assert(fc.property(payloads, (payload) => expect(OrderPlaced.parse(OrderPlaced.of(payload).payload.text)).toEqual(payload)));
  });

  it('may have members that a later release added, and lack optional ones', () => {
    for (const json of ['1', '"text"', '[1]', '{"note":7}', 'null'])
      expect(OrderPlaced.parse(withMember('__proto__', json))).toEqual(placed);
    expect(OrderPlaced.parse(withMember('note', 'null'))).toEqual(placed);
    expect(OrderPlaced.parse(withMember('note', '"soon"'))).toEqual({ ...placed, note: 'soon' });
  });

  it('accepts the times that PostgreSQL writes', () => {
    expect(OrderPlaced.parse(withMember('placedAt', '"2025-11-21T01:00:00.123456+01:00"'))).toEqual(placed);
  });

  it.each([
    ['orderId', '"7"'],
    ['orderId', '7.5'],
    ['orderId', '9223372036854775808'],
    ['orderId', 'null'],
    ['quantity', '1.5'],
    ['quantity', '9007199254740993'],
    ['quantity', 'true'],
    ['customer', '7'],
    ['isGift', '0'],
    ['placedAt', '1763683200123'],
    ['placedAt', '"yesterday"'],
    ['note', '7'],
    ['petId', '"7"'],
  ])('with the member %s %s is rejected', (name, json) => {
    expect(() => OrderPlaced.parse(withMember(name, json))).toThrow(
      `The member ${name} of an event orders.order_placed must be of the type`,
    );
  });

  it.each(['orderId', 'customer'])('without the member %s is rejected', (name) => {
    const { [name as keyof typeof placed]: _missing, ...rest } = placed;
    expect(() => OrderPlaced.parse(OrderPlaced.of(rest as typeof placed).payload.text)).toThrow(`The member ${name}`);
  });
});
