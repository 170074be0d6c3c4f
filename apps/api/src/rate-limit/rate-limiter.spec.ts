import { setImmediate } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { type Count, type Counter, MemoryCounter } from './counters.js';
import { type Quota, RateLimiter } from './rate-limits.js';

function limiterWith(counter: Counter, limit: number, processes: number | undefined): RateLimiter {
  return new RateLimiter(limit, processes, (key, points) => counter.add(key, points));
}

/** A counter with latency in ticks of a simulated clock, so that results do not depend on the load of the machine. */
class Simulation {
  readonly counter: Counter = { add: (key, points) => this.add(key, points) };
  admitted = 0;
  asked = 0;
  private count = 0;
  private now = 0;
  private events: { readonly at: number; readonly run: () => void }[] = [];

  constructor(private readonly latency: number) {}

  take(limiter: RateLimiter): void {
    const admit = ({ isExceeded }: Quota) => void (this.admitted += isExceeded ? 0 : 1);
    const quota = limiter.take('a');
    if (!(quota instanceof Promise)) return admit(quota);
    this.asked++;
    void quota.then(admit);
  }

  async tick(): Promise<void> {
    this.now++;
    const due = this.events.filter(({ at }) => at <= this.now);
    this.events = this.events.filter(({ at }) => at > this.now);
    for (const { run } of due) run();
    await setImmediate();
  }

  async end(): Promise<void> {
    while (this.events.length > 0) await this.tick();
  }

  private add(_key: string, points: number) {
    const { promise, resolve } = Promise.withResolvers<Count>();
    this.after(this.latency, () => {
      const count = (this.count += points);
      this.after(this.latency, () => resolve({ points: count, msLeft: 60_000 }));
    });
    return promise;
  }

  private after(ticks: number, run: () => void): void {
    this.events.push({ at: this.now + ticks, run });
  }
}

/** Returns the number of requests of a process in a tick, which is about a millisecond. */
const PATTERNS: Readonly<Record<string, (process: number, processes: number, tick: number) => number>> = {
  'the same load on each': () => 1,
  'bursts on one after the other': (process, processes, tick) => (Math.floor(tick / 25) % processes === process ? 4 : 0),
  'bursts on all at once': (_process, _processes, tick) => (tick % 30 < 10 ? 3 : 0),
  'nearly all on one': (process, processes, tick) => (process === 0 ? 4 : (tick + process) % (2 * processes) === 0 ? 1 : 0),
  // The other processes have outdated counts when they get requests again.
  'first on one, then on all': (process, _processes, tick) => (process === 0 || tick < 10 || tick > 1_500 ? 4 : 0),
};

describe.each(Object.entries(PATTERNS))('many processes, %s', (_name, pattern) => {
  it.each<[limit: number, processes: number, isKnown: boolean]>([
    [6_000, 1, false],
    [6_000, 20, false],
    [1_000, 5, false],
    [100, 20, false],
    [1_000, 8, true],
    [3, 2, true],
  ])('admit %i requests and at most a tenth more, in %i processes, whose number is known: %s', async (limit, processes, isKnown) => {
    const simulation = new Simulation(1);
    const { counter } = simulation;
    const all = Array.from({ length: processes }, () => limiterWith(counter, limit, isKnown ? processes : undefined));
    let sent = 0;
    // Sends requests until each process has had the chance to exceed the limit.
    for (let tick = 0; tick < 20_000 && sent < 3 * limit + 100 * processes; tick++) {
      for (const [process, limiter] of all.entries()) {
        for (let n = pattern(process, processes, tick); n > 0; n--, sent++) simulation.take(limiter);
      }
      await simulation.tick();
    }
    await simulation.end();
    expect(simulation.admitted).toBeGreaterThanOrEqual(limit * 0.98);
    expect(simulation.admitted).toBeLessThanOrEqual(Math.ceil(limit * 1.1));
    // With a smaller limit, a process has a smaller share and asks the shared counter more often.
    if (limit === 6_000) expect(simulation.asked).toBeLessThanOrEqual(limit * 0.05);
  });
});

/** A counter whose responses the spec controls, at a time that it sets. */
class ControlledCounter implements Counter {
  readonly reports: number[] = [];
  count = 0;
  msLeft = 60_000;
  isLost = false;
  /** Holds back the responses until it is resolved. */
  held: Promise<void> = Promise.resolve();

  async add(_key: string, points: number) {
    this.reports.push(points);
    this.count += points;
    const response = { points: this.count, msLeft: this.msLeft };
    await this.held;
    return this.isLost ? undefined : response;
  }
}

describe('with a controlled clock', () => {
  let now: number;
  let counter: ControlledCounter;

  beforeEach(() => {
    now = 500;
    counter = new ControlledCounter();
    jest.spyOn(performance, 'now').mockImplementation(() => now);
  });
  afterEach(() => void jest.restoreAllMocks());

  const limiterOf = (limit: number, processes: number | 'unknown' = 1) =>
    limiterWith(counter, limit, processes === 'unknown' ? undefined : processes);

  it.each([1, 50])('exactly %i requests are admitted, and quotas tell how many remain', async (limit) => {
    const limiter = limiterOf(limit);
    for (let i = 1; i <= limit + 5; i++) {
      expect(await limiter.take('a')).toEqual({ isExceeded: i > limit, remaining: Math.max(0, limit - i), resetSeconds: 60 });
    }
  });

  it.each([1, 200])('exactly %i of concurrent requests are admitted, also if each of them asks the shared counter', async (limit) => {
    const limiter = limiterOf(limit, 'unknown');
    const quotas = await Promise.all(Array.from({ length: 2 * limit }, async () => limiter.take('a')));
    expect(quotas.filter(({ isExceeded }) => !isExceeded)).toHaveLength(limit);
    expect(counter.reports).toHaveLength(2 * limit);
  });

  it('each key is counted separately', async () => {
    const limiter = limiterWith(new MemoryCounter(), 2, 1);
    for (const key of ['a', 'b']) expect(await limiter.take(key)).toMatchObject({ remaining: 1 });
  });

  it('the requests of other processes count at the first request', async () => {
    counter.count = 10;
    expect(await limiterOf(10, 2).take('a')).toMatchObject({ isExceeded: true, remaining: 0 });
  });

  it.each([
    [60_000, 60],
    [59_001, 60],
    [59_000, 59],
    [1_400, 2],
    [1_000, 1],
    [400, 1],
    [0, 1],
    // The clock of the shared counter was set.
    [3_660_000, 60],
    [-3_600_000, 1],
  ])('the seconds until the reset are rounded up, so that a retry is never early: %i ms, %i s', async (ms, seconds) => {
    const limiter = limiterOf(600);
    counter.msLeft = ms;
    expect((await limiter.take('a')).resetSeconds).toBe(seconds);
    if (ms > 0) expect(limiter.take('a')).toMatchObject({ resetSeconds: seconds });
  });

  it('the seconds until the reset are those that remain', async () => {
    const limiter = limiterOf(1);
    await limiter.take('a');
    now += 58_600;
    expect(limiter.take('a')).toEqual({ isExceeded: true, remaining: 0, resetSeconds: 2 });
    now += 1_399;
    expect(limiter.take('a')).toEqual({ isExceeded: true, remaining: 0, resetSeconds: 1 });
    now += 1;
    counter.count = 0;
    expect(await limiter.take('a')).toEqual({ isExceeded: false, remaining: 0, resetSeconds: 60 });
  });

  it.each<[processes: number | 'unknown', overshoot: number, reports: number[]]>([
    [1, 600, [1, 150, 150, 150]],
    [4, 150, [1, 37, 37, 37, 37, 37, 37, 37]],
    ['unknown', 150, [1, 37, 37, 37, 37, 37, 37, 37]],
  ])('requests are reported in batches, in a number of processes: %s', async (processes, overshoot, reports) => {
    const limiter = limiterOf(6_000, processes);
    await limiter.take('a');
    for (let i = 1; i < 1 + reports.slice(1).reduce((sum, points) => sum + points, 0); i++) {
      expect(limiter.take('a')).toMatchObject({ remaining: 6_000 - 1 - i });
      await setImmediate();
    }
    expect(counter.reports).toEqual(reports);
    counter.held = new Promise(() => undefined);
    for (let i = 0; i < overshoot; i++) expect(limiter.take('a')).not.toBeInstanceOf(Promise);
    expect(limiter.take('a')).toBeInstanceOf(Promise);
  });

  it('a process that has not counted all requests of a key has a smaller share, if their number is unknown', async () => {
    counter.count = 1;
    const limiter = limiterOf(6_000, 'unknown');
    await limiter.take('a');
    counter.held = new Promise(() => undefined);
    for (let i = 0; i < 22; i++) expect(limiter.take('a')).not.toBeInstanceOf(Promise);
    expect(counter.reports).toEqual([1, 5]);
    expect(limiter.take('a')).toBeInstanceOf(Promise);
  });

  it('requests during a report are reported later, and each is counted once', async () => {
    const limiter = limiterOf(600);
    await limiter.take('a');
    const { promise, resolve } = Promise.withResolvers<void>();
    counter.held = promise;
    for (let i = 0; i < 40; i++) expect(limiter.take('a')).toMatchObject({ remaining: 598 - i });
    expect(counter.reports).toEqual([1, 15]);
    resolve();
    await setImmediate();
    expect(limiter.take('a')).toMatchObject({ remaining: 558 });
    expect(counter.reports).toEqual([1, 15, 26]);
    await setImmediate();
    expect(limiter.take('a')).toMatchObject({ remaining: 557 });
  });

  it('a late response does not reduce the count', async () => {
    const limiter = limiterOf(600);
    await limiter.take('a');
    const { promise, resolve } = Promise.withResolvers<void>();
    counter.held = promise;
    for (let i = 0; i < 15; i++) void limiter.take('a');
    counter.held = Promise.resolve();
    counter.count = 100;
    for (let i = 0; i < 45; i++) void limiter.take('a');
    // The requests of the late report count too.
    expect(await limiter.take('a')).toMatchObject({ remaining: 600 - 101 - 45 - 15 });
    resolve();
    await setImmediate();
    expect(limiter.take('a')).toMatchObject({ remaining: 600 - 101 - 45 - 1 });
  });

  it('a window that the shared counter has opened replaces the known one, apart from latency', async () => {
    const limiter = limiterOf(10, 4);
    const remainingWith = async (count: number, msLeft: number) => {
      Object.assign(counter, { count, msLeft });
      return (await limiter.take('a')).remaining;
    };
    expect(await remainingWith(4, 30_000)).toBe(5);
    // The same window, whose end is measured 1 s later, keeps its end and its count.
    expect(await remainingWith(2, 31_000)).toBe(7);
    expect((await limiter.take('a')).resetSeconds).toBe(30);
    expect(await remainingWith(0, 31_001)).toBe(9);
    expect(await limiter.take('a')).toMatchObject({ resetSeconds: 32, remaining: 8 });
  });

  it('without the shared counter, the window of this process ends after its length', async () => {
    counter.isLost = true;
    const limiter = limiterOf(2);
    const take2 = async () => [await limiter.take('a'), await limiter.take('a'), await limiter.take('a')];
    const quotas = (seconds: number) => [1, 0, 0].map((remaining, i) => ({ remaining, isExceeded: i === 2, resetSeconds: seconds }));
    expect(await take2()).toEqual(quotas(60));
    now += 59_999;
    expect(await limiter.take('a')).toMatchObject({ isExceeded: true, resetSeconds: 1 });
    now += 1;
    expect(await take2()).toEqual(quotas(60));
  });

  it('requests of a window that ends while the shared counter is asked count in the next one', async () => {
    const limiter = limiterOf(2);
    await limiter.take('a');
    const { promise, resolve } = Promise.withResolvers<void>();
    counter.held = promise;
    counter.isLost = true;
    const late = limiter.take('a');
    now += 60_000;
    resolve();
    expect(await late).toEqual({ remaining: 1, isExceeded: false, resetSeconds: 60 });
  });

  it('at most 100,000 windows are stored; the oldest is dropped', async () => {
    const limiter = limiterOf(600);
    const { windows } = limiter as unknown as { windows: Map<string, unknown> };
    await limiter.take('oldest');
    for (let i = 0; i < 99_998; i++) windows.set(String(i), undefined);
    await limiter.take('newer');
    expect(limiter.take('oldest')).not.toBeInstanceOf(Promise);
    await limiter.take('newest');
    expect(windows.size).toBe(100_000);
    expect(limiter.take('newest')).not.toBeInstanceOf(Promise);
    expect(limiter.take('newer')).not.toBeInstanceOf(Promise);
    expect(limiter.take('oldest')).toBeInstanceOf(Promise);
  });
});
