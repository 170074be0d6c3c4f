import { setImmediate, setTimeout as sleep } from 'node:timers/promises';
import { waitFor } from '@animal-store/local-postgres/testing';
import { describe, expect, it } from '@jest/globals';
import { RateLimiterMemory } from 'rate-limiter-flexible';
import { type Quota, RateLimiter, type SharedCounter } from './rate-limiter.js';

const LATENCY_MS = 2;

/** A counter with latency, like one in another process. */
class DistantCounter implements SharedCounter {
  calls = 0;
  private readonly memory: RateLimiterMemory;

  constructor(
    limit: number,
    private readonly windowMs: number,
  ) {
    this.memory = new RateLimiterMemory({ points: limit, duration: windowMs / 1000 });
  }

  async penalty(key: string, points: number) {
    this.calls++;
    await sleep(LATENCY_MS);
    const result = await this.memory.penalty(key, points);
    await sleep(LATENCY_MS);
    return { consumedPoints: result.consumedPoints, msBeforeNext: result.msBeforeNext || this.windowMs };
  }
}

class LostCounter implements SharedCounter {
  penalty(): Promise<never> {
    return Promise.reject(new Error('lost'));
  }
}

function limiters(limit: number, processes: number, counter: SharedCounter = new DistantCounter(limit, 60_000), windowMs = 60_000) {
  return Array.from({ length: processes }, () => new RateLimiter({ limit, windowMs, processes, counter }));
}

async function take(limiter: RateLimiter, times: number, key = 'a'): Promise<Quota[]> {
  const quotas: Quota[] = [];
  for (let i = 0; i < times; i++) quotas.push(await limiter.take(key));
  return quotas;
}

const admitted = (quotas: readonly Quota[]) => quotas.filter(({ isExceeded }) => !isExceeded).length;

describe('a single limiter', () => {
  it.each([1, 3, 10, 50, 200])('admits exactly %i requests, and reports how many remain', async (limit) => {
    const [limiter] = limiters(limit, 1) as [RateLimiter];
    const quotas = await take(limiter, limit + 5);
    expect(quotas.map(({ remaining }) => remaining)).toEqual([...Array.from({ length: limit }, (_, i) => limit - 1 - i), 0, 0, 0, 0, 0]);
    expect(quotas.map(({ isExceeded }) => isExceeded)).toEqual(quotas.map((_, i) => i >= limit));
    const resetSeconds = quotas.map((quota) => quota.resetSeconds);
    // Some seconds pass on a busy machine.
    expect(Math.max(...resetSeconds)).toBeLessThanOrEqual(60);
    expect(Math.min(...resetSeconds)).toBeGreaterThan(30);
  });

  it('returns synchronously for a known key, and reports rarely', async () => {
    const counter = new DistantCounter(6_000, 60_000);
    const [limiter] = limiters(6_000, 1, counter) as [RateLimiter];
    await limiter.take('a');
    for (let i = 0; i < 400; i++) expect(limiter.take('a')).not.toBeInstanceOf(Promise);
    expect(counter.calls).toBeLessThan(5);
  });

  it('counts each key separately', async () => {
    const [limiter] = limiters(2, 1) as [RateLimiter];
    expect(admitted(await take(limiter, 5, 'a'))).toBe(2);
    expect(admitted(await take(limiter, 5, 'b'))).toBe(2);
  });

  it('resets the count when the window has ended', async () => {
    const [limiter] = limiters(20, 1, new DistantCounter(20, 5_000), 5_000) as [RateLimiter];
    expect(admitted(await take(limiter, 30))).toBe(20);
    await waitFor(async () => expect(await limiter.take('a')).toMatchObject({ isExceeded: false, remaining: 19 }));
    expect(admitted(await take(limiter, 30))).toBe(19);
  });

  it.each([1, 10, 200])('admits exactly %i of many concurrent requests', async (limit) => {
    const memory = new RateLimiterMemory({ points: limit, duration: 60 });
    // All requests begin before the shared counter has responded to one, so each of them asks it.
    const limiter = new RateLimiter({ limit, windowMs: 60_000, processes: undefined, counter: memory });
    const quotas = await Promise.all(Array.from({ length: 2 * limit }, async () => limiter.take('a')));
    expect(admitted(quotas)).toBe(limit);
  });

  it('counts alone if the shared counter fails', async () => {
    const [limiter] = limiters(20, 1, new LostCounter()) as [RateLimiter];
    expect(admitted(await take(limiter, 40))).toBe(20);
  });
});

/** A counter with latency in ticks of a simulated clock, so that results do not depend on the load of the machine. */
class Simulation {
  readonly counter: SharedCounter = { penalty: (key, points) => this.penalty(key, points) };
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

  private penalty(_key: string, points: number) {
    const { promise, resolve } = Promise.withResolvers<{ consumedPoints: number; msBeforeNext: number }>();
    this.after(this.latency, () => {
      const consumedPoints = (this.count += points);
      this.after(this.latency, () => resolve({ consumedPoints, msBeforeNext: 60_000 }));
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

describe.each(Object.entries(PATTERNS))('an unknown number of processes, %s', (_name, pattern) => {
  it.each([
    [6_000, 1],
    [6_000, 5],
    [6_000, 20],
    [1_000, 5],
    [1_000, 20],
    [100, 20],
  ])('admits %i requests and at most a tenth more, in %i processes', async (limit, processes) => {
    const simulation = new Simulation(1);
    const { counter } = simulation;
    const all = Array.from({ length: processes }, () => new RateLimiter({ limit, windowMs: 60_000, processes: undefined, counter }));
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
    expect(simulation.admitted).toBeLessThanOrEqual(limit * 1.1);
    // With a smaller limit, a process has a smaller share and asks the shared counter more often.
    if (limit === 6_000) expect(simulation.asked).toBeLessThanOrEqual(limit * 0.05);
  });
});

describe('limiters with a shared counter', () => {
  it.each([
    [100, 2],
    [100, 4],
    [1_000, 8],
    [10, 3],
    [3, 2],
  ])('admit %i requests and at most a tenth more, in %i processes', async (limit, processes) => {
    const quotas = await Promise.all(
      limiters(limit, processes).flatMap((limiter) => Array.from({ length: 5 }, () => take(limiter, Math.ceil(limit / processes)))),
    );
    expect(admitted(quotas.flat())).toBeGreaterThanOrEqual(limit);
    expect(admitted(quotas.flat())).toBeLessThanOrEqual(Math.ceil(limit * 1.1));
  });

  it('know the requests of the others at their first request', async () => {
    const [one, other] = limiters(10, 2) as [RateLimiter, RateLimiter];
    await take(one, 10);
    expect(await other.take('a')).toMatchObject({ isExceeded: true, remaining: 0 });
  });
});
