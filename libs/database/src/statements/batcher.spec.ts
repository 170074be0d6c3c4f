import { AsyncLocalStorage } from 'node:async_hooks';
import { setImmediate, setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import fc from 'fast-check';
import { Batcher, BatchSlots } from './batcher.js';

// The timer that detects stalled batches must not depend on the speed of the machine.
beforeEach(() => {
  jest.useFakeTimers({ doNotFake: ['setImmediate', 'nextTick', 'queueMicrotask'] });
});
afterEach(() => {
  jest.useRealTimers();
});

/** Lets the running batch stall. */
const stall = () => jest.advanceTimersByTime(50);

/** Waits for one turn of the event loop, in which a batch starts. */
const turn = async () => {
  await setImmediate();
  await setImmediate();
};

/** Batches that end when the test ends them. */
class Runs {
  readonly batches: (readonly number[])[] = [];
  private readonly ends: (() => void)[] = [];

  readonly run = async (items: readonly number[]): Promise<number[]> => {
    this.batches.push(items);
    await new Promise<void>((resolve) => this.ends.push(resolve));
    return items.map((item) => item * 2);
  };

  async endOldest(): Promise<void> {
    this.ends.shift()?.();
    await turn();
  }
}

describe('Batcher', () => {
  it('runs a single call immediately and the calls that arrive meanwhile as the next batch', async () => {
    const runs = new Runs();
    const batcher = new Batcher({ run: runs.run, maxSize: 10 });
    const lone = batcher.submit(1);
    expect(runs.batches).toEqual([[1]]);
    const calls = [batcher.submit(2)];
    await turn();
    expect(runs.batches).toEqual([[1]]);
    const ended = runs.endOldest();
    await new Promise<void>((resolve) => process.nextTick(resolve));
    // It has arrived together with the response to the first one.
    calls.push(batcher.submit(3));
    await ended;
    expect(runs.batches).toEqual([[1], [2, 3]]);
    const late = batcher.submit(2);
    await runs.endOldest();
    // A call does not get the result of a batch that started before it.
    expect(runs.batches).toEqual([[1], [2, 3], [2]]);
    await runs.endOldest();
    expect(await Promise.all([lone, ...calls, late])).toEqual([2, 4, 6, 4]);
  });

  it('shares one item between calls with the same key in one batch', async () => {
    const runs = new Runs();
    const batcher = new Batcher({ run: runs.run, maxSize: 10 });
    const calls = [1, 2, 2, 2].map((item) => batcher.submit(item, `key ${String(item)}`));
    expect(runs.batches).toEqual([[1]]);
    await runs.endOldest();
    expect(runs.batches).toEqual([[1], [2]]);
    await runs.endOldest();
    expect(await Promise.all(calls)).toEqual([2, 4, 4, 4]);
  });

  it('has an own result for each call with an object, also if it is the same object', async () => {
    let last = 0;
    const batcher = new Batcher<object | null, number>({ run: async (items) => items.map(() => ++last), maxSize: 10 });
    const item = {};
    expect(await Promise.all([item, item, item, null, null].map((each) => batcher.submit(each)))).toEqual([1, 2, 3, 4, 5]);
  });

  it('resolves each call with its own result, in batches of at most `maxSize`', async () => {
    await fc.assert(
      fc.asyncProperty(fc.uniqueArray(fc.integer(), { maxLength: 60 }), fc.integer({ min: 1, max: 9 }), async (items, maxSize) => {
        const sizes: number[] = [];
        const batcher = new Batcher<number, string>({
          run: async (batch) => {
            sizes.push(batch.length);
            await Promise.resolve();
            return batch.map(String);
          },
          maxSize,
        });
        expect(await Promise.all(items.map((item) => batcher.submit(item)))).toEqual(items.map(String));
        expect(Math.max(0, ...sizes)).toBeLessThanOrEqual(maxSize);
        expect(sizes.reduce((sum, size) => sum + size, 0)).toBe(items.length);
      }),
    );
  });

  it.each([undefined, () => false])('rejects all calls of a failed batch and no others', async (isItemError) => {
    let attempts = 0;
    const batcher = new Batcher<number, number>({
      run: async (items) => {
        attempts++;
        await sleep(1);
        if (items.includes(2)) throw new Error('lost');
        return [...items];
      },
      maxSize: 10,
      ...(isItemError && { isItemError }),
    });
    const ends = await Promise.allSettled([1, 2, 3].map((item) => batcher.submit(item)));
    expect(ends.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'rejected']);
    expect(attempts).toBe(2);
    expect(await batcher.submit(4)).toBe(4);
  });

  it('runs the halves of a batch, one after the other, if one item caused the error', async () => {
    const bad = new Error('bad value');
    let running = 0;
    const concurrency: number[] = [];
    const runs: (readonly number[])[] = [];
    const batcher = new Batcher<number, number>({
      run: async (items) => {
        runs.push(items);
        concurrency.push(++running);
        await sleep(1);
        running--;
        if (items.includes(3)) throw bad;
        return [...items];
      },
      maxSize: 10,
      isItemError: (error) => error === bad,
    });
    const ends = await Promise.allSettled([1, 2, 3, 4].map((item) => batcher.submit(item)));
    expect(ends).toEqual([
      { status: 'fulfilled', value: 1 },
      { status: 'fulfilled', value: 2 },
      { status: 'rejected', reason: bad },
      { status: 'fulfilled', value: 4 },
    ]);
    expect(runs).toEqual([[1], [2, 3, 4], [2, 3], [2], [3], [4]]);
    expect(concurrency).toEqual(runs.map(() => 1));
  });

  it.each([
    { bad: 1, max: 15 },
    { bad: 2, max: 27 },
    { bad: 128, max: 255 },
  ])('runs at most $max statements for a batch of 128 items of which $bad are bad', async ({ bad, max }) => {
    let runs = 0;
    const batcher = new Batcher<number, number>({
      run: async (items) => {
        runs++;
        await setImmediate();
        if (items.some((item) => item > 128 - bad)) throw new Error('bad value');
        return [...items];
      },
      maxSize: 128,
      isItemError: () => true,
    });
    // The first call runs alone, the others as one batch.
    const ends = await Promise.allSettled(Array.from({ length: 129 }, (_, index) => batcher.submit(index)));
    expect(ends.filter(({ status }) => status === 'rejected')).toHaveLength(bad);
    expect(runs - 1).toBeLessThanOrEqual(max);
  });

  it('starts no batch while the halves of the previous one run', async () => {
    const runs: (readonly number[])[] = [];
    const ends: ((result: number[] | Error) => void)[] = [];
    const batcher = new Batcher<number, number>({
      run: (items) => {
        runs.push(items);
        return new Promise((resolve, reject) => ends.push((result) => (Error.isError(result) ? reject(result) : resolve(result))));
      },
      maxSize: 2,
      isItemError: () => true,
    });
    const end = async (result: number[] | Error) => {
      ends.shift()?.(result);
      await turn();
    };
    const calls = Promise.allSettled([1, 2, 3, 4].map((item) => batcher.submit(item)));
    await end([1]);
    await end(new Error('one of two'));
    expect(runs).toEqual([[1], [2, 3], [2]]);
    await end(new Error('2 is bad'));
    expect(runs).toEqual([[1], [2, 3], [2], [3]]);
    await end([3]);
    expect(runs.at(-1)).toEqual([4]);
    await end([4]);
    expect((await calls).map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled', 'fulfilled']);
  });

  it('does not run an item again that failed alone', async () => {
    let attempts = 0;
    const run = () => Promise.reject(new Error(`attempt ${String(++attempts)}`));
    const batcher = new Batcher<number, number>({ run, maxSize: 10, isItemError: () => true });
    await expect(batcher.submit(1)).rejects.toThrow('attempt 1');
    expect(attempts).toBe(1);
  });

  it('leaves no timer behind, whether a batch succeeds or fails', async () => {
    const batcher = new Batcher<number, number>({
      run: ([item]) => (item === 1 ? Promise.resolve([1]) : Promise.reject(new Error())),
      maxSize: 1,
    });
    await Promise.allSettled([batcher.submit(1), batcher.submit(2)]);
    await turn();
    expect(jest.getTimerCount()).toBe(0);
  });

  it('runs a batch in the async context of its first call', async () => {
    const trace = new AsyncLocalStorage<string>();
    const traces: unknown[] = [];
    const run = async (items: readonly number[]) => {
      traces.push(trace.getStore());
      await sleep(1);
      return [...items];
    };
    const batcher = new Batcher<number, number>({ run, maxSize: 10 });
    await Promise.all(['one', 'two', 'three'].map((name, item) => trace.run(name, () => batcher.submit(item))));
    await trace.run('four', () => batcher.submit(4));
    expect(traces).toEqual(['one', 'two', 'four']);
  });

  it('runs at most three batches at a time, even if they stall', async () => {
    const runs = new Runs();
    const batcher = new Batcher({ run: runs.run, maxSize: 1 });
    const calls = [1, 2, 3, 4, 5].map((item) => batcher.submit(item));
    for (let i = 0; i < 5; i++) stall();
    expect(runs.batches).toEqual([[1], [2], [3]]);
    await runs.endOldest();
    expect(runs.batches).toEqual([[1], [2], [3], [4]]);
    for (let i = 0; i < 4; i++) await runs.endOldest();
    expect(await Promise.all(calls)).toEqual([2, 4, 6, 8, 10]);
  });

  it('starts the next batch when a batch stalls, and runs a call that arrives later immediately', async () => {
    const runs = new Runs();
    const batcher = new Batcher({ run: runs.run, maxSize: 10 });
    const calls = [batcher.submit(1), batcher.submit(2)];
    stall();
    expect(runs.batches).toEqual([[1], [2]]);
    stall();
    calls.push(batcher.submit(3));
    expect(runs.batches).toEqual([[1], [2], [3]]);
    for (let i = 0; i < 3; i++) await runs.endOldest();
    expect(await Promise.all(calls)).toEqual([2, 4, 6]);
  });

  it('starts another batch as soon as `maxWaiting` calls wait, but only one at a time', async () => {
    const runs = new Runs();
    const batcher = new Batcher({ run: runs.run, maxSize: 10, maxWaiting: 2, slots: new BatchSlots(3) });
    const calls = [1, 2, 3, 4].map((item) => batcher.submit(item));
    expect(runs.batches).toEqual([[1], [2, 3]]);
    await runs.endOldest();
    // The latest batch is still running.
    expect(runs.batches).toEqual([[1], [2, 3]]);
    calls.push(batcher.submit(5), batcher.submit(6));
    expect(runs.batches).toEqual([[1], [2, 3], [4, 5]]);
    await runs.endOldest();
    await runs.endOldest();
    expect(runs.batches).toEqual([[1], [2, 3], [4, 5], [6]]);
    await runs.endOldest();
    expect(await Promise.all(calls)).toEqual([2, 4, 6, 8, 10, 12]);
  });

  it('does not start another batch without a free slot', async () => {
    const runs = new Runs();
    const batcher = new Batcher({ run: runs.run, maxSize: 10, maxWaiting: 2, slots: new BatchSlots(1) });
    const calls = [1, 2, 3, 4].map((item) => batcher.submit(item));
    expect(runs.batches).toEqual([[1]]);
    await runs.endOldest();
    expect(runs.batches).toEqual([[1], [2, 3, 4]]);
    await runs.endOldest();
    expect(await Promise.all(calls)).toEqual([2, 4, 6, 8]);
  });

  it('waits for a shared slot and collects calls meanwhile', async () => {
    const slots = new BatchSlots(1);
    const [one, other] = [new Runs(), new Runs()];
    const batcher = new Batcher({ run: one.run, maxSize: 10, slots });
    const neighbour = new Batcher({ run: other.run, maxSize: 10, slots });
    const calls = [batcher.submit(1), neighbour.submit(2), batcher.submit(3), neighbour.submit(4)];
    expect([one.batches, other.batches]).toEqual([[[1]], []]);
    await one.endOldest();
    expect([one.batches, other.batches]).toEqual([[[1]], [[2, 4]]]);
    await other.endOldest();
    expect(one.batches).toEqual([[1], [3]]);
    await one.endOldest();
    expect(await Promise.all(calls)).toEqual([2, 4, 6, 8]);
    const lone = neighbour.submit(5);
    expect(other.batches).toEqual([[2, 4], [5]]);
    await other.endOldest();
    expect(await lone).toBe(10);
  });

  it('releases its slot once, when its batch stalls', async () => {
    const slots = new BatchSlots(1);
    const runs = [new Runs(), new Runs(), new Runs()] as const;
    const calls = runs.map(({ run }, index) => new Batcher({ run, maxSize: 10, slots }).submit(index));
    const begun = () => runs.map(({ batches }) => batches.length);
    stall();
    expect(begun()).toEqual([1, 1, 0]);
    await runs[0].endOldest();
    expect(begun()).toEqual([1, 1, 0]);
    await runs[1].endOldest();
    expect(begun()).toEqual([1, 1, 1]);
    await runs[2].endOldest();
    expect(await Promise.all(calls)).toEqual([0, 2, 4]);
  });
});
