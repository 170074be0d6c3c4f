import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import type { RedisClient } from './redis-client.js';
import { createSharedCounter, type SharedCounterOptions } from './shared-counter.js';

const OPTIONS: SharedCounterOptions = { name: 'spec', limit: 5, windowMs: 60_000, isWorker: false, redis: undefined };

/** Messages to the primary process. */
const sent: object[] = [];
const send: unknown = Reflect.get(process, 'send');

beforeEach(() => {
  sent.length = 0;
  Object.assign(process, { send: (message: object) => sent.push(message) > 0 });
  // A listener for messages would keep the process of Jest running.
  jest.spyOn(process, 'on').mockReturnValue(process);
});
afterEach(() => {
  jest.restoreAllMocks();
  Object.assign(process, { send });
});

it('of one process counts in memory, also above the limit', async () => {
  const counter = createSharedCounter(OPTIONS);
  expect(await counter.penalty('a', 4)).toMatchObject({ consumedPoints: 4, msBeforeNext: 60_000 });
  expect(await counter.penalty('a', 3)).toMatchObject({ consumedPoints: 7 });
  expect(await counter.penalty('b', 1)).toMatchObject({ consumedPoints: 1 });
});

describe('of several machines', () => {
  /** A Redis client whose script adds to a counter by key. */
  const redisClient = (isReady: boolean) => {
    const counts = new Map<string, number>();
    const evaluate = jest.fn((_script: string, { keys: [key = ''], arguments: [points] }: { keys: string[]; arguments: string[] }) => {
      const count = (counts.get(key) ?? 0) + Number(points);
      counts.set(key, count);
      return Promise.resolve([count, 30_000]);
    });
    return { client: { isReady, eval: evaluate } as unknown as RedisClient, evaluate };
  };

  it.each([false, true])('counts in Redis, also in a worker (%s)', async (isWorker) => {
    const { client, evaluate } = redisClient(true);
    const counter = createSharedCounter({ ...OPTIONS, redis: client, isWorker });
    expect(await counter.penalty('a', 4)).toMatchObject({ consumedPoints: 4, msBeforeNext: 30_000 });
    expect(await counter.penalty('a', 3)).toMatchObject({ consumedPoints: 7 });
    expect(evaluate.mock.lastCall?.[1]).toEqual({ keys: ['spec:a'], arguments: ['3', '60', '5', '60'] });
  });

  it('counts in memory while Redis is not connected, without asking it', async () => {
    const { client, evaluate } = redisClient(false);
    const counter = createSharedCounter({ ...OPTIONS, redis: client });
    await counter.penalty('a', 4);
    expect(await counter.penalty('a', 3)).toMatchObject({ consumedPoints: 7, msBeforeNext: expect.any(Number) });
    expect(evaluate).not.toHaveBeenCalled();
  });

  it('counts in memory if Redis fails', async () => {
    const { client, evaluate } = redisClient(true);
    evaluate.mockImplementation(() => Promise.reject(new Error('lost')));
    expect(await createSharedCounter({ ...OPTIONS, redis: client }).penalty('a', 4)).toMatchObject({ consumedPoints: 4 });
  });
});

it('of a worker asks the primary process, for at most a second', async () => {
  jest.useFakeTimers();
  const counter = createSharedCounter({ ...OPTIONS, isWorker: true });
  expect(sent).toMatchObject([{ type: 'init', opts: { keyPrefix: 'spec', points: 5, duration: 60 } }]);
  let outcome = 'pending';
  counter.penalty('a', 2).then(
    () => undefined,
    () => (outcome = 'rejected'),
  );
  await jest.advanceTimersByTimeAsync(999);
  expect(outcome).toBe('pending');
  await jest.advanceTimersByTimeAsync(1);
  expect(outcome).toBe('rejected');
});
