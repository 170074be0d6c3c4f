import type { Worker } from 'node:cluster';
import { EventEmitter } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { countForWorker, MemoryCounter, SupervisorCounter } from './counters.js';

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

describe('SupervisorCounter', () => {
  const TIMEOUT_MS = 250;
  const send: unknown = Reflect.get(process, 'send');
  let sent: object[];
  let isStopped: boolean;
  let waiting: (() => void)[];
  let counter: SupervisorCounter;

  /** Connects the counter to a supervisor in this process, which can be stopped. */
  beforeEach(() => {
    sent = [];
    waiting = [];
    isStopped = false;
    const toWorker = new EventEmitter();
    const deliver = (receive: () => void) => {
      if (isStopped) waiting.push(receive);
      else setImmediate(receive);
    };
    const worker = Object.assign(new EventEmitter(), {
      isConnected: () => true,
      send: (message: object) => deliver(() => toWorker.emit('message', message)),
    });
    countForWorker(worker as unknown as Worker, new MemoryCounter());
    jest.spyOn(process, 'on').mockImplementation((name, listener) => {
      toWorker.on(name, listener as () => void);
      return process;
    });
    const sendToSupervisor = (message: object) => {
      sent.push(message);
      deliver(() => worker.emit('message', message));
    };
    Object.assign(process, { send: sendToSupervisor, connected: true });
    counter = new SupervisorCounter();
    jest.restoreAllMocks();
  });
  afterEach(() => void Object.assign(process, { send, connected: undefined }));

  const add = (points = 1, key = 'a') => counter.add(key, points);

  it('counts the requests of each key', async () => {
    expect(await Promise.all([add(4), add(3), add(1, 'b')])).toMatchObject([{ points: 4 }, { points: 7 }, { points: 1 }]);
  });

  it('is not waited for while the supervisor is stopped under traffic, and counts again afterwards', async () => {
    isStopped = true;
    const times: number[] = [];
    const client = async () => {
      for (let request = 0; request < 20; request++, await sleep(25)) {
        const begin = performance.now();
        expect(await add()).toBeUndefined();
        times.push(performance.now() - begin);
      }
    };
    await Promise.all(Array.from({ length: 8 }, client));
    expect(times.filter((ms) => ms > TIMEOUT_MS / 2).length).toBeLessThanOrEqual(16);
    // Messages do not pile up.
    expect(sent.length).toBeLessThanOrEqual(16);
    expect((Reflect.get(counter, 'pending') as ReadonlyMap<number, unknown>).size).toBe(0);
    isStopped = false;
    for (const receive of waiting) receive();
    await sleep(10);
    expect(await add()).toMatchObject({ points: sent.length });
  });

  it('counts nothing after the supervisor has ended', async () => {
    Object.assign(process, { connected: false });
    expect(await add()).toBeUndefined();
    expect(sent).toEqual([]);
  });
});
