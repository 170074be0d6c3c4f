import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { MemoryCounter } from './counters.js';

describe('MemoryCounter', () => {
  const HOUR_MS = 3_600_000;
  let now: number;
  let counter: MemoryCounter;
  const add = (key: string, points: number) => counter.add(key, points);

  beforeEach(() => {
    now = 500;
    jest.spyOn(performance, 'now').mockImplementation(() => now);
    counter = new MemoryCounter();
  });
  afterEach(() => void jest.restoreAllMocks());

  it('counts each key in windows that begin with its first points', () => {
    expect([add('a', 4), add('b', 1)]).toEqual([
      { points: 4, msLeft: 60_000 },
      { points: 1, msLeft: 60_000 },
    ]);
    now += 59_999;
    expect(add('a', 3)).toEqual({ points: 7, msLeft: 1 });
    now += 1;
    expect(add('a', 2)).toEqual({ points: 2, msLeft: 60_000 });
  });

  it.each([-HOUR_MS, HOUR_MS])('a clock that is set by %i ms has no effect', (jump) => {
    add('a', 4);
    const before = Date.now();
    jest.spyOn(Date, 'now').mockImplementation(() => before + jump);
    now += 10_000;
    expect(add('a', 1)).toEqual({ points: 5, msLeft: 50_000 });
    now += 50_000;
    expect(add('a', 1)).toEqual({ points: 1, msLeft: 60_000 });
  });

  it('stores no windows that have ended, and at most 100,000', () => {
    const { windows: stored } = counter as unknown as { windows: Map<string, unknown> };
    for (let i = 0; i < 100_000; i++) stored.set(String(i), { endsAt: now + 60_000, points: 1 });
    add('newest', 1);
    expect([stored.size, stored.has('0'), stored.has('1')]).toEqual([100_000, false, true]);
    now += 60_000;
    add('a', 1);
    expect([...stored.keys()]).toEqual(['a']);
  });
});
