import { expect, it } from '@jest/globals';
import { RestartPolicy } from './restart-policy.js';

it('starts a server at once, then after growing pauses, and gives up after five deaths in a minute', () => {
  const policy = new RestartPolicy();
  expect([0, 15_000, 30_000, 45_000, 59_999].map((nowMs) => policy.next(nowMs))).toEqual([0, 500, 1_000, 2_000, undefined]);
});

it('forgets deaths after a minute', () => {
  const policy = new RestartPolicy();
  expect([0, 15_000, 30_000, 45_000, 60_000, 120_000].map((nowMs) => policy.next(nowMs))).toEqual([0, 500, 1_000, 2_000, 2_000, 0]);
});
