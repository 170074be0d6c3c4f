import type { Worker } from 'node:cluster';
import { EventEmitter } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeEach, expect, it, jest } from '@jest/globals';
import { FixedWindows } from './fixed-windows.js';
import { countForWorker, SupervisorCounter } from './supervisor-counter.js';

const WINDOW_MS = 60_000;
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
  countForWorker(worker as unknown as Worker, new FixedWindows());
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

const add = (points = 1, key = 'a') => counter.add(key, points, WINDOW_MS);

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
