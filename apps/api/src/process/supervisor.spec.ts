import cluster, { type Worker } from 'node:cluster';
import { waitFor } from '@animal-store/local-postgres/testing';
import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { type Logger, pino } from 'pino';
import { EX_CONFIG } from './startup-error.js';
import { Supervisor } from './supervisor.js';
import { StubWorker } from './testing/stub-worker.js';
import { findWorkerPort } from './worker-port.js';
import type { GroupState, WorkerReport } from './worker-messages.js';

const GRACE_MS = 60_000;
const KILL_AFTER_MS = 30_000;
const KILL_TIMEOUT_MS = 5_000;
const MAX_SILENCE_MS = 15_000;
const MAX_START_MS = 60_000;

const FAKEABLE = [
  ...(['setTimeout', 'clearTimeout', 'setInterval', 'clearInterval', 'setImmediate', 'clearImmediate'] as const),
  ...(['Date', 'hrtime', 'nextTick', 'performance', 'queueMicrotask'] as const),
];

interface Pause {
  readonly ms: number;
  readonly end: () => void;
}

let address: WorkerReport['listening'];
let workers: StubWorker[];
let pauses: Pause[];
let messages: string[];
let onGiveUp: jest.Mock<() => void>;
let supervisor: Supervisor;
let env: unknown;

beforeEach(async () => {
  // Only the check of silent workers uses intervals.
  jest.useFakeTimers({ doNotFake: FAKEABLE.filter((name) => !name.endsWith('Interval')) });
  address = { address: '127.0.0.1', port: await findWorkerPort('127.0.0.1'), family: 'IPv4' };
  [workers, pauses, messages] = [[], [], []];
  onGiveUp = jest.fn();
  jest.spyOn(cluster, 'fork').mockImplementation((given) => {
    env = given;
    return workers[workers.push(new StubWorker()) - 1] as unknown as Worker;
  });
  const sleep = (ms: number, _value: undefined, { signal }: { readonly signal: AbortSignal }) =>
    new Promise<void>((resolve, reject) => {
      pauses.push({ ms, end: resolve });
      signal.addEventListener('abort', () => reject(signal.reason as Error));
    });
  const logger: Logger = pino({}, { write: (line: string) => void messages.push((JSON.parse(line) as { msg: string }).msg) });
  const { port } = address;
  const options = { workers: 2, exec: 'main.js', env: { HOST: 'h' }, host: '127.0.0.1', port, sleep, logger, onGiveUp };
  supervisor = new Supervisor(options);
});

afterEach(async () => {
  const stopped = supervisor.stop('SIGTERM');
  for (const each of workers) each.exit(0);
  await stopped;
  jest.restoreAllMocks();
  jest.useRealTimers();
});

const settle = () => new Promise(setImmediate);
const [FIRST, SECOND] = [0, 1] as const;
const worker = (index: number) => workers[index] as StubWorker;
const metric = async (name: string) => new RegExp(`^${name} (\\d+)$`, 'm').exec(await supervisor.metrics())?.[1];

/** Starts two workers that listen. */
async function start(): Promise<void> {
  const started = supervisor.start();
  for (const index of [FIRST, SECOND]) {
    await waitFor(() => expect(workers).toHaveLength(index + 1));
    worker(index).listen(address);
  }
  expect(await started).toBe(address);
}

/** Ends the worker and waits until a replacement has started, if there is one. */
async function exit(index: number, code: number | null, signal?: string): Promise<void> {
  worker(index).exit(code, signal);
  await settle();
}

it('starts the second worker after the first one listens, on the same port', async () => {
  const started = supervisor.start();
  await waitFor(() => expect(workers).toHaveLength(1));
  worker(FIRST).listen(address);
  await settle();
  expect(workers).toHaveLength(2);
  expect(env).toEqual({ HOST: 'h', PORT: String(address?.port) });
  await exit(SECOND, 1);
  expect(worker(FIRST).signals).toEqual(['SIGTERM']);
  worker(FIRST).exit(0);
  await expect(started).rejects.toThrow('The workers could not start; the cause is logged above.');
});

describe('stopping', () => {
  it('waits for all workers, and kills those that hang 30 seconds after the grace period', async () => {
    await start();
    let isStopped = false;
    const stopped = supervisor.stop('SIGTERM', GRACE_MS).then(() => (isStopped = true));
    expect(pauses.map(({ ms }) => ms)).toEqual([GRACE_MS + KILL_AFTER_MS]);
    await exit(FIRST, 0);
    expect([isStopped, worker(SECOND).signals]).toEqual([false, ['SIGTERM']]);
    pauses[0]?.end();
    await settle();
    expect([worker(FIRST).signals, worker(SECOND).signals]).toEqual([['SIGTERM'], ['SIGTERM', 'SIGKILL']]);
    expect(isStopped).toBe(false);
    await exit(SECOND, null, 'SIGKILL');
    await stopped;
    expect(workers).toHaveLength(2);
    expect(messages).toEqual([]);
  });

  it('does not wait longer than 5 seconds for a killed worker', async () => {
    await start();
    const stopped = supervisor.stop('SIGTERM');
    pauses[0]?.end();
    await settle();
    expect(pauses.map(({ ms }) => ms)).toEqual([KILL_AFTER_MS, KILL_TIMEOUT_MS]);
    pauses[1]?.end();
    await stopped;
  });

  it('kills no worker if all end in time, and ends a pause before a replacement', async () => {
    await start();
    await exit(FIRST, 1);
    expect(pauses.map(({ ms }) => ms)).toEqual([100]);
    const stopped = supervisor.stop('SIGINT');
    worker(SECOND).exit(0);
    await stopped;
    expect(worker(SECOND).signals).toEqual(['SIGINT']);
    expect(workers).toHaveLength(2);
  });
});

describe('a worker that ends', () => {
  it('is replaced immediately if it was ready', async () => {
    await start();
    worker(FIRST).report('ready');
    expect([await metric('workers'), await metric('workers_ready'), await metric('worker_restarts_total')]).toEqual(['2', '1', '0']);
    await exit(FIRST, null, 'SIGSEGV');
    expect(workers).toHaveLength(3);
    expect(pauses).toEqual([]);
    expect(messages).toEqual(['a worker ended unexpectedly']);
    expect([await metric('workers'), await metric('workers_ready'), await metric('worker_restarts_total')]).toEqual(['2', '0', '1']);
  });

  it('is replaced after a pause if it was not ready, which doubles up to 2 seconds until a worker is ready', async () => {
    await start();
    for (let i = 0; i < 7; i++) {
      await exit(i === 0 ? FIRST : workers.length - 1, 1);
      pauses[i]?.end();
      await settle();
    }
    expect(pauses.map(({ ms }) => ms)).toEqual([100, 200, 400, 800, 1_600, 2_000, 2_000]);
    expect(workers).toHaveLength(9);
    worker(SECOND).report('ready');
    await exit(workers.length - 1, 1);
    expect(pauses.at(-1)?.ms).toBe(100);
  });
});

describe('a worker that cannot be forked', () => {
  it('is forked again until it can be, and is not waited for', async () => {
    await start();
    worker(FIRST).report('ready');
    worker(SECOND).report('ready');
    await exit(FIRST, null, 'SIGKILL');
    for (let failures = 1; failures <= 7; failures++) {
      worker(workers.length - 1).fail('EAGAIN');
      await settle();
      pauses.at(-1)?.end();
      await settle();
      expect(workers).toHaveLength(3 + failures);
    }
    expect(pauses.map(({ ms }) => ms)).toEqual([100, 200, 400, 800, 1_600, 2_000, 2_000]);
    expect(await metric('workers')).toBe('2');
    worker(workers.length - 1).listen(address);
    worker(workers.length - 1).report('ready');
    expect([await metric('workers_ready'), onGiveUp.mock.calls]).toEqual(['2', []]);
    expect(messages.slice(0, 2)).toEqual(['a worker ended unexpectedly', 'a worker process could not be started']);
    worker(workers.length - 1).exit(0);
  });

  it('is forked again if the attempt throws', async () => {
    await start();
    jest.spyOn(cluster, 'fork').mockImplementationOnce(() => {
      throw Object.assign(new Error('spawn ENOMEM'), { code: 'ENOMEM' });
    });
    worker(FIRST).report('ready');
    await exit(FIRST, null, 'SIGKILL');
    expect(workers).toHaveLength(2);
    pauses.at(-1)?.end();
    await settle();
    expect(workers).toHaveLength(3);
  });

  it('is forked up to five times at the start; then the start fails', async () => {
    const started = supervisor.start();
    const outcome = expect(started).rejects.toThrow('A worker process could not be started: spawn node EMFILE');
    for (let fork = 1; fork <= 5; fork++) {
      await waitFor(() => expect(workers).toHaveLength(fork));
      worker(fork - 1).fail('EMFILE');
      await settle();
      pauses.at(-1)?.end();
    }
    await outcome;
    expect(workers).toHaveLength(5);
  });
});

describe('a worker that hangs', () => {
  it('is killed after 15 seconds without a report, and replaced', async () => {
    await start();
    jest.advanceTimersByTime(MAX_SILENCE_MS - 1_000);
    expect(worker(FIRST).signals).toEqual([]);
    worker(SECOND).beat();
    jest.advanceTimersByTime(MAX_SILENCE_MS - 1_000);
    expect([worker(FIRST).signals, worker(SECOND).signals, messages]).toEqual([
      ...[['SIGKILL'], [], ['a worker does not respond; killing it']],
    ]);
    await exit(FIRST, null, 'SIGKILL');
    pauses[0]?.end();
    await settle();
    expect(workers).toHaveLength(3);
  });

  it('is killed if it does not listen within a minute: the start fails', async () => {
    const started = supervisor.start();
    const outcome = expect(started).rejects.toThrow('The workers could not start; the cause is logged above.');
    await waitFor(() => expect(workers).toHaveLength(1));
    jest.advanceTimersByTime(MAX_START_MS - 1_000);
    worker(FIRST).beat();
    expect(worker(FIRST).signals).toEqual([]);
    jest.advanceTimersByTime(1_000);
    expect(worker(FIRST).signals).toEqual(['SIGKILL']);
    worker(FIRST).exit(null, 'SIGKILL');
    await outcome;
    expect(jest.getTimerCount()).toBe(0);
  });

  it('is also killed while the service stops', async () => {
    await start();
    const stopped = supervisor.stop('SIGTERM', GRACE_MS);
    jest.advanceTimersByTime(MAX_SILENCE_MS);
    expect(worker(FIRST).signals).toEqual(['SIGTERM', 'SIGKILL']);
    worker(FIRST).exit(null, 'SIGKILL');
    worker(SECOND).exit(0);
    await stopped;
  });

  it('is also killed while the service stops if it does not listen yet', async () => {
    const outcome = expect(supervisor.start()).rejects.toThrow('The workers could not start');
    await waitFor(() => expect(workers).toHaveLength(1));
    const stopped = supervisor.stop('SIGTERM');
    jest.advanceTimersByTime(MAX_SILENCE_MS);
    expect(worker(FIRST).signals).toEqual(['SIGTERM', 'SIGKILL']);
    worker(FIRST).exit(null, 'SIGKILL');
    await Promise.all([stopped, outcome]);
  });
});

describe('the first reports', () => {
  /** Whether the first reports are complete, and whether all workers are ready. */
  const state = async () => {
    const done = { reported: false, ready: false };
    void supervisor.reported.then(() => (done.reported = true));
    void supervisor.ready.then(() => (done.ready = true));
    await settle();
    return done;
  };

  it('are complete when all workers are ready', async () => {
    await start();
    worker(FIRST).report('ready');
    worker(FIRST).report('ready');
    expect(await state()).toEqual({ reported: false, ready: false });
    worker(SECOND).report('ready');
    expect(await state()).toEqual({ reported: true, ready: true });
  });

  it('are complete when one worker waits for the database', async () => {
    await start();
    worker(SECOND).report('waiting');
    expect(await state()).toEqual({ reported: true, ready: false });
    expect(await metric('workers_ready')).toBe('0');
  });
});

it('reports to each worker whether all are ready, also after one was replaced', async () => {
  const isReported = () => workers.map(({ sent }) => (sent.at(-1) as GroupState | undefined)?.areWorkersReady);
  await start();
  worker(FIRST).report('waiting');
  worker(FIRST).report('ready');
  expect(isReported()).toEqual([false, false]);
  worker(SECOND).report('ready');
  expect(isReported()).toEqual([true, true]);
  await exit(FIRST, null, 'SIGKILL');
  expect(isReported().slice(1)).toEqual([false, undefined]);
  worker(2).report('ready');
  expect(isReported().slice(1)).toEqual([true, true]);
});

describe('giving up', () => {
  it('stops the other workers if one cannot start because of its configuration, unless a worker was ready before', async () => {
    await start();
    await exit(FIRST, EX_CONFIG);
    expect(messages).toEqual(['a worker ended unexpectedly', 'the workers cannot start; stopping the service']);
    expect(onGiveUp).not.toHaveBeenCalled();
    await exit(SECOND, 0);
    expect(onGiveUp).toHaveBeenCalledTimes(1);
    expect(workers).toHaveLength(2);
  });

  it('does not stop a service that was ready', async () => {
    await start();
    worker(SECOND).report('ready');
    await exit(FIRST, EX_CONFIG);
    expect(pauses.map(({ ms }) => ms)).toEqual([100]);
    expect(messages).toEqual(['a worker ended unexpectedly']);
  });

  it('does not stop for workers that end before they are ready, as during an outage of the database', async () => {
    await start();
    for (let exits = 0; exits < 15; exits++) {
      await exit(workers.length - 1, 1);
      pauses.at(-1)?.end();
      await settle();
    }
    expect(workers).toHaveLength(17);
    expect(new Set(messages)).toEqual(new Set(['a worker ended unexpectedly']));
  });

  it('stops after more than 10 crashes of ready workers', async () => {
    await start();
    for (let crash = 1; crash <= 11; crash++) {
      const last = workers.length - 1;
      worker(last).report('ready');
      await exit(last, 1);
      expect(workers).toHaveLength(Math.min(2 + crash, 12));
    }
    expect(messages.at(-1)).toBe('the workers crash repeatedly; stopping the service');
    expect(worker(FIRST).signals).toEqual(['SIGTERM']);
    await exit(FIRST, 0);
    expect(onGiveUp).toHaveBeenCalledTimes(1);
  });

  it('does not stop after crashes of more than a minute', async () => {
    await start();
    const now = jest.spyOn(performance, 'now');
    for (let crash = 0; crash <= 10; crash++) {
      now.mockReturnValue(crash * 6_001);
      worker(workers.length - 1).report('ready');
      await exit(workers.length - 1, 1);
    }
    expect(workers).toHaveLength(13);
    now.mockReturnValue(10 * 6_001);
    worker(workers.length - 1).report('ready');
    await exit(workers.length - 1, 1);
    expect(messages.at(-1)).toBe('the workers crash repeatedly; stopping the service');
  });
});
