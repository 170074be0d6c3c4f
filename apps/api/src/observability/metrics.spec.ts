import { afterEach, beforeEach, expect, it, jest } from '@jest/globals';
import { fastify } from 'fastify';
import { createLogger, requestIds } from './logger.js';
import { Metrics } from './metrics.js';
import { startObservability } from './observability.js';
import { observeResponses } from './request-hooks.js';
import { shedCounter } from './shed-requests.js';

let metrics: Metrics;

beforeEach(() => {
  metrics = new Metrics();
});

/** Returns the samples of one metric, without those of buckets, as `labels value`. */
async function samplesOf(name: string): Promise<string[]> {
  const lines = (await metrics.registry.getSingleMetricAsString(name)).split('\n');
  return lines.filter((line) => !line.startsWith('#') && !line.includes('_bucket{')).map((line) => line.slice(name.length));
}

it('the durations of requests are in seconds, by operation and status', async () => {
  const responses = [
    { operation: 'listPets', status: 200, elapsedMs: 250 },
    { operation: 'listPets', status: 200, elapsedMs: 1_500 },
    { operation: 'listPets', status: 503, elapsedMs: 4 },
    { operation: undefined, status: 200, elapsedMs: 20 },
  ];
  const server = fastify();
  let next = 0;
  observeResponses(server, createLogger('silent'), metrics, 1);
  server.get('/', (request, reply) => {
    const { operation, status, elapsedMs } = responses[next++] ?? {};
    request.operation = operation;
    Object.defineProperty(reply, 'elapsedTime', { value: elapsedMs });
    return reply.code(status ?? 500).send();
  });
  while (next < responses.length) await server.inject('/');
  await server.close();
  expect(await samplesOf('http_request_duration_seconds')).toEqual([
    '_sum{operation="listPets",status="200"} 1.75',
    '_count{operation="listPets",status="200"} 2',
    '_sum{operation="listPets",status="503"} 0.004',
    '_count{operation="listPets",status="503"} 1',
    '_sum{operation="none",status="200"} 0.02',
    '_count{operation="none",status="200"} 1',
  ]);
  const buckets = await metrics.registry.getSingleMetricAsString('http_request_duration_seconds');
  expect(buckets).toContain('_bucket{le="0.25",operation="listPets",status="200"} 1\n');
  expect(buckets).toContain('_bucket{le="0.1",operation="listPets",status="200"} 0\n');
});

it('a subscription that has been forgotten has no metrics any more', async () => {
  const status = { name: 'stock', lag: 7, lagSeconds: 90, parked: 2, attempts: 1 };
  metrics.setSubscriptions([status, { ...status, name: 'mail' }]);
  metrics.setSubscriptions([status]);
  for (const [name, value] of Object.entries({ lag_seconds: 90, parked_events: 2 }))
    expect(await samplesOf(`event_subscription_${name}`)).toEqual([`{subscription="stock"} ${String(value)}`]);
});

it('measures prepared statements, whether they succeed or fail, and logs those of a request', async () => {
  const config = { logSql: true, otelExporterOtlpEndpoint: undefined, otelTracesSamplerArg: 1 };
  const logger = createLogger('info', { write: (line: string) => void lines.push(line) });
  const { metrics: measured, interceptor } = await startObservability(config, logger);
  const now = jest.spyOn(performance, 'now');
  for (const ms of [1_000, 3_500, 10, 10, 20, 20]) now.mockReturnValueOnce(ms);
  await interceptor({ name: 'pick', batchSize: 4, text: 'SELECT' }, () => Promise.resolve());
  const failing = requestIds.run('r1', () => interceptor({ name: 'pick', text: 'SELECT' }, () => Promise.reject(new Error('no'))));
  await expect(failing).rejects.toThrow('no');
  expect(lines).toEqual([expect.stringContaining('"requestId":"r1","sql":"SELECT","durationMs":10,"msg":"statement"')]);
  await interceptor({ text: 'SELECT 1' }, () => Promise.resolve());
  const text = await measured.registry.metrics();
  for (const [name, sum] of [
    ['duration_seconds', 2.51],
    ['batch_size', 5],
  ]) {
    expect(text).toContain(`database_statement_${name}_sum{statement="pick"} ${String(sum)}\n`);
    expect(text).toContain(`database_statement_${name}_count{statement="pick"} 2\n`);
  }
});

it('counts dropped log lines without adding them again at each scrape', async () => {
  const output = { write: () => undefined, dropped: 0 };
  const config = { logSql: false, otelExporterOtlpEndpoint: undefined, otelTracesSamplerArg: 1 };
  const { metrics } = await startObservability(config, createLogger('info', output));
  for (output.dropped of [0, 7, 7, 9])
    expect(await metrics.registry.metrics()).toContain(`log_lines_dropped_total ${String(output.dropped)}\n`);
});

let lines: string[];

beforeEach(() => {
  lines = [];
});
afterEach(() => void jest.restoreAllMocks());

it('logs each reason once in 10 s, and counts every request', async () => {
  const countShed = shedCounter(metrics, createLogger('info', { write: (line: string) => void lines.push(line) }));
  const now = jest.spyOn(performance, 'now');
  for (const ms of [0, 9_999, 10_000]) {
    now.mockReturnValue(ms);
    for (const reason of ['in_flight', 'event_loop_lag']) countShed(reason);
  }
  const logged = lines.map((line) => JSON.parse(line) as Record<string, unknown>);
  expect(logged.map(({ level, reason }) => `${String(level)} ${String(reason)}`)).toEqual([
    ...['40 in_flight', '40 event_loop_lag', '40 in_flight', '40 event_loop_lag'],
  ]);
  expect((await metrics.requestsShed.get()).values.map(({ value }) => value)).toEqual([3, 3]);
});
