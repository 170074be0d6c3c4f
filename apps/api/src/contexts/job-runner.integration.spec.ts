import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { Database, ExpireIdempotencyKeys, grantStatements, runJob } from '@animal-store/database';
import { defineContext, type ScheduledJob } from '@animal-store/http-kit';
import { waitFor } from '@animal-store/local-postgres/testing';
import { petsContext } from '@animal-store/pets-http';
import { createMigratedDatabase, describeMigrations, useDatabase } from '@animal-store/test-kit';
import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { Injectable, Module } from '@nestjs/common';
import { ModuleRef, NestFactory } from '@nestjs/core';
import { type Logger, pino } from 'pino';
import { DataSource } from 'typeorm';
import { contexts } from '../registered-contexts.js';
import { createLogger } from '../observability/logger.js';
import { Metrics } from '../observability/metrics.js';
import { Draining } from '../http/connection.js';
import { startTestApp } from '../http/testing/test-app.js';
import { JobRunner } from './job-runner.js';
import { jobsContext } from './contexts.module.js';

describeMigrations(jobsContext.persistence);

const database = useDatabase(jobsContext.persistence);
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
async function start(jobs: readonly ScheduledJob[], { logger, moduleRef: given }: { logger?: Logger; moduleRef?: ModuleRef } = {}) {
  const { dataSource } = database;
  const environment = {
    moduleRef: given ?? ({ get: (useCase: new () => Work) => new useCase() } as unknown as ModuleRef),
    ...{ database: dataSource, draining: new Draining(), metrics: new Metrics() },
    logger: logger ?? pino({ level: 'debug' }, { write: (line) => void lines.push(JSON.parse(line) as Record<string, unknown>) }),
  };
  const { moduleRef, draining, metrics } = environment;
  const runner = new JobRunner(jobs, moduleRef, dataSource, draining, metrics, environment.logger);
  runners.push(runner);
  runner.onApplicationBootstrap();
  await dataSource.open();
  const value = async (metric: string) =>
    new RegExp(`^${metric.replaceAll(/[{}]/g, String.raw`\$&`)} (.+)$`, 'm').exec(await environment.metrics.registry.metrics())?.[1];
  return { ...environment, runner, value };
}

it('a failure is logged, counted, and followed by a run in the next period', async () => {
  let runs = 0;
  work = () => {
    if (++runs === 1) throw Object.assign(new Error('no such order'), { parameters: ['secret'] });
  };
  const { value } = await start([job(100)]);
  await waitFor(() => expect(messages(20)).toContain('job succeeded'));
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
  // The first read waits until the database is opened, not for the period. The maximum delay of a timer is 25 days.
  database.dataSource.hasOpened = false;
  const { value } = await start([job(30 * 86_400_000)]);
  await waitFor(async () => expect(Number(await value('job_last_success_timestamp_seconds{job_name="spec"}'))).toBe(1_767_225_600));
  const query = jest.spyOn(database.dataSource.pool, 'query');
  await sleep(200);
  expect(query).not.toHaveBeenCalled();
  query.mockRestore();
});

it('it logs a warning for each outage, and runs the job afterwards', async () => {
  let runs = 0;
  work = () => runs++;
  const rename = (from: string, to: string) => database.dataSource.query(`ALTER TABLE jobs.${from} RENAME TO ${to}`);
  await start([job(50)]);
  for (let outages = 1; outages <= 2; outages++) {
    await rename('runs', 'away');
    await waitFor(() => expect(messages(40)).toHaveLength(outages));
    const query = jest.spyOn(database.dataSource.pool, 'query');
    await waitFor(() => expect(query.mock.calls.length).toBeGreaterThan(3));
    query.mockRestore();
    expect(messages(40)).toHaveLength(outages);
    expect(lines.findLast(({ level }) => level === 40)).toMatchObject({ reason: expect.stringContaining('jobs.runs') });
    runs = 0;
    await rename('away', 'runs');
    // The success of the first run is recorded before the second run.
    await waitFor(() => expect(runs).toBeGreaterThan(1));
  }
});

it('a run whose success cannot be recorded is repeated in the next period', async () => {
  let runs = 0;
  work = () => runs++;
  await database.dataSource.query('ALTER TABLE jobs.runs ADD CONSTRAINT broken CHECK (succeeded_at IS NULL)');
  const { value } = await start([job(50)]);
  await waitFor(() => expect(runs).toBeGreaterThan(2));
  expect(messages(40)).toEqual(['jobs do not run until their state can be read and written']);
  await database.dataSource.query('ALTER TABLE jobs.runs DROP CONSTRAINT broken');
  const before = Date.now() / 1000;
  await waitFor(async () => expect(Number(await value('job_last_success_timestamp_seconds{job_name="spec"}'))).toBeGreaterThan(before));
});

it('whatever a run throws, the next one follows', async () => {
  const { proxy, revoke } = Proxy.revocable({}, {});
  revoke();
  const cyclic = new Error('cyclic');
  cyclic.cause = cyclic;
  const withoutClass = Object.setPrototypeOf(new Error('no class'), null) as unknown;
  const thrown: unknown[] = [new Error('a\0b'), new Error('\ud800'), undefined, null, 7n, Symbol('odd'), proxy, cyclic, withoutClass];
  let runs = 0;
  work = () => {
    if (runs++ < thrown.length) throw thrown[runs - 1];
  };
  const logger = createLogger('debug', { write: (line) => void lines.push(JSON.parse(line) as Record<string, unknown>) });
  await start([job(20)], { logger });
  await waitFor(() => expect(messages(20)).toContain('job succeeded'));
  expect(messages(50)).toEqual(thrown.map(() => 'job failed'));
  expect(messages(40)).toEqual([]);
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
  draining.isActive = true;
  let isStopped = false;
  const stopped = runner.beforeApplicationShutdown().then(() => (isStopped = true));
  // Another process, for which the job is due, reads the state once in its period.
  await database.dataSource.query(`UPDATE jobs.runs SET started_at = '-infinity'`);
  const query = jest.spyOn(database.dataSource.pool, 'query');
  await start([job(60_000)]);
  await sleep(200);
  expect(query.mock.calls.filter(([text]) => text.includes('dueInMs'))).toHaveLength(1);
  query.mockRestore();
  expect(isStopped).toBe(false);
  resolve();
  await stopped;
  expect(messages(20)).toEqual(['job started', 'job succeeded']);
  expect(lines.find(({ msg }) => msg === 'job succeeded')?.['durationMs']).toBeGreaterThan(190);
  expect(runs).toBe(1);

  database.dataSource.hasOpened = false;
  const next = await start([job(50)]);
  next.draining.isActive = true;
  expect(Number(await next.value('job_last_success_timestamp_seconds{job_name="spec"}'))).toBeGreaterThan(Date.now() / 1000 - 3_600);
  await sleep(300);
  expect(runs).toBe(1);
});

it.each([
  [[job(0)], 'The period of the job spec must be an integer of at least 1 ms.'],
  [[job(1), job(2)], 'Two jobs have the name spec.'],
])('%j prevent the start', async (jobs, reason) => {
  await expect(start(jobs)).rejects.toThrow(reason);
});

it('a job whose use case no module provides prevents the start', async () => {
  const app = await NestFactory.createApplicationContext(class Root {}, { logger: false });
  await expect(start([job(1)], { moduleRef: app.get(ModuleRef) })).rejects.toThrow('Nest could not find Work element');
  await app.close();
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
  class CountingModule {}

  const counting = defineContext({
    module: CountingModule,
    persistence: { schema: 'counting', entities: [], migrations: [] },
    jobs: [{ name: 'counting-count', every: 100, useCase: CountTables }],
  });

  it('is run by the app with a database connection until the run has ended', async () => {
    const service = await startTestApp({ contexts: [...contexts, counting] });
    await secondStarted.promise;
    await service.close();
    expect(ended).toEqual([{ one: 1 }, { one: 1 }]);
  });
});

it('keys of all contexts are removed after 24 hours, every minute, with no more privileges than the service has', async () => {
  expect(jobsContext.jobs).toEqual([{ name: 'idempotency-keys-expire', every: 60_000, useCase: ExpireIdempotencyKeys }]);
  const persistence = [petsContext.persistence, jobsContext.persistence];
  const created = await createMigratedDatabase(persistence);
  const { url } = created;
  const owner = await new Database({ url, applicationName: 'spec', poolSize: 2, persistence }).initialize();
  await owner.query(
    `INSERT INTO pets.idempotency_keys (client_id, key, pet_id, request, created_at)
     SELECT 1, hours, 1, '{"name": "Rex", "categoryId": 1, "status": "sold"}', now() - make_interval(hours => hours::int)
     FROM unnest('{23,25}'::text[]) AS hours`,
  );
  const role = `expiry_${randomBytes(6).toString('hex')}`;
  await owner.query(`CREATE ROLE ${role} LOGIN PASSWORD 'of-tests-only'`);
  await owner.query(grantStatements(persistence, 'service', role).join('; '));
  const asService = Object.assign(new URL(url), { username: role, password: 'of-tests-only' });
  const restricted = await new Database({ url: asService.href, applicationName: 'spec', poolSize: 1, persistence }).initialize();
  const deleted = jest.fn();
  await runJob(restricted, { name: 'spec', every: 1 }, async () => {
    deleted(await new ExpireIdempotencyKeys(restricted).execute());
    return true;
  });
  await restricted.destroy();
  expect(deleted).toHaveBeenCalledWith(1);
  expect(await owner.query('SELECT key FROM pets.idempotency_keys')).toEqual([{ key: '23' }]);
  await owner.query(`DROP OWNED BY ${role}; DROP ROLE ${role}`);
  await owner.destroy();
  await created.drop();
});
