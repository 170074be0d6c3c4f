import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { DatabaseClient } from '@animal-store/database';
import { createTestDatabase, query, waitFor } from '@animal-store/local-postgres/testing';
import { afterAll, afterEach, beforeAll, describe, expect, it, jest } from '@jest/globals';
import type { Outcome } from './doctor-command.js';
import { json, runAnimalStore, useAnimalStore } from './testing/run-animal-store.js';

/** No server listens on this port. */
const CLOSED_PORT = '127.0.0.1:1';
/** Roles belong to the whole server, so the name is unique. */
const ROLE = `doctor_${randomBytes(6).toString('hex')}`;
const database = useAnimalStore();
let url: string;

const asRole = (databaseUrl: string) => Object.assign(new URL(databaseUrl), { username: ROLE, password: 'of-tests-only' }).href;

beforeAll(async () => {
  await query(database.url, `CREATE ROLE ${ROLE} LOGIN PASSWORD 'of-tests-only'`);
  url = asRole(database.url);
});
// After the database is dropped.
afterAll(() => query(process.env['TEST_POSTGRES_URL'] ?? '', `DROP ROLE ${ROLE}`));
afterEach(() => void jest.restoreAllMocks());

const doctor = (env: Readonly<Record<string, string>> = {}, ...args: string[]) =>
  runAnimalStore({ DATABASE_URL: url, MIGRATE_ON_START: 'false', ...env }, ['doctor', ...args]);

/** Returns the exit code and the findings that are not `ok`, except that of the server of the specs, which is not durable. */
async function problems(env?: Readonly<Record<string, string>>, ...args: string[]) {
  const outcome = await doctor(env, '--json', ...args);
  const { findings } = json<{ findings: (Outcome & { check: string })[] }>(outcome);
  return { exitCode: outcome.exitCode, findings: findings.filter(({ status, check }) => status !== 'ok' && check !== 'durability') };
}

const problem = (status: Outcome['status'], check: string, found: string | RegExp, fix: string) => ({
  exitCode: status === 'error' ? 1 : 0,
  findings: [{ status, check, found: expect.stringMatching(found), fix: expect.stringContaining(fix) }],
});

it('reports a role without privileges', async () => {
  const { exitCode, findings } = await problems();
  expect(exitCode).toBe(1);
  expect(findings).toEqual([
    {
      ...{ status: 'error', check: 'migrations', found: 'permission denied for table schema_migrations' },
      fix: 'correct MIGRATION_DATABASE_URL, or run "animal-store grants" as the owner',
    },
    {
      ...{ status: 'error', check: 'privileges', found: expect.stringMatching(`^the role ${ROLE} lacks .*SELECT, INSERT ON pets.pets`) },
      fix: 'run "animal-store grants service" for the role as the owner',
    },
  ]);
});

describe('a deployment', () => {
  const grant = () => database.run('grants', 'service', ROLE, '--apply');
  beforeAll(grant);

  it('without problems has one line per check', async () => {
    // As many as the service opens.
    await query(database.url, `ALTER ROLE ${ROLE} CONNECTION LIMIT 10`);
    const { exitCode, stdout, stderr } = await doctor();
    expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: '' });
    expect(stdout.replace(/\d+/g, 'N').replace(/_[0-9a-f]+/g, '')).toMatch(
      new RegExp(
        [
          '^ok       configuration: all variables are valid',
          'ok       database: connected to N.N.N.N:N',
          'ok       server: PostgreSQL N, which accepts writes',
          'warning  durability: the database has fsync = off, .*: a crash of its machine may lose or damage stored data',
          ' {9}fix: set fsync and full_page_writes to on',
          'ok       clock: this machine and the database differ by less than N ms',
          'ok       migrations: all N are applied',
          'ok       privileges: the role .* has the privileges of the service',
          'ok       connections: the service opens up to N .*, and the limit is N',
          '$',
        ].join('\n'),
      ),
    );
  });

  it.each([['SELECT ON access.clients'], ['UPDATE (last_used_at) ON access.api_keys'], ['USAGE ON SCHEMA pets']])(
    'whose role lacks %s has an error',
    async (privilege) => {
      await query(database.url, `REVOKE ${privilege} FROM ${ROLE}`);
      expect(await problems()).toEqual(problem('error', 'privileges', `^the role ${ROLE} lacks `, 'run "animal-store grants service"'));
      await grant();
    },
  );

  it.each<[Record<string, string>, RegExp[]]>([
    [{ MAX_IN_FLIGHT: '0', LOG_LEVEL: 'loud' }, [/^MAX_IN_FLIGHT must be /, /^LOG_LEVEL must be one of /]],
    [{ DATABASE_URL: '' }, [/^DATABASE_URL is empty: set or unset it$/]],
    [{ REDIS_URL_FILE: '/none/redis' }, [/^REDIS_URL_FILE cannot be read: ENOENT/]],
  ])('with the variables %j is not checked further', async (env, rules) => {
    expect((await doctor(env)).stderr).toBe(`error: ${String(rules.length)} of ${String(rules.length)} checks failed\n`);
    const fix = 'correct it: the service does not start, and the other checks require it';
    const findings = rules.map((rule) => ({ status: 'error', check: 'configuration', found: expect.stringMatching(rule), fix }));
    expect(await problems(env)).toEqual({ exitCode: 1, findings });
  });

  it.each([
    [`postgres://somebody:secret@${CLOSED_PORT}/animals`, /ECONNREFUSED/],
    ['none', /^database "none" does not exist$/],
    ['?sslmode=require', /does not support SSL/],
  ])('with the database %s has an error', async (change, found) => {
    const changed = new URL(change, url).href;
    expect(await problems({ DATABASE_URL: changed })).toEqual(problem('error', 'database', found, 'correct DATABASE_URL'));
    expect((await doctor({ DATABASE_URL: changed })).stdout).not.toContain('secret');
  });

  it('with a read-only database has an error', async () => {
    const changed = new URL('?options=-c%20default_transaction_read_only=on', url).href;
    expect(await problems({ DATABASE_URL: changed })).toEqual(problem('error', 'server', /read-only$/, 'set DATABASE_URL to the primary'));
  });

  it('with a superuser has a warning', async () => {
    expect(await problems({ DATABASE_URL: database.url })).toEqual(problem('warning', 'privileges', /is a superuser$/, 'use another role'));
  });

  it.each([3_000, -3_000])('whose clock is %i ms ahead has an error', async (aheadMs) => {
    const now = Date.now.bind(Date);
    jest.spyOn(Date, 'now').mockImplementation(() => now() + aheadMs);
    expect(await problems()).toEqual(problem('error', 'clock', / differ by \d{4} ms$/, 'synchronise both clocks'));
  });

  /** Replaces the response to statements with this text, or delays it. */
  function respond(part: string, response: () => unknown): void {
    const client = DatabaseClient.prototype as unknown as Record<'query', (...args: unknown[]) => Promise<unknown>>;
    const original = client.query;
    jest.spyOn(client, 'query').mockImplementation(async function (this: unknown, ...args) {
      return (String(args[0]).includes(part) && (await response())) || original.apply(this, args);
    });
  }

  it('which tells its time only after a second has no wrong clock', async () => {
    respond('clock_timestamp', () => sleep(1_100));
    expect(await problems()).toEqual({ exitCode: 0, findings: [] });
  });

  it.each([
    [14, 'error'],
    [15, undefined],
    [18, undefined],
    [19, 'warning'],
  ] as const)('with PostgreSQL %i: %s', async (major, status) => {
    respond('server_version_num', () => ({ rows: [{ major, isReadOnly: false }] }));
    const unsupported = { status, check: 'server', fix: 'use a version from 15 to 18' };
    expect((await problems()).findings).toMatchObject(status ? [unsupported] : []);
  });

  it.each([
    ['the server', '60', `ALTER ROLE ${ROLE} CONNECTION LIMIT -1`],
    ['the role', '1', `ALTER ROLE ${ROLE} CONNECTION LIMIT 9`],
    ['the database', '1', `DO $$ BEGIN EXECUTE format('ALTER DATABASE %I CONNECTION LIMIT 9', current_database()); END $$`],
  ])('with too few connections of %s has an error', async (_limit, instances, sql) => {
    await query(database.url, sql);
    const ofServer = `SELECT current_setting('max_connections')::int - current_setting('superuser_reserved_connections')::int AS room`;
    const [{ room }] = (await query(database.url, ofServer)) as [{ room: number }];
    const found = new RegExp(` and the limit is (?:9|${room}): requests wait for connections$`);
    expect(await problems({}, '--instances', instances)).toEqual(problem('error', 'connections', found, 'lower DATABASE_POOL_SIZE'));
    await query(database.url, `ALTER ROLE ${ROLE} CONNECTION LIMIT -1`);
    await query(database.url, `DO $$ BEGIN EXECUTE format('ALTER DATABASE %I CONNECTION LIMIT -1', current_database()); END $$`);
  });

  it.each([
    ['that is stopped', () => url.replace(/@[^/]+/, `@${CLOSED_PORT}`), /ECONNREFUSED/],
    ['that is a primary', () => url, /^the server is not a replica$/],
  ])('with a replica %s has an error', async (_state, replica, found) => {
    expect(await problems({ DATABASE_REPLICA_URLS: replica() })).toEqual(
      problem('error', `replica ${new URL(replica()).host}`, found, 'correct DATABASE_REPLICA_URLS'),
    );
    await waitFor(async () => expect(await query(database.url, `SELECT FROM pg_stat_activity WHERE usename = '${ROLE}'`)).toEqual([]));
  });

  it('whose database accepts connections and does not respond has an error', async () => {
    // AuthenticationOk and ReadyForQuery.
    const login = 'R\0\0\0\x08\0\0\0\0Z\0\0\0\x05I';
    const silent = createServer((socket) => void socket.once('data', () => socket.write(login))).listen(0, '127.0.0.1');
    await once(silent, 'listening');
    const { port } = silent.address() as AddressInfo;
    const expected = problem('error', 'database', 'Query read timeout', 'start the database');
    expect(await problems({ DATABASE_URL: `postgres://127.0.0.1:${port}/store` })).toEqual(expected);
    silent.close();
  });

  // redis-counters.spec.ts of apps/api has the other faults.
  it('whose Redis cannot be reached has an error', async () => {
    const fix = 'each process counts only its own requests';
    expect(await problems({ REDIS_URL: `redis://${CLOSED_PORT}` })).toEqual(problem('error', 'Redis', /ECONNREFUSED/, fix));
  });
});

it.each([
  ['true', 'warning', 'start the service'],
  ['false', 'error', 'run "animal-store migrate up"'],
] as const)('reports missing migrations with MIGRATE_ON_START=%s', async (MIGRATE_ON_START, status, fix) => {
  const empty = await createTestDatabase();
  const { findings } = await problems({ DATABASE_URL: empty.url, MIGRATE_ON_START });
  expect(findings).toContainEqual({
    ...{ status, check: 'migrations' },
    ...{ found: expect.stringMatching(/^\d+ of \d+ are pending$/), fix: expect.stringContaining(fix) },
  });
  await empty.drop();
});
