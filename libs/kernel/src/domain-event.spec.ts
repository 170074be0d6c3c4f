import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { defineEvent, type EventPayload } from './domain-event.js';
import { INT64_MAX, INT64_MIN } from './value-rules.js';

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
