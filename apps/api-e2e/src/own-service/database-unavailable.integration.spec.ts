import { execFileSync } from 'node:child_process';
import { createTestDatabase, findFreePort, query, TcpProxy, type TestDatabase, waitFor } from '@animal-store/local-postgres/testing';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { Client } from 'pg';
import { createKey, type Environment, runUntilRefused, Service } from '../support/service.js';

/** More exits of ready workers than a supervisor accepts per minute. */
const MAX_CRASHES = 12;
/** Same lock id as in libs/database/src/migrations.ts. */
const MIGRATION_LOCK = 7_302_947_561_038_214n;

let database: TestDatabase;
let proxy: TcpProxy;
let service: Service | undefined;

beforeEach(async () => {
  database = await createTestDatabase();
  proxy = await TcpProxy.start(database.url);
});

afterEach(async () => {
  await service?.stop('SIGKILL');
  service = undefined;
  await proxy.cut();
  await database.drop();
});

const start = async (url: string, environment: Environment = {}) =>
  (service = await Service.start(url, { MIGRATION_DATABASE_URL: url, DATABASE_CONNECT_TIMEOUT_MS: '1000', ...environment }));
const get = async (path: string, key = 'ast_test_unknown') => {
  const response = await fetch((service?.url ?? '') + path, { headers: { Authorization: `Bearer ${key}`, Connection: 'close' } });
  const { code } = (await response.json()) as { code?: string };
  return { status: response.status, retryAfter: response.headers.get('retry-after'), code };
};
const count = (text: string) => (service?.output ?? '').split(text).length - 1;

async function expectWaiting(): Promise<void> {
  expect((await get('/health/live')).status).toBe(200);
  for (const path of ['/health/ready', '/v1/pets', '/v1/pets/1'])
    expect(await get(path)).toEqual({ status: 503, retryAfter: '1', code: 'service_unavailable' });
}

/** Expects that the service becomes ready, which includes the migrations, and serves requests. */
async function expectServing(url = database.url): Promise<void> {
  await waitFor(async () => expect((await get('/health/ready')).status).toBe(200));
  const { key } = await createKey(url, 'first');
  // Each worker connects separately.
  await waitFor(async () => {
    for (let i = 0; i < 4; i++) expect((await get('/v1/pets', key)).status).toBe(200);
  });
}

describe.each([
  ['a single process', {}, 1],
  ['two workers', { WORKERS: '2' }, 3],
])('%s started without its database', (_what, environment, processes) => {
  it('waits for a database that cannot be reached', async () => {
    await proxy.cut();
    await start(proxy.url, environment);
    await expectWaiting();
    await proxy.restore();
    await expectServing();
    await waitFor(() => expect(count('connected to the database')).toBe(processes));
    // One log line per process.
    expect(count('cannot be reached')).toBe(processes);
    expect(await service?.stop()).toBe(0);
  });

  it('waits for a database that does not respond', async () => {
    proxy.slowDown(600_000);
    await start(proxy.url, environment);
    await expectWaiting();
    proxy.slowDown(0);
    await expectServing();
  });

  it('stops while waiting', async () => {
    await proxy.cut();
    await start(proxy.url, environment);
    expect(await service?.stop()).toBe(0);
  });
});

it('a single process responds after a SIGTERM during its first connection attempt', async () => {
  proxy.slowDown(600_000);
  service = Service.startOn(await findFreePort(), {
    DATABASE_URL: proxy.url,
    DATABASE_CONNECT_TIMEOUT_MS: '60000',
    DRAIN_SECONDS: '60',
  });
  await waitFor(async () => expect((await get('/health/live')).status).toBe(200));
  const stopped = service.stop('SIGTERM');
  await waitFor(() => expect(count('"draining"')).toBe(1));
  expect(count('"listening"')).toBe(0);
  expect((await get('/health/live')).status).toBe(200);
  await service.stop('SIGINT');
  expect(await stopped).toBe(0);
});

describe('a single process waits for a database', () => {
  it('that rejects the login, at the start and later', async () => {
    const role = `late_${process.pid}`;
    await query(
      database.url,
      `CREATE ROLE ${role} LOGIN PASSWORD 'another one'`,
      `ALTER DATABASE ${nameOf(database.url)} OWNER TO ${role}`,
    );
    const url = new URL(database.url);
    Object.assign(url, { username: role, password: 'secret' });
    await start(url.href);
    await expectWaiting();
    expect(count('refuses the connection: password authentication failed')).toBe(1);
    await query(database.url, `ALTER ROLE ${role} PASSWORD 'secret'`);
    await expectServing();
    expect(count('connected to the database')).toBe(1);
    const { key } = await createKey(database.url, 'second');
    await query(
      database.url,
      `ALTER ROLE ${role} PASSWORD 'changed'`,
      `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = '${role}'`,
    );
    await waitFor(async () => expect(await get('/v1/pets', key)).toEqual({ status: 503, retryAfter: '1', code: 'service_unavailable' }));
    await query(database.url, `ALTER ROLE ${role} PASSWORD 'secret'`);
    await waitFor(async () => expect((await get('/v1/pets', key)).status).toBe(200));
    expect(service?.output).not.toContain('secret');
    await service?.stop();
    await query(database.url, `ALTER DATABASE ${nameOf(database.url)} OWNER TO CURRENT_USER`, `DROP OWNED BY ${role}`, `DROP ROLE ${role}`);
  });

  it('that does not exist yet', async () => {
    const url = new URL(database.url);
    const name = `${nameOf(database.url)}_late`;
    url.pathname = name;
    await start(url.href);
    await expectWaiting();
    await query(database.url, `CREATE DATABASE ${name}`);
    await expectServing(url.href);
    await service?.stop();
    await query(database.url, `DROP DATABASE ${name} WITH (FORCE)`);
  });

  it('without migrating, and is ready after another process has migrated', async () => {
    await proxy.cut();
    await start(proxy.url, { MIGRATE_ON_START: 'false' });
    await expectWaiting();
    await proxy.restore();
    await waitFor(() => expect(count('connected to the database')).toBe(1));
    expect((await get('/health/ready')).status).toBe(503);
    const migrating = await Service.start(database.url);
    await expectServing();
    await migrating.stop();
  });
});

describe('two workers', () => {
  const workers = () => {
    const processes = execFileSync('ps', ['-A', '-o', 'ppid=,pid='], { encoding: 'utf8' }).split('\n');
    return processes
      .map((line) => line.trim().split(/\s+/).map(Number))
      .flatMap(([parent, pid = 0]) => (parent === service?.pid ? [pid] : []));
  };
  const killWorkers = () => {
    for (const pid of workers()) {
      try {
        process.kill(pid, 'SIGKILL');
      } catch {
        // The process has already exited.
      }
    }
  };
  /** Kills the workers repeatedly until more than MAX_CRASHES exits are logged. */
  const killWorkersRepeatedly = async () => {
    await waitFor(() => {
      killWorkers();
      expect(count('a worker ended unexpectedly')).toBeGreaterThan(MAX_CRASHES);
    });
  };

  it.each(['at the start', 'later'])('are replaced however often they are killed while the database cannot be reached %s', async (when) => {
    if (when === 'at the start') await proxy.cut();
    await start(proxy.url, { WORKERS: '2' });
    await proxy.cut();
    await killWorkersRepeatedly();
    await waitFor(() => expectWaiting());
    const times = [...(service?.output ?? '').matchAll(/"time":(\d+),.*"a worker ended unexpectedly"/g)].map(([, time]) => Number(time));
    // The two workers share one restart delay, which doubles from 0.1 to 2 s. No upper bound, since a busy machine is slower.
    expect((times[MAX_CRASHES] ?? 0) - (times[0] ?? 0)).toBeGreaterThan(5_000);
    await proxy.restore();
    await expectServing();
    expect(service?.output).not.toContain('stopping the service');
  });
});

it.each([
  ['a single process', {}],
  ['two workers', { WORKERS: '2' }],
])(
  '%s waiting for another migrating process: logs it, responds with 503 and exits after MIGRATION_WAIT_SECONDS',
  async (_what, workers) => {
    const holder = new Client({ connectionString: database.url });
    await holder.connect();
    await holder.query('SELECT pg_advisory_lock($1)', [MIGRATION_LOCK]);
    // The log line is written after 5 s.
    const environment = { DATABASE_URL: database.url, MIGRATION_WAIT_SECONDS: '6', DRAIN_SECONDS: '0', ...workers };
    service = Service.startOn(await findFreePort(), environment);
    await waitFor(() => expectWaiting());
    expect(await service.exit()).toBe(1);
    expect(count('waiting for another process that is migrating the database')).toBe(1);
    expect(service.output).toMatch(/^The migrations were not applied: another process has been migrating the database for 6 s$/m);
    await holder.end();
  },
);

it.each([
  ['a single process', {}],
  ['two workers', { WORKERS: '2' }],
  ['two workers that do not migrate', { WORKERS: '2', MIGRATE_ON_START: 'false' }],
])('an invalid setting stops %s immediately', async (_what, environment) => {
  const { exitCode, output } = await runUntilRefused({ DATABASE_URL: `${database.url}?sslmode=require`, PORT: '0', ...environment });
  expect(exitCode).toBe(1);
  expect(output).toMatch(/^The database at \S+ cannot be reached: the server does not support TLS, which sslmode requires$/m);
});

function nameOf(url: string): string {
  return new URL(url).pathname.slice(1);
}
