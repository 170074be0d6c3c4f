import { afterEach, beforeEach, expect, it, jest } from '@jest/globals';
import { createLogger } from './logger.js';
import { Metrics } from './metrics.js';
import { ShedRequests } from './shed-requests.js';

let lines: string[];
let metrics: Metrics;
let shed: ShedRequests;

beforeEach(() => {
  lines = [];
  metrics = new Metrics();
  shed = new ShedRequests(metrics, createLogger('info', { write: (line: string) => void lines.push(line) }));
});
afterEach(() => void jest.restoreAllMocks());

it('logs each reason once in 10 s, and counts every request', async () => {
  const now = jest.spyOn(performance, 'now');
  for (const ms of [0, 9_999, 10_000]) {
    now.mockReturnValue(ms);
    for (const reason of ['in_flight', 'event_loop_lag']) shed.count(reason);
  }
  const logged = lines.map((line) => JSON.parse(line) as Record<string, unknown>);
  expect(logged.map(({ level, reason }) => `${String(level)} ${String(reason)}`)).toEqual([
    ...['40 in_flight', '40 event_loop_lag', '40 in_flight', '40 event_loop_lag'],
  ]);
  expect((await metrics.requestsShed.get()).values.map(({ value }) => value)).toEqual([3, 3]);
});
