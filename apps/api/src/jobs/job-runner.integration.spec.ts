import { setTimeout as sleep } from 'node:timers/promises';
import { Database, DatabaseConnection } from '@animal-store/database';
import { waitFor } from '@animal-store/local-postgres/testing';
import { useDatabase } from '@animal-store/test-kit';
import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { Injectable, Module } from '@nestjs/common';
import type { ModuleRef } from '@nestjs/core';
import { pino } from 'pino';
import { DataSource } from 'typeorm';
import { type Context, contexts } from '../contexts.js';
import { Metrics } from '../observability/metrics.js';
import { Draining } from '../sockets/draining.js';
import { startTestApp } from '../testing/test-app.js';
import { startTraceCollector } from '../testing/trace-collector.js';
import { JobRunner, type ScheduledJob } from './job-runner.js';
import { JobsModule } from './jobs.module.js';

const database = useDatabase(JobsModule.persistence);
let runners: JobRunner[];
let lines: Record<string, unknown>[];
let work: () => unknown;

class Work {
  execute(): unknown {
    return work();
  }
}

beforeEach(async () => {
  [runners, lines] = [[], []];
  await database.empty();
});

afterEach(async () => {
  for (const runner of runners) await runner.beforeApplicationShutdown();
});

const job = (every: number): ScheduledJob => ({ name: 'spec', every, useCase: Work });
const messages = (level: number) => lines.filter((line) => line['level'] === level).map(({ msg }) => msg);

/** Starts the runner of a process. */
async function start(jobs: readonly ScheduledJob[], dataSource = database.dataSource) {
  const connection = new DatabaseConnection(dataSource);
  const environment = {
    moduleRef: { get: (useCase: new () => Work) => new useCase() } as unknown as ModuleRef,
    ...{ database: dataSource, connection, draining: new Draining(), metrics: new Metrics() },
    logger: pino({ level: 'debug' }, { write: (line) => void lines.push(JSON.parse(line) as Record<string, unknown>) }),
  };
  const runner = new JobRunner(jobs, environment);
  runners.push(runner);
  runner.onApplicationBootstrap();
  await connection.open();
  const value = async (metric: string) =>
    new RegExp(`^${metric.replaceAll(/[{}]/g, String.raw`\$&`)} (.+)$`, 'm').exec(await environment.metrics.registry.metrics())?.[1];
  return { ...environment, runner, value };
}

// Promise (Events and jobs): A job runs once per period, never twice at once while connected.
it('two processes share one schedule, and runs never overlap', async () => {
  const period = 200;
  const starts: number[] = [];
  let running = 0;
  let maxRunning = 0;
  work = async () => {
    starts.push(performance.now());
    maxRunning = Math.max(maxRunning, ++running);
    await sleep(20);
    running--;
  };
  const { url } = database;
  const other = new Database({ url, applicationName: 'spec', poolSize: 2, persistence: [JobsModule.persistence] });
  await other.initialize();
  await start([job(period)]);
  await start([job(period)], other);
  await waitFor(() => expect(starts.length).toBeGreaterThanOrEqual(5));
  for (const runner of runners) await runner.beforeApplicationShutdown();
  await other.destroy();
  expect(maxRunning).toBe(1);
  const [first = 0, last = 0] = [starts[0], starts.at(-1)];
  // The start of a run is a little later than its time in the table.
  expect((last - first) / (starts.length - 1)).toBeGreaterThan(0.9 * period);
});

// Promise (Events and jobs): A failed job runs again in the next period.
it('a failure is logged, counted, and followed by a run in the next period', async () => {
  let runs = 0;
  work = () => {
    if (++runs === 1) throw Object.assign(new Error('no such order'), { parameters: ['secret'] });
  };
  const { value } = await start([job(100)]);
  await waitFor(() => expect(messages(30)).toContain('job succeeded'));
  expect(await value('job_run_duration_seconds_count{job_name="spec",outcome="failure"}')).toBe('1');
  expect(Number(await value('job_run_duration_seconds_count{job_name="spec",outcome="success"}'))).toBeGreaterThanOrEqual(1);
  expect(await value('job_period_seconds{job_name="spec"}')).toBe('0.1');
  const failed = lines.find(({ msg }) => msg === 'job failed');
  expect(failed).toMatchObject({ level: 50, job: 'spec', durationMs: expect.any(Number), err: { message: 'no such order' } });
  expect(lines.find(({ msg }) => msg === 'job succeeded')).toMatchObject({ job: 'spec', durationMs: expect.any(Number) });
  expect(messages(20)).toContain('job started');
});

it('a process that starts later reports the last success of the deployment', async () => {
  await database.dataSource.query(`INSERT INTO jobs.runs (name, started_at, succeeded_at) VALUES ('spec', now(), '2026-01-01T00:00:00Z')`);
  const { value } = await start([job(60_000)]);
  await waitFor(async () => expect(Number(await value('job_last_success_timestamp_seconds{job_name="spec"}'))).toBe(1_767_225_600));
});

it('without its table, it logs one warning, and runs the job after the table is back', async () => {
  let runs = 0;
  work = () => runs++;
  await database.dataSource.query('ALTER TABLE jobs.runs RENAME TO away');
  await start([job(50)]);
  const query = jest.spyOn(database.dataSource.pool, 'query');
  await waitFor(() => expect(query.mock.calls.length).toBeGreaterThan(4));
  query.mockRestore();
  expect(lines).toMatchObject([{ level: 40, reason: expect.stringContaining('jobs.runs') }]);
  expect(runs).toBe(0);
  await database.dataSource.query('ALTER TABLE jobs.away RENAME TO runs');
  await waitFor(() => expect(runs).toBeGreaterThan(0));
});

it('while draining, no run starts, and the end of the runner waits for the current one', async () => {
  const { promise, resolve } = Promise.withResolvers<void>();
  let runs = 0;
  work = () => {
    runs++;
    return promise;
  };
  const { runner, draining } = await start([job(50)]);
  await waitFor(() => expect(runs).toBe(1));
  draining.begin();
  let isStopped = false;
  const stopped = runner.beforeApplicationShutdown().then(() => (isStopped = true));
  await sleep(200);
  expect(isStopped).toBe(false);
  resolve();
  await stopped;
  expect(messages(30)).toEqual(['job succeeded']);
  expect(runs).toBe(1);

  const next = await start([job(50)]);
  next.draining.begin();
  await sleep(300);
  expect(runs).toBe(1);
});

it.each([
  [[job(1_000), job(2_000)], 'Two jobs are named spec.'],
  [[job(0)], 'The period of the job spec must be a positive number of milliseconds.'],
  [[job(NaN)], 'The period of the job spec must be a positive number of milliseconds.'],
])('jobs are checked: %j', async (jobs, message) => {
  await expect(start(jobs)).rejects.toThrow(message);
});

describe('a job of a context', () => {
  const secondStarted = Promise.withResolvers<void>();
  const ended: unknown[] = [];

  @Injectable()
  class CountTables {
    constructor(private readonly dataSource: DataSource) {}

    async execute(): Promise<void> {
      if (ended.length === 1) secondStarted.resolve();
      await sleep(300);
      ended.push(...(await this.dataSource.query<unknown[]>('SELECT 1 AS one')));
    }
  }

  @Module({ providers: [CountTables] })
  class CountingModule {
    static readonly persistence = { schema: 'counting', entities: [], migrations: [] };
    static readonly jobs = [{ name: 'counting-count', every: 100, useCase: CountTables }];
  }

  it('is run by the app in its own trace, with a database connection until the run has ended', async () => {
    (contexts as Context[]).push(CountingModule);
    const collector = await startTraceCollector();
    const service = await startTestApp({ env: { OTEL_EXPORTER_OTLP_ENDPOINT: collector.url } });
    await secondStarted.promise;
    await service.close();
    (contexts as Context[]).pop();
    expect(ended).toEqual([{ one: 1 }, { one: 1 }]);
    const run = collector.spans().find(({ name }) => name === 'CountTables');
    expect(run).toMatchObject({ kind: 'INTERNAL', parentSpanId: undefined });
    expect(collector.spans()).toContainEqual(expect.objectContaining({ name: 'SELECT', parentSpanId: run?.spanId }));
    await collector.close();
  });
});
