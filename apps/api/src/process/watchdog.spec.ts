import { expect, it } from '@jest/globals';
import { CrashLoopDetector } from './watchdog.js';

it('detects more than the maximum number of crashes within the time, and nothing else', () => {
  const loop = new CrashLoopDetector(2, 1_000);
  expect([0, 500, 1_001].map((at) => loop.record(at))).toEqual([false, false, false]);
  expect([1_500, 2_600, 2_601, 2_602].map((at) => loop.record(at))).toEqual([true, false, false, true]);
});
