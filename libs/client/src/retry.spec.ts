import { afterEach, describe, expect, it, jest } from '@jest/globals';
import fc from 'fast-check';
import { parseRetryAfter, retryDelay } from './retry.js';

const DELAYS = { minRetryDelay: 500, maxRetryDelay: 8_000 };

afterEach(() => void jest.useRealTimers());

describe('retryDelay', () => {
  it('is never shorter than Retry-After, and differs between clients', () => {
    fc.assert(
      fc.property(fc.nat({ max: 60_000 }), fc.integer({ min: 1, max: 20 }), (retryAfter, attempt) => {
        const delay = retryDelay(attempt, DELAYS, retryAfter) ?? 0;
        expect(delay).toBeGreaterThanOrEqual(retryAfter);
        expect(delay).toBeLessThanOrEqual(retryAfter + 500);
      }),
    );
    expect(new Set(Array.from({ length: 20 }, () => retryDelay(1, DELAYS, 1_000))).size).toBeGreaterThan(1);
  });
});

describe('parseRetryAfter', () => {
  it.each([
    ['0', 0],
    ['7', 7_000],
    ['Sun, 22 Nov 2026 12:00:30 GMT', 30_000],
    ['Sun, 22 Nov 2026 11:59:00 GMT', 0],
    ['2026-11-22T12:00:30Z', 30_000],
    ['soon', undefined],
    ...['-5', '+5', '1.5', '1e3', '5, 5', 'in 3', '0x10', 'Infinity', ' '].map((text) => [text, undefined] as const),
    ['9'.repeat(400), Infinity],
    ['', undefined],
    [null, undefined],
  ])('parses %j to %s milliseconds', (value, ms) => {
    jest.useFakeTimers({ now: Date.parse('2026-11-22T12:00:00Z') });
    expect(parseRetryAfter(value)).toBe(ms);
  });

  it.each([-3_600_000, 3_600_000])("does not depend on the client's clock, which is wrong by %i ms", (skewMs) => {
    jest.useFakeTimers({ now: Date.parse('2026-11-22T12:00:00Z') + skewMs });
    expect(parseRetryAfter('Sun, 22 Nov 2026 12:00:30 GMT', 'Sun, 22 Nov 2026 12:00:00 GMT')).toBe(30_000);
  });
});
