import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { SystemClock } from './clock.js';
import { DomainError } from './domain-error.js';
import { JsonText } from './json-text.js';
import { JsonPage } from './page.js';
import { assertSameRequest, IDEMPOTENCY_KEY_REUSED } from './request.js';

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

class NewThing {
  constructor(
    readonly name: string,
    readonly at: Date,
    readonly size: bigint | null = 1n,
  ) {}
}

it('assertSameRequest compares all members', () => {
  const thing = new NewThing('a', new Date(1));
  expect(() => {
    assertSameRequest(thing, { name: 'a', at: new Date(1), size: 1n });
  }).not.toThrow();
  for (const other of [{ name: 'A' }, { at: new Date(2) }, { size: 2n }, { size: null }])
    expect(() => {
      assertSameRequest(thing, { ...thing, ...other });
    }).toThrow(expect.objectContaining(IDEMPOTENCY_KEY_REUSED));
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
