import { beforeEach, describe, expect, it } from '@jest/globals';
import { fastify } from 'fastify';
import type { Pool } from 'pg';
import { measureRequests, Metrics } from './metrics.js';

let metrics: Metrics;

beforeEach(() => {
  metrics = new Metrics();
});

/** Returns the samples of one metric, without those of buckets, as `labels value`. */
async function samplesOf(name: string): Promise<string[]> {
  const lines = (await metrics.registry.getSingleMetricAsString(name)).split('\n');
  return lines.filter((line) => !line.startsWith('#') && !line.includes('_bucket{')).map((line) => line.slice(name.length));
}

describe('the metrics of requests', () => {
  interface Response {
    readonly method?: 'GET' | 'POST';
    readonly status?: number;
    readonly operation?: string;
    readonly errorCode?: string;
    readonly replayed?: boolean;
    readonly elapsedMs?: number;
  }

  /** Sends one request for each response. */
  async function measure(...responses: readonly Response[]): Promise<void> {
    const server = fastify();
    let next = 0;
    measureRequests(server, metrics);
    server.route({
      method: ['GET', 'POST'],
      url: '/',
      handler: (request, reply) => {
        const { status = 200, operation, errorCode, replayed, elapsedMs = 1 } = responses[next++] ?? {};
        Object.assign(request, { operation, errorCode });
        Object.defineProperty(reply, 'elapsedTime', { value: elapsedMs });
        if (replayed) reply.header('idempotent-replayed', 'true');
        return reply.code(status).send();
      },
    });
    for (const { method = 'GET' } of responses) await server.inject({ method, url: '/' });
    await server.close();
  }

  it('are durations in seconds, by operation and status', async () => {
    const list = { operation: 'listPets' };
    await measure({ ...list, elapsedMs: 250 }, { ...list, elapsedMs: 1_500 }, { ...list, status: 503, elapsedMs: 4 }, { elapsedMs: 20 });
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

  it('count replays of creations, but no errors', async () => {
    const replay = { method: 'POST', replayed: true } as const;
    await measure(replay, { ...replay, method: 'GET' }, { ...replay, errorCode: 'pet_not_found' }, { method: 'POST' });
    expect(await samplesOf('idempotent_replays_total')).toEqual([' 1']);
  });

  it('count rejected keys by code, and rate-limited requests', async () => {
    const codes = ['missing_api_key', 'invalid_api_key', 'invalid_api_key', 'insufficient_scope', 'pet_not_found'];
    await measure(...codes.map((errorCode) => ({ errorCode })), { errorCode: 'rate_limited', status: 429 });
    expect(await samplesOf('api_keys_rejected_total')).toEqual([
      '{code="missing_api_key"} 1',
      '{code="invalid_api_key"} 2',
      '{code="insufficient_scope"} 1',
    ]);
    expect(await samplesOf('http_requests_rate_limited_total')).toEqual([' 1']);
  });
});

it('the pool has idle and used connections, and waiting statements; none while it is closed', async () => {
  let pool: Pool | undefined = { totalCount: 7, idleCount: 2, waitingCount: 4 } as Pool;
  metrics.observePool(() => pool);
  expect(await samplesOf('database_pool_connections')).toEqual(['{state="idle"} 2', '{state="used"} 5']);
  expect(await samplesOf('database_pool_waiting')).toEqual([' 4']);
  pool = undefined;
  expect(await samplesOf('database_pool_connections')).toEqual(['{state="idle"} 0', '{state="used"} 0']);
  expect(await samplesOf('database_pool_waiting')).toEqual([' 0']);
});

it('the process is ready or not, with the reason', async () => {
  let reason: string | undefined;
  metrics.observeReadiness(['database', 'draining'], async () => reason);
  const reasons = async () => (await samplesOf('service_not_ready')).filter((sample) => !sample.endsWith(' 0'));
  expect([await samplesOf('service_ready'), await reasons()]).toEqual([[' 1'], []]);
  reason = 'database';
  expect([await samplesOf('service_ready'), await reasons()]).toEqual([[' 0'], ['{reason="database"} 1']]);
  reason = 'draining';
  expect(await reasons()).toEqual(['{reason="draining"} 1']);
});

it('a subscription that has been forgotten has no metrics any more', async () => {
  const status = { name: 'stock', lag: 7, lagSeconds: 90, parked: 2, attempts: 1 };
  metrics.setSubscriptions([status, { ...status, name: 'mail' }]);
  metrics.setSubscriptions([{ ...status, lag: 0 }]);
  for (const [name, value] of Object.entries({ lag_events: 0, lag_seconds: 90, parked_events: 2 }))
    expect(await samplesOf(`event_subscription_${name}`)).toEqual([`{subscription="stock"} ${String(value)}`]);
});

it('counts dropped log lines without adding them again at each scrape', async () => {
  const metrics = new Metrics();
  let dropped = 0;
  metrics.observeLog(() => dropped);
  for (dropped of [0, 7, 7, 9]) expect(await metrics.registry.metrics()).toContain(`log_lines_dropped_total ${String(dropped)}\n`);
});
