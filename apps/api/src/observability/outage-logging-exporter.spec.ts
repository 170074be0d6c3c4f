import { expect, it } from '@jest/globals';
import type { SpanExporter } from '@opentelemetry/sdk-trace';
import { pino } from 'pino';
import { OutageLoggingExporter } from './outage-logging-exporter.js';

const SUCCESS = { code: 0 };
const FAILURE = { code: 1, error: new Error('connect ECONNREFUSED') };

it('logs the start and the end of an outage once each', () => {
  const results = [SUCCESS, FAILURE, FAILURE, FAILURE, SUCCESS, SUCCESS, FAILURE];
  const pending = [...results];
  const exporter: SpanExporter = { export: (_spans, done) => done(pending.shift() ?? SUCCESS), shutdown: () => Promise.resolve() };
  const lines: object[] = [];
  const log = new OutageLoggingExporter(
    exporter,
    pino({ base: null, timestamp: false }, { write: (line) => lines.push(JSON.parse(line) as object) }),
  );
  const reported: object[] = [];
  results.forEach(() => log.export([], (result) => reported.push(result)));
  expect(reported).toEqual(results);
  expect(lines).toEqual([
    { level: 40, reason: 'connect ECONNREFUSED', msg: 'traces are not exported' },
    { level: 30, msg: 'traces are exported again' },
    { level: 40, reason: 'connect ECONNREFUSED', msg: 'traces are not exported' },
  ]);
});

it('shuts down the exporter', async () => {
  let isDown = false;
  const exporter: SpanExporter = { export: () => undefined, shutdown: () => Promise.resolve(void (isDown = true)) };
  await new OutageLoggingExporter(exporter, pino({ level: 'silent' })).shutdown();
  expect(isDown).toBe(true);
});
