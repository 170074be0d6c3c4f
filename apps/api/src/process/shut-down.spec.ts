import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { beforeEach, expect, it } from '@jest/globals';
import { pino } from 'pino';
import { Draining } from '../http/connection.js';
import { shutDown, type ShutdownOptions } from './shut-down.js';

const LONG = 300_000;
const SHORT = 1;

let draining: Draining;
/** What happened, in order. */
let events: string[];
let closed: PromiseWithResolvers<void>;
let onCut: () => void;

beforeEach(() => {
  [draining, events, closed] = [new Draining(), [], Promise.withResolvers<void>()];
  onCut = () => undefined;
});

const logger = pino({}, { write: (line: string) => void events.push((JSON.parse(line) as { msg: string }).msg) });

function run(options: Partial<ShutdownOptions>): Promise<void> {
  const app = {
    get: () => draining,
    close: () => {
      events.push(draining.isActive ? 'close while draining' : 'close');
      return closed.promise;
    },
    getHttpServer: () => ({
      closeAllConnections: () => {
        events.push('cut');
        onCut();
      },
    }),
  };
  const all = { graceMs: 0, endGracePeriod: new AbortController().signal, logger, finishTimeoutMs: LONG, closeTimeoutMs: LONG, ...options };
  return shutDown(app as unknown as NestFastifyApplication, all);
}

it('drains, closes the app, and finishes its requests', async () => {
  const done = run({}).then(() => events.push('done'));
  closed.resolve();
  await done;
  expect(events).toEqual(['draining', 'close while draining', 'stopped', 'done']);
});

it('is not ready during the grace period, which can be ended early', async () => {
  const grace = new AbortController();
  const done = run({ graceMs: LONG, endGracePeriod: grace.signal });
  expect([draining.isActive, events]).toEqual([true, ['draining']]);
  grace.abort();
  closed.resolve();
  await done;
  expect(events).toEqual(['draining', 'close while draining', 'stopped']);
});

it('closes after the grace period', async () => {
  closed.resolve();
  await run({ graceMs: SHORT });
  expect(events).toEqual(['draining', 'close while draining', 'stopped']);
});

it('cuts off requests that do not finish in time, and waits until the app is closed', async () => {
  onCut = () =>
    setImmediate(() => {
      events.push('closed');
      closed.resolve();
    });
  await run({ finishTimeoutMs: SHORT });
  expect(events).toEqual([
    ...['draining', 'close while draining', 'requests or jobs did not finish in time; closing connections', 'cut', 'closed', 'stopped'],
  ]);
});

it('stops even if the app does not close', async () => {
  await run({ finishTimeoutMs: SHORT, closeTimeoutMs: SHORT });
  expect(events.at(-1)).toBe('stopped');
});
