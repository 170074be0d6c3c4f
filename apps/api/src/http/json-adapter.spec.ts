import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { toJson } from './json-adapter.js';

/** JSON.stringify can return `undefined`, but its declared return type lacks this. */
const stringify: (value: unknown) => string | undefined = JSON.stringify;

describe('toJson', () => {
  it('writes the same text as JSON.stringify', () => {
    const value = fc.anything({ maxDepth: 3, withDate: true, withNullPrototype: true });
    fc.assert(
      fc.property(value, (given) => {
        expect(toJson(given)).toBe(stringify(given) ?? 'null');
      }),
      { examples: [[{ a: undefined, b: [undefined, () => 1], c: NaN, d: -0, 'a"\u2028': '\ud800\u0000' }], [undefined]], numRuns: 300 },
    );
  });

  it('writes bigints as exact numbers, at any depth', () => {
    fc.assert(
      fc.property(fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }), (id) => {
        expect(toJson([{ id, list: [id] }, id])).toBe(`[{"id":${String(id)},"list":[${String(id)}]},${String(id)}]`);
      }),
    );
  });
});
