import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { query } from '@animal-store/local-postgres/testing';
import { afterAll, afterEach, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { Client } from 'pg';
import type { Finding } from './database-checks.js';
import { json, runAnimalStore, useAnimalStore } from './testing/run-animal-store.js';

/** No server listens on this port. */
const CLOSED_PORT = '127.0.0.1:1';
/** Roles belong to the whole server, so the name is unique. */
const ROLE = `doctor_${randomBytes(6).toString('hex')}`;
const database = useAnimalStore();
let url: string;

beforeAll(async () => {
  await query(database.url, `CREATE ROLE ${ROLE} LOGIN PASSWORD 'of-tests-only'`);
  const asRole = new URL(database.url);
  [asRole.username, asRole.password] = [ROLE, 'of-tests-only'];
  url = asRole.href;
});

// After the database is dropped.
afterAll(() => query(process.env['TEST_POSTGRES_URL'] ?? '', `DROP ROLE ${ROLE}`));
afterEach(() => void jest.restoreAllMocks());

const grant = async () => query(database.url, (await database.run('grants', 'service', ROLE)).stdout);

const doctor = (env: Readonly<Record<string, string>> = {}, ...args: string[]) =>
  runAnimalStore({ DATABASE_URL: url, MIGRATE_ON_START: 'false', ...env }, ['doctor', ...args]);

/** Returns the exit code and the findings that are not `ok`, except that of the server of the specs, which is not durable. */
async function problems(env?: Readonly<Record<string, string>>, ...args: string[]) {
  const outcome = await doctor(env, '--json', ...args);
  const { findings } = json<{ findings: Finding[] }>(outcome);
  return { exitCode: outcome.exitCode, findings: findings.filter(({ status, check }) => status !== 'ok' && check !== 'durability') };
}

const problem = (status: Finding['status'], check: string, found: string | RegExp, fix: string | RegExp) => ({
  exitCode: status === 'error' ? 1 : 0,
  findings: [{ status, check, found: expect.stringMatching(found), fixes: expect.arrayContaining([expect.stringMatching(fix)]) }],
});

describe('a role without privileges', () => {
  it('is reported', async () => {
    const { exitCode, findings } = await problems();
    expect(exitCode).toBe(1);
    expect(findings).toEqual([
      {
        ...{ status: 'error', check: 'migrations', found: 'permission denied for table schema_migrations' },
        fixes: ['correct MIGRATION_DATABASE_URL', 'run the SQL of "animal-store grants service" as the owner'],
      },
      {
        ...{ status: 'error', check: 'privileges' },
        found: expect.stringMatching(
          new RegExp(`^the role ${ROLE} lacks SELECT ON public.schema_migrations, USAGE ON SCHEMA "access", .*, and \\d+ more$`),
        ),
        fixes: [`run the SQL of "animal-store grants service ${ROLE}" as the owner`],
      },
    ]);
  });

  it.each([
    ['SELECT ON access.clients'],
    ['UPDATE (last_used_at) ON access.api_keys'],
    ['USAGE ON SEQUENCE pets.pets_id_seq'],
    ['USAGE ON SCHEMA pets', 'USAGE ON SCHEMA "pets"'],
    ['DELETE ON events.deliveries', 'DELETE ON ALL TABLES IN SCHEMA "events"'],
  ])('for %s is reported', async (privilege, label = privilege) => {
    await grant();
    await query(database.url, `REVOKE ${privilege} FROM ${ROLE}`);
    const found = `the role ${ROLE} lacks ${label}`;
    expect(await problems()).toEqual({ exitCode: 1, findings: [expect.objectContaining({ check: 'privileges', found })] });
  });
});

describe('a deployment', () => {
  beforeAll(grant);

  it('without problems has one line per check', async () => {
    const { exitCode, stdout, stderr } = await doctor();
    expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: '' });
    expect(stdout.replace(/\d+/g, 'N').replace(/_[0-9a-f]+/g, '')).toMatch(
      new RegExp(
        [
          '^ok       configuration: all variables are valid',
          'ok       database: N.N.N.N:N accepts writes',
          'ok       version: PostgreSQL N.N',
          'warning  durability: the database has fsync = off, .*: a crash of its machine may lose or damage stored data',
          ' {9}fix: set fsync and .* to on',
          'ok       clock: the clocks of this machine and the database differ by less than N ms',
          'ok       migrations: all N are applied',
          'ok       privileges: the role .* has the privileges of the service',
          'ok       connections: the service opens up to N connections .*',
          '$',
        ].join('\n'),
      ),
    );
  });

  it.each([
    [{ MAX_IN_FLIGHT: '0', LOG_LEVEL: 'loud' }, [/^MAX_IN_FLIGHT must be /, /^LOG_LEVEL must be one of /]],
    [{ DATABASE_URL: '', DATABASE_URL_FILE: '/none/url' }, [/^DATABASE_URL_FILE cannot be read: ENOENT/]],
    [{ DATABASE_URL: '' }, [/^DATABASE_URL is required but not set$/]],
    [{ REDIS_URL_FILE: '/none/redis' }, [/^REDIS_URL_FILE cannot be read: ENOENT/]],
  ] as [Record<string, string>, RegExp[]][])('with the variables %j is not checked further', async (env, rules) => {
    const { exitCode, stderr } = await doctor(env);
    expect({ exitCode, stderr }).toEqual({
      exitCode: 1,
      stderr: `error: ${String(rules.length)} of ${String(rules.length)} checks failed\n`,
    });
    const { findings } = await problems(env);
    expect(findings).toEqual(
      rules.map((rule) => ({
        ...{ status: 'error', check: 'configuration', found: expect.stringMatching(rule) },
        fixes: ['correct it: the service does not start, and the other checks require it'],
      })),
    );
  });

  it('names the two ways out if only one side uses TLS', async () => {
    const { findings } = await problems({ DATABASE_URL: `${url}?sslmode=require`, DATABASE_REPLICA_URLS: url });
    expect(findings).toEqual([
      {
        ...{ status: 'error', check: 'database', fixes: ['enable TLS on the server', 'change sslmode in the URL'] },
        found: expect.stringMatching(/ cannot be reached: The server does not support SSL connections$/),
      },
    ]);
    const replica = await problems({ DATABASE_REPLICA_URLS: `${url}?sslmode=require` });
    expect(replica.findings).toEqual([expect.objectContaining({ fixes: findings[0]?.fixes })]);
  });

  it('in a database with another encoding has an error', async () => {
    const name = `latin_${randomBytes(6).toString('hex')}`;
    await query(database.url, `CREATE DATABASE ${name} ENCODING 'LATIN1' LOCALE 'C' TEMPLATE template0 LOCALE_PROVIDER libc`);
    const found = / cannot be reached: the database has the encoding LATIN1, and must have UTF8: create it/;
    const changed = new URL(name, url).href;
    expect(await problems({ DATABASE_URL: changed })).toEqual(problem('error', 'database', found, /^start the database$/));
    const migrated = await runAnimalStore({ DATABASE_URL: changed }, ['migrate', 'up']);
    expect(migrated).toEqual({
      exitCode: 1,
      stdout: '',
      stderr: expect.stringMatching(/^error: the database cannot be used: the database has the encoding LATIN1, .*\n$/),
    });
    await query(database.url, `DROP DATABASE ${name} WITH (FORCE)`);
  });

  it.each([
    [`postgres://somebody:secret@${CLOSED_PORT}/animals`, /^127\.0\.0\.1:1 cannot be reached: .*ECONNREFUSED/, /^start the database$/],
    ['none', /^127.* rejects the login: database "none" does not exist$/, /^correct the user, password and database in DATABASE_URL$/],
    ['?options=-c%20default_transaction_read_only=on', / is read-only$/, /^set DATABASE_URL to the primary$/],
  ])('with the database %s has an error', async (change, found, action) => {
    const changed = new URL(change, url).href;
    expect(await problems({ DATABASE_URL: changed })).toEqual(problem('error', 'database', found, action));
    const { stdout } = await doctor({ DATABASE_URL: changed });
    expect(stdout).toMatch(new RegExp(`^error    database: .*\n(?: {9}fix: .*\n)* {9}fix: .*${action.source.replace('^', '')}`, 'm'));
    expect(stdout).not.toContain('secret');
  });

  it('whose role may not connect has an error', async () => {
    const name = new URL(url).pathname.slice(1);
    await query(database.url, `REVOKE CONNECT ON DATABASE ${name} FROM PUBLIC`);
    const found = new RegExp(` rejects the login: permission denied for database "${name}"$`);
    expect(await problems()).toEqual(problem('error', 'database', found, /^grant CONNECT on the database$/));
    await query(database.url, `GRANT CONNECT ON DATABASE ${name} TO PUBLIC`);
  });

  it('with a superuser has a warning', async () => {
    const action = /^use a role with the privileges of "animal-store grants service"$/;
    expect(await problems({ DATABASE_URL: database.url })).toEqual(problem('warning', 'privileges', /is a superuser$/, action));
  });

  it('whose clock is 9 s off has an error', async () => {
    const now = Date.now.bind(Date);
    jest.spyOn(Date, 'now').mockImplementation(() => now() + 9_000);
    const found = /^the clock of this machine is \d+ ms ahead of the database$/;
    expect(await problems()).toEqual(problem('error', 'clock', found, /^synchronise both clocks/));
  });

  describe('with too few connections', () => {
    const limit = (connections: number) => query(database.url, `ALTER ROLE ${ROLE} CONNECTION LIMIT ${String(connections)}`);
    afterAll(() => limit(-1));

    it('of the server has an error', async () => {
      const found = /^the service opens up to 60000 connections \(instances 60 × DATABASE_POOL_SIZE 1000\), and max_connections /;
      expect(await problems({ DATABASE_POOL_SIZE: '1000' }, '--instances', '60')).toEqual(
        problem('error', 'connections', found, /^raise max_connections/),
      );
    });

    it('of the role has an error', async () => {
      await limit(9);
      const found = new RegExp(
        `and the CONNECTION LIMIT of the role ${ROLE} allows 9, of which 9 are free: requests wait for connections$`,
      );
      expect(await problems()).toEqual(problem('error', 'connections', found, /^raise the CONNECTION LIMIT of the role /));
    });

    it('of the role because of other programs has a problem', async () => {
      await limit(12);
      const other = new URL(url);
      other.searchParams.set('application_name', 'other');
      const others = Array.from({ length: 3 }, () => new Client({ connectionString: other.href }));
      try {
        await Promise.all(others.map((client) => client.connect()));
        const found = / allows 12, of which 9 are free: requests wait for connections$/;
        expect(await problems()).toEqual(problem('warning', 'connections', found, /^raise the CONNECTION LIMIT of the role /));
      } finally {
        await Promise.all(others.map((client) => client.end()));
      }
    });

    it('to connect has an error', async () => {
      await limit(0);
      const found = / cannot be reached: too many connections for role /;
      expect(await problems()).toEqual(problem('error', 'database', found, /^end connections that are not needed$/));
    });

    it('of the database has a problem', async () => {
      const name = new URL(url).pathname.slice(1);
      await limit(-1);
      await query(database.url, `ALTER DATABASE ${name} CONNECTION LIMIT 9`);
      expect(await problems()).toEqual(problem('error', 'connections', `and the CONNECTION LIMIT of the database ${name} allows 9`, ''));
      await query(database.url, `ALTER DATABASE ${name} CONNECTION LIMIT -1`);
    });
  });

  it.each([
    ['that is stopped', () => url.replace(/@[^/]+/, `@${CLOSED_PORT}`), /ECONNREFUSED.*, so the primary serves its lists$/],
    ['that is a primary', () => url, /^the server is not a replica, so the primary serves its lists$/],
  ])('with a replica %s has an error', async (_state, replica, found) => {
    const action = /^correct DATABASE_REPLICA_URLS$/;
    const { exitCode, findings } = await problems({ DATABASE_REPLICA_URLS: replica() });
    expect({ exitCode, findings }).toEqual(problem('error', `replica ${new URL(replica()).host}`, found, action));
  });

  it('whose Redis cannot be reached, or does not count, has an error', async () => {
    const action = /^correct the rights of the user in REDIS_URL$/;
    expect(await problems({ REDIS_URL: `redis://${CLOSED_PORT}` })).toEqual(problem('error', 'Redis', /ECONNREFUSED/, action));
    // A replica: it responds, but not to the script that counts.
    const redis = createServer((socket) => {
      // The client resets the connection.
      socket.on('error', () => undefined);
      socket.on('data', (bytes: Buffer) => {
        const commands = bytes.toString().match(/^(?:HELLO|CLIENT|EVAL)/gm) ?? ['TLS'];
        for (const name of commands) socket.write(['EVAL', 'TLS'].includes(name) ? '-READONLY of tests\r\n' : '+OK\r\n');
      });
    }).listen(0, '127.0.0.1');
    await once(redis, 'listening');
    const { port } = redis.address() as AddressInfo;
    expect(await problems({ REDIS_URL: `redis://127.0.0.1:${port}` })).toEqual(
      problem('error', 'Redis', /^READONLY of tests, so each process counts only its own requests$/, action),
    );
    const withTls = await problems({ REDIS_URL: `rediss://127.0.0.1:${port}` });
    expect(withTls).toEqual(problem('error', 'Redis', /wrong version number/, /^use a URL without TLS, such as redis:/));
    redis.close();
  });
});

describe('a missing migration', () => {
  const found = /^1 of \d+ are pending/;

  beforeAll(async () => {
    await grant();
    expect((await database.run('migrate', 'down', '--yes')).exitCode).toBe(0);
  });

  it('is an error if the service does not apply it', async () => {
    const action = /^run "animal-store migrate up" as the owner before the service starts$/;
    expect(await problems()).toEqual(problem('error', 'migrations', found, action));
  });

  it('is an error if the role may not apply it', async () => {
    const message = /^1 of \d+ are pending, and the role may not apply them$/;
    expect(await problems({ MIGRATE_ON_START: 'true' })).toEqual(problem('error', 'migrations', message, /^set MIGRATION_DATABASE_URL /));
  });

  it('is a warning if the service applies it', async () => {
    const env = { MIGRATE_ON_START: 'true', MIGRATION_DATABASE_URL: database.url };
    expect(await problems(env)).toEqual(problem('warning', 'migrations', found, /^start the service, which applies them/));
  });
});
