import { afterEach, beforeEach, expect, it, jest } from '@jest/globals';
import { createLogger } from './logger.js';
import { Metrics } from './metrics.js';
import { ShedRequests } from './shed-requests.js';

let lines: string[];
let metrics: Metrics;
let shed: ShedRequests;

beforeEach(() => {
  jest.useFakeTimers();
  lines = [];
  metrics = new Metrics();
  shed = new ShedRequests(metrics, createLogger('info', { write: (line: string) => void lines.push(line) }));
});
afterEach(() => void jest.useRealTimers());

const logged = () =>
  lines.splice(0).map((line) => {
    const { level, reason, count } = JSON.parse(line) as Record<string, unknown>;
    return { level, reason, count };
  });
const count = (reason: string, times: number) => {
  for (let i = 0; i < times; i++) shed.count(reason);
};

it.each(['in_flight', 'event_loop_lag', 'connections'])('logs the first request rejected because of %s as a warning', (reason) => {
  shed.count(reason);
  expect(logged()).toEqual([{ level: 40, reason, count: 1 }]);
});

it('logs a line for each reason every 10 s, with the requests since the last line, and none without requests', () => {
  count('in_flight', 1_000);
  count('connections', 2);
  expect(logged()).toHaveLength(2);
  jest.advanceTimersByTime(9_999);
  expect(logged()).toEqual([]);
  jest.advanceTimersByTime(1);
  expect(logged()).toEqual([
    { level: 40, reason: 'in_flight', count: 999 },
    { level: 40, reason: 'connections', count: 1 },
  ]);
  jest.advanceTimersByTime(60_000);
  expect(logged()).toEqual([]);
  shed.count('in_flight');
  expect(logged()).toEqual([{ level: 40, reason: 'in_flight', count: 1 }]);
});

it('only counts requests that are rejected because of their client', async () => {
  count('pipelined', 2);
  count('slow_headers', 1);
  expect(logged()).toEqual([]);
  expect((await metrics.requestsShed.get()).values).toMatchObject([
    { labels: { reason: 'pipelined' }, value: 2 },
    { labels: { reason: 'slow_headers' }, value: 1 },
  ]);
});
