import type { Worker } from 'node:cluster';
import { EventEmitter } from 'node:events';
import { beforeEach, expect, it } from '@jest/globals';
import { Counter, Gauge, Histogram, Registry } from 'prom-client';
import { WorkerMetrics } from './worker-metrics.js';

const TIMEOUT_MS = 20;

/** A worker that responds with its metrics, unless it hangs. */
class StubWorker extends EventEmitter {
  readonly registry = new Registry();
  readonly requests = new Counter({ name: 'requests_total', help: 'h', labelNames: ['status'], registers: [this.registry] });
  readonly durations = new Histogram({ name: 'duration_seconds', help: 'h', buckets: [1], registers: [this.registry] });
  readonly connections = new Gauge({ name: 'connections', help: 'h', registers: [this.registry] });
  isHung = false;
  isClosed = false;

  constructor(count: number) {
    super();
    this.count(count);
    this.connections.set(count);
  }

  count(count: number): void {
    this.requests.inc({ status: '200' }, count);
    for (let i = 0; i < count; i++) this.durations.observe(0.5);
  }

  send(_request: object, callback: (error: Error | null) => void): void {
    callback(this.isClosed ? new Error('channel closed') : null);
    if (this.isHung || this.isClosed) return;
    // As node:cluster sends it.
    void this.registry.getMetricsAsJSON().then((metrics) => this.emit('message', JSON.parse(JSON.stringify({ metrics })) as unknown));
  }
}

let one: StubWorker;
let two: StubWorker;
let metrics: WorkerMetrics;
beforeEach(() => {
  [one, two] = [new StubWorker(400), new StubWorker(100)];
  metrics = new WorkerMetrics(TIMEOUT_MS);
});

/** Returns the sum of the requests, the count of the durations and the number of connections. */
async function collect(...workers: StubWorker[]): Promise<unknown[]> {
  const text = await metrics.collect(workers as unknown as Worker[]);
  const value = (name: string) => Number(new RegExp(`^${name}(?:{.*})? (\\S+)$`, 'm').exec(text)?.[1]);
  return [value('requests_total'), value('duration_seconds_count'), value('connections')];
}

const end = (worker: StubWorker) => metrics.end(worker as unknown as Worker);

it('adds the counters and histograms of workers that have ended, but not their gauges', async () => {
  expect(await collect(one, two)).toEqual([500, 500, 500]);
  end(one);
  expect(await collect(two)).toEqual([500, 500, 100]);
  const replacement = new StubWorker(7);
  expect(await collect(two, replacement)).toEqual([507, 507, 107]);
  end(two);
  end(replacement);
  expect(await collect()).toEqual([507, 507, Number.NaN]);
});

it('loses only what an ended worker has counted since it last reported', async () => {
  await collect(one, two);
  one.count(50);
  end(one);
  expect(await collect(two)).toEqual([500, 500, 100]);
  const unread = new StubWorker(9);
  end(unread);
  expect(await collect(two)).toEqual([500, 500, 100]);
});

it('uses the last values of a worker that does not respond', async () => {
  await collect(one, two);
  one.isHung = true;
  two.count(1);
  expect(await collect(one, two)).toEqual([501, 501, 500]);
  end(one);
  expect(await collect(two)).toEqual([501, 501, 100]);
});

it('does not wait for a worker that ends, or whose channel is closed', async () => {
  metrics = new WorkerMetrics(60_000);
  two.isClosed = true;
  one.isHung = true;
  const collected = collect(one, two);
  one.emit('exit', null, 'SIGKILL');
  expect(await collected).toEqual([Number.NaN, Number.NaN, Number.NaN]);
  expect(one.listenerCount('message') + two.listenerCount('message')).toBe(0);
});
