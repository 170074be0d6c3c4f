import { expect, it } from '@jest/globals';
import fc from 'fast-check';
import { retryDelay } from './retry.js';

it('the delay is never shorter than Retry-After, and differs between clients', () => {
  fc.assert(
    fc.property(fc.nat({ max: 60_000 }), fc.integer({ min: 1, max: 20 }), (retryAfter, attempt) => {
      const delay = retryDelay(attempt, 500, retryAfter) ?? 0;
      expect(delay).toBeGreaterThanOrEqual(retryAfter);
      expect(delay).toBeLessThanOrEqual(retryAfter + 500);
    }),
  );
  expect(new Set(Array.from({ length: 20 }, () => retryDelay(1, 500, 1_000))).size).toBeGreaterThan(1);
});
