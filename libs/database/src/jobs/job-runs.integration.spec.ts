import { createTestDatabase, setOddSettings, type TestDatabase, waitFor } from '@animal-store/local-postgres/testing';
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from '@jest/globals';
import { Database } from '../database.js';
import { type Job, jobsPersistence, jobState, runJob } from './job-runs.js';
import { migrateUp } from '../migrations/migrations.js';

const HOUR = 3_600_000;
const job: Job = { name: 'spec', every: HOUR };
/** A role may end idle transactions. The lock of a job must outlive that. */
const IDLE_TIMEOUT_MS = 1;

let database: TestDatabase;
/** Two processes. */
let one: Database;
let other: Database;

beforeAll(async () => {
  database = await createTestDatabase();
  await setOddSettings(database.url);
  const options = { url: database.url, applicationName: 'spec', poolSize: 1, persistence: [jobsPersistence] };
  one = await new Database(options).initialize();
  await migrateUp(one);
  await one.query(`ALTER DATABASE ${new URL(database.url).pathname.slice(1)} SET idle_in_transaction_session_timeout = ${IDLE_TIMEOUT_MS}`);
  other = await new Database(options).initialize();
});

afterAll(async () => {
  await one.destroy();
  await other.destroy();
  await database.drop();
});

/** Ends the runs that a failed test has left. */
const ends: (() => void)[] = [];

beforeEach(() => one.query('TRUNCATE jobs.runs'));
afterEach(() => {
  for (const end of ends.splice(0)) end();
});

/** Makes the job due, as if it had started earlier. */
const age = (ms: number) => one.query(`UPDATE jobs.runs SET started_at = started_at - $1 * interval '1 ms'`, [ms]);
const succeed = () => Promise.resolve(true);
const readLock = () =>
  one.query<{ pid: number; state: string; backend_xid: unknown; backend_xmin: unknown }[]>(
    `SELECT pid, state, backend_xid, backend_xmin FROM pg_stat_activity WHERE application_name = 'animal-store job lock' AND datname = current_database()`,
  );

/** Starts a run that lasts until `end` is called. */
function startRun(dataSource: Database) {
  const { promise, resolve } = Promise.withResolvers<boolean>();
  const started = Promise.withResolvers<void>();
  const done = runJob(dataSource, job, () => {
    started.resolve();
    return promise;
  });
  const end = () => resolve(true);
  ends.push(end);
  return { started: started.promise, done, end };
}

it('a job runs once per period in all processes together', async () => {
  expect(await jobState(one, job)).toEqual({ dueInMs: 0, succeededAt: undefined });
  const hasRun = await Promise.all([one, other, one, other].map((dataSource) => runJob(dataSource, job, succeed)));
  expect(hasRun.filter(Boolean)).toHaveLength(1);
  const { dueInMs } = await jobState(other, job);
  expect(dueInMs).toBeGreaterThan(HOUR - 60_000);
  expect(dueInMs).toBeLessThanOrEqual(HOUR);
  expect(await runJob(other, job, succeed)).toBe(false);
  await age(HOUR);
  expect((await jobState(other, job)).dueInMs).toBe(0);
  expect(await runJob(other, job, succeed)).toBe(true);
  expect(await runJob(one, job, succeed)).toBe(false);
});

it('a job is not stopped by a clock that was set back', async () => {
  await runJob(one, job, succeed);
  // Up to a period ahead, as if another server had become the primary.
  await age(-HOUR + 60_000);
  expect(await runJob(other, job, succeed)).toBe(false);
  await age(-120_000);
  expect((await jobState(one, job)).dueInMs).toBe(0);
  expect(await runJob(one, job, succeed)).toBe(true);
  expect((await jobState(one, job)).dueInMs).toBeGreaterThan(HOUR - 60_000);
});

it.each(["'infinity'", "'-infinity'", `now() + interval '3 hours'`])(
  'a job that started at %s, after a change of the clock, is due',
  async (time) => {
    await runJob(one, job, succeed);
    await one.query(`UPDATE jobs.runs SET started_at = ${time}`);
    expect((await jobState(other, job)).dueInMs).toBe(0);
    expect(await runJob(other, job, succeed)).toBe(true);
    expect((await jobState(other, job)).dueInMs).toBeGreaterThan(HOUR - 60_000);
  },
);

it('in two releases with different periods has the shorter one', async () => {
  const newer = { ...job, every: 24 * HOUR };
  expect(await runJob(other, newer, succeed)).toBe(true);
  await age(HOUR);
  expect(await runJob(other, newer, succeed)).toBe(false);
  expect((await jobState(one, job)).dueInMs).toBe(0);
  expect(await runJob(one, job, succeed)).toBe(true);
});

it('a run that takes longer than its period is not overlapped and delays no other job, and the next one starts when it has ended', async () => {
  const run = startRun(one);
  await run.started;
  await age(2 * HOUR);
  expect(await runJob(other, job, succeed)).toBe(false);
  expect(await runJob(other, { ...job, name: 'another' }, succeed)).toBe(true);
  run.end();
  expect(await run.done).toBe(true);
  expect(await runJob(other, job, succeed)).toBe(true);
});

it('the time of the last success stays when a run fails, and before the first success is that of the first start', async () => {
  expect(await runJob(one, job, () => Promise.resolve(false))).toBe(true);
  const { succeededAt: first } = await jobState(one, job);
  expect(first).toEqual(expect.any(Date));
  await age(HOUR);
  await expect(runJob(one, job, () => Promise.reject(new Error('unexpected')))).rejects.toThrow('unexpected');
  expect((await jobState(one, job)).succeededAt).toEqual(first);
  await age(HOUR);
  await runJob(other, job, succeed);
  const { succeededAt: second } = await jobState(one, job);
  expect(second?.getTime()).toBeGreaterThan(first?.getTime() ?? NaN);
  await age(HOUR);
  await runJob(one, job, () => Promise.resolve(false));
  expect((await jobState(one, job)).succeededAt).toEqual(second);
});

it('the lock holds neither a snapshot nor a transaction id, and no timeout of idle transactions ends it', async () => {
  const run = startRun(one);
  await run.started;
  await new Promise((resolve) => setTimeout(resolve, 50 * IDLE_TIMEOUT_MS));
  expect(await readLock()).toMatchObject([{ state: 'idle in transaction', backend_xid: null, backend_xmin: null }]);
  run.end();
  await run.done;
  await waitFor(async () => expect(await readLock()).toEqual([]));
});

it('a row that another transaction locks is not awaited with a connection of the pool', async () => {
  await runJob(one, job, succeed);
  await age(HOUR);
  await other.transaction(async (manager) => {
    await manager.query('SELECT FROM jobs.runs FOR UPDATE');
    await expect(runJob(one, job, succeed)).rejects.toMatchObject({ code: '55P03' });
  });
});

it('the lock is released when the connection of its process is lost', async () => {
  const run = startRun(one);
  await run.started;
  await age(HOUR);
  expect(await runJob(other, job, succeed)).toBe(false);
  const [lock] = await readLock();
  await one.query('SELECT pg_terminate_backend($1)', [lock?.pid]);
  await waitFor(async () => expect(await runJob(other, job, succeed)).toBe(true));
  run.end();
  expect(await run.done).toBe(true);
});
