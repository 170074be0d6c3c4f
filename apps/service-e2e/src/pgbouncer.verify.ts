import { execFileSync } from 'node:child_process';
import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Api } from '@animal-store/api-e2e/support/api';
import { readPet, readPets } from '@animal-store/api-e2e/support/json';
import { readAllPages } from '@animal-store/api-e2e/support/read-pages';
import { createKey, type Environment, runAnimalStore, runUntilExit, Service } from '@animal-store/api-e2e/support/service';
import {
  createTestDatabase,
  DurablePostgres,
  query,
  setOddSettings,
  type TestDatabase,
  waitFor,
} from '@animal-store/local-postgres/testing';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { DEBIAN_PATH, DebianServer } from './support/debian-server.js';

// `npm run verify -- pgbouncer`. Not part of `npm test`, since the npm registry has no PgBouncer.

/** Connections of PgBouncer to PostgreSQL: fewer than in the service's pool, so that connections of the service share them. */
const SERVER_CONNECTIONS = 3;
const PETS = 300;

/** PgBouncer can track the named statements of its clients since version 1.21. */
const TRACKS_STATEMENTS = versionOf('pgbouncer') >= 1.21;
/** Disables tracking. PgBouncer before 1.21 has no such setting. */
const UNTRACKED = TRACKS_STATEMENTS ? ['max_prepared_statements = 0'] : [];
const IGNORE_TIMEOUT = 'ignore_startup_parameters = statement_timeout';

let folder: string;
let database: TestDatabase;

beforeAll(async () => {
  database = await createTestDatabase();
  folder = await mkdtemp(join(tmpdir(), 'animal-store-pgbouncer-'));
  await chmod(folder, 0o755);
});

afterAll(async () => {
  await rm(folder, { recursive: true });
  await database.drop();
});

function versionOf(program: string): number {
  try {
    const [, version] = /(\d+\.\d+)/.exec(execFileSync(program, ['--version'], { encoding: 'utf8', env: { PATH: DEBIAN_PATH } })) ?? [];
    return Number(version);
  } catch {
    // DebianServer reports a missing program.
    return 0;
  }
}

interface Pooler {
  readonly url: string;
  stop(): Promise<void>;
}

const startPooler = (...settings: readonly string[]) => startPoolerOf(database.url, settings);

async function startPoolerOf(server: string, settings: readonly string[]): Promise<Pooler> {
  const pooler = await DebianServer.start({ program: 'pgbouncer', args: async (port) => [await configure(port, server, settings)] });
  return { url: `postgres://anybody@127.0.0.1:${pooler.port}${new URL(server).pathname}`, stop: () => pooler.stop() };
}

async function configure(port: number, serverUrl: string, settings: readonly string[]): Promise<string> {
  const server = new URL(serverUrl);
  const file = join(folder, `pgbouncer-${port}.ini`);
  const lines = [
    '[databases]',
    `* = host=${server.hostname} port=${server.port} user=${server.username} password=${server.password}`,
    '[pgbouncer]',
    'listen_addr = 127.0.0.1',
    `listen_port = ${port}`,
    'unix_socket_dir =',
    'auth_type = any',
    'pool_mode = transaction',
    `default_pool_size = ${SERVER_CONNECTIONS}`,
    ...settings,
  ];
  await writeFile(file, lines.join('\n'));
  return file;
}

interface Case {
  readonly settings: readonly string[];
  readonly environment: Environment;
  readonly leavesStatements: boolean;
}

const cases: [string, Case][] = [
  ['DATABASE_PREPARED=off', { settings: UNTRACKED, environment: { DATABASE_PREPARED: 'off' }, leavesStatements: false }],
];
if (TRACKS_STATEMENTS)
  cases.push([
    'max_prepared_statements',
    { settings: ['max_prepared_statements = 200', IGNORE_TIMEOUT], environment: {}, leavesStatements: true },
  ]);

describe.each(cases)('behind a pooler in transaction mode, with %s', (_name, { settings, environment, leavesStatements }) => {
  const api = new Api();
  let pooler: Pooler;
  let service: Service;

  beforeAll(async () => {
    pooler = await startPooler(...settings);
    service = await Service.start(pooler.url, { ...environment, MIGRATION_DATABASE_URL: database.url, RATE_LIMIT: '0' });
    api.open({ baseUrl: service.url, key: (await createKey(database.url, 'suite')).key });
  });

  afterAll(async () => {
    api.close();
    await service.stop();
    await pooler.stop();
  });

  it('pets are added and fetched concurrently, and listed', async () => {
    const created = await Promise.all(Array.from({ length: PETS }, (_, n) => api.createPet({ name: `Pet ${n}` })));
    const fetched = await Promise.all(created.map(({ id }) => api.get(`/v1/pets/${id}`)));
    expect(fetched.map(({ text }) => readPet(text))).toEqual(created);
    const listed = await readAllPages(api, '/v1/pets?limit=100');
    const ids = new Set(listed.map(({ id }) => id));
    expect(created.filter(({ id }) => !ids.has(id))).toEqual([]);
  });

  it('concurrent requests with one idempotency key get the same response', async () => {
    const headers = { 'idempotency-key': `"once-${new URL(pooler.url).port}"` };
    const responses = await Promise.all(Array.from({ length: 50 }, () => api.create('{"name":"Once","categoryId":7}', { headers })));
    expect(new Set(responses.map(({ status, text }) => `${status} ${text}`)).size).toBe(1);
    expect(responses.filter(({ headers: responseHeaders }) => responseHeaders['idempotent-replayed'] === undefined)).toHaveLength(1);
  });

  it('the service shares the connections of the pooler', async () => {
    const sessions = await query(database.url, `SELECT 1 FROM pg_stat_activity WHERE application_name = 'animal-store-api'`);
    expect(sessions.length).toBeLessThanOrEqual(SERVER_CONNECTIONS);
    if (leavesStatements) return;
    for (let i = 0; i < SERVER_CONNECTIONS; i++) expect(await query(pooler.url, 'SELECT name FROM pg_prepared_statements')).toEqual([]);
  });

  it('`animal-store doctor` works through the pooler, and reports it', async () => {
    const printed = await runAnimalStore(pooler.url, 'doctor');
    expect(printed).toContain('connections: a pooler is between the service and the database: it needs room for 10 clients');
    expect(printed).toMatch(/^ok {7}migrations: all \d+ are applied$/m);
  });

  it('migrations bypass the pooler', async () => {
    const unreachable = { ...environment, MIGRATION_DATABASE_URL: 'postgres://localhost:1/nowhere' };
    const waiting = await Service.start(pooler.url, unreachable);
    expect((await fetch(`${waiting.url}/health/ready`)).status).toBe(503);
    expect(waiting.output).toContain('The database at');
    await waiting.stop();
  });
});

describe('odd settings of the database behind a pooler', () => {
  let odd: TestDatabase;
  let pooler: Pooler;

  beforeAll(async () => {
    odd = await createTestDatabase();
    await runAnimalStore(odd.url, 'migrate', 'up');
    await setOddSettings(odd.url);
    pooler = await startPoolerOf(odd.url, UNTRACKED);
  });

  afterAll(async () => {
    await pooler.stop();
    await odd.drop();
  });

  it('change nothing: keys end, creations are stored, and their commits are durable', async () => {
    await query(
      odd.url,
      `CREATE TABLE public.commits AS SELECT ''::text AS setting WHERE false`,
      `CREATE FUNCTION public.note_commit() RETURNS trigger LANGUAGE plpgsql AS
       'BEGIN INSERT INTO public.commits VALUES (pg_catalog.current_setting(''synchronous_commit'')); RETURN NULL; END'`,
      `CREATE TRIGGER note AFTER INSERT ON pets.pets FOR EACH STATEMENT EXECUTE FUNCTION public.note_commit()`,
      `CREATE TRIGGER note AFTER INSERT OR UPDATE OF revoked_at ON access.api_keys FOR EACH STATEMENT EXECUTE FUNCTION public.note_commit()`,
    );
    const service = await Service.start(pooler.url, {
      ...{ DATABASE_PREPARED: 'off', MIGRATION_DATABASE_URL: odd.url, RATE_LIMIT: '0', DATABASE_POOL_SIZE: '20' },
    });
    const api = new Api();
    const revoked = await createKey(pooler.url, 'revoked');
    await runAnimalStore(pooler.url, 'keys', 'revoke', revoked.key);
    api.open({ baseUrl: service.url, key: (await createKey(pooler.url, 'suite')).key });
    const created = await Promise.all(Array.from({ length: PETS }, (_, n) => api.createPet({ name: `Pet ${n}` })));
    const fetched = await Promise.all(created.map(({ id }) => api.get(`/v1/pets/${id}`)));
    expect(fetched.map(({ text }) => readPet(text))).toEqual(created);
    const rejected = await fetch(`${service.url}/v1/pets`, { headers: { Authorization: `Bearer ${revoked.key}` } });
    expect(rejected.status).toBe(401);
    expect(await runAnimalStore(pooler.url, 'keys', 'list', '--wide')).toMatch(/ revoked .* 2\d{3}-/);
    expect(await query(odd.url, 'SELECT DISTINCT setting FROM public.commits')).toEqual([{ setting: 'local' }]);
    expect(service.output).toContain('the database has fsync = off, full_page_writes = off, synchronous_commit = off');
    api.close();
    await service.stop();
  });

  it('are reported by `animal-store doctor`, with the statements that correct them', async () => {
    const printed = await runAnimalStore(pooler.url, 'doctor');
    expect(printed).toMatch(
      /^warning {2}settings: behind a pooler, sessions may have IntervalStyle = sql_standard, .*, synchronous_commit = off, .*\n {9}fix: run ALTER ROLE "\w+" SET IntervalStyle = 'postgres';\n[^]* {9}fix: run ALTER ROLE "\w+" SET search_path = '';$/m,
    );
  });
});

describe('a primary and a replica, each behind a pooler', () => {
  it('serve lists with the latest writes, while the replica lags and after it has caught up', async () => {
    const primary = await DurablePostgres.start();
    const standby = await primary.addStandby();
    const poolers = [await startPoolerOf(primary.url, UNTRACKED), await startPoolerOf(standby.url, UNTRACKED)] as const;
    const [ofPrimary, ofStandby] = poolers;
    const service = await Service.start(ofPrimary.url, {
      ...{ DATABASE_REPLICA_URLS: ofStandby.url, DATABASE_PREPARED: 'off', MIGRATION_DATABASE_URL: primary.url },
      ...{ RATE_LIMIT: '0', ADMIN_PORT: '0' },
    });
    const api = new Api();
    api.open({ baseUrl: service.url, key: (await createKey(primary.url, 'suite')).key });
    const readsOfReplica = async () => {
      return Number(/^database_replica_reads_total\{served_by="replica"\} (\d+)$/m.exec(await service.metrics())?.[1]);
    };
    const listed = async () => readPets((await api.get('/v1/pets?limit=100')).text).map(({ id }) => id);
    try {
      await waitFor(async () => {
        await listed();
        expect(await readsOfReplica()).toBeGreaterThan(0);
      });
      await query(standby.url, 'SELECT pg_wal_replay_pause()');
      const behind = await api.createPet({ name: 'behind' });
      expect(await listed()).toContain(behind.id);
      await query(standby.url, 'SELECT pg_wal_replay_resume()');
      const before = await readsOfReplica();
      await waitFor(async () => {
        expect(await listed()).toContain(behind.id);
        expect(await readsOfReplica()).toBeGreaterThan(before);
      });
    } finally {
      api.close();
      await service.stop();
      for (const pooler of poolers) await pooler.stop();
      await standby.remove();
      await primary.remove();
    }
  });
});

describe('a pooler that does not track named statements', () => {
  it('rejects statement_timeout, and the service exits with an error that names it', async () => {
    const pooler = await startPooler(...UNTRACKED);
    const { exitCode, output } = await runUntilExit({ DATABASE_URL: pooler.url, MIGRATION_DATABASE_URL: database.url, PORT: '0' });
    expect(exitCode).toBe(1);
    expect(output).toContain('statement_timeout');
    await pooler.stop();
  });

  it('is logged with the required setting, and requests get 503', async () => {
    const pooler = await startPooler(...UNTRACKED, IGNORE_TIMEOUT);
    const service = await Service.start(pooler.url, { MIGRATION_DATABASE_URL: database.url, RATE_LIMIT: '0' });
    const { key } = await createKey(database.url, 'untracked');
    const get = async (path: string) => {
      const response = await fetch(service.url + path, { headers: { Authorization: `Bearer ${key}` } });
      await response.arrayBuffer();
      return response.status;
    };
    const paths = Array.from({ length: 40 }, (_, n) => (n % 2 === 0 ? `/v1/pets/${n}` : `/v1/pets?limit=${n}`));
    const statuses = new Set<number>();
    await waitFor(
      async () => {
        for (const status of await Promise.all(paths.map(get))) statuses.add(status);
        expect(statuses).toContain(503);
      },
      { timeoutMs: 30_000 },
    );
    expect([...statuses].filter((status) => ![200, 404, 503].includes(status))).toEqual([]);
    expect(service.output.split('max_prepared_statements')).toHaveLength(2);
    await service.stop();
    await pooler.stop();
  });
});
