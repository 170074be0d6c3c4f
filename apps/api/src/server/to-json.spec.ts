import { expect, it } from '@jest/globals';
import fc from 'fast-check';
import { toJson } from './to-json.js';

it('writes a bigint as a number, digit for digit, wherever it stands', () => {
  fc.assert(
    fc.property(fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }), (id) => {
      expect(toJson([{ id, list: [id] }, id])).toBe(`[{"id":${String(id)},"list":[${String(id)}]},${String(id)}]`);
    }),
  );
});
