import { randomUUID } from 'node:crypto';
import {
  type Certificates,
  createCertificates,
  createTestDatabase,
  DurablePostgres,
  query,
  setOddSettings,
  type TestDatabase,
} from '@animal-store/local-postgres/testing';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Database, type DatabaseOptions } from '../database.js';
import { DatabaseClient, withOwnConnection } from './database-client.js';
import { isDatabaseUnavailable } from './error-meaning.js';
import { checkSession } from './session-settings.js';

const ROLE = `settings_${randomUUID().replaceAll('-', '')}`;
const serverUrl = process.env['TEST_POSTGRES_URL'] ?? '';
/** Not in the database with odd timeouts. */
const asSuperuser = (...texts: readonly string[]) => query(serverUrl, ...texts);

let database: TestDatabase;
let asRole: string;
let certificates: Certificates;
/** Has TLS. Loses commits that are not synchronous. */
let server: DurablePostgres;

const open = (url: string, options: Partial<DatabaseOptions> = {}) =>
  new Database({ url, applicationName: 'spec', poolSize: 1, persistence: [], ...options });

beforeAll(async () => {
  certificates = await createCertificates();
  const { ca, certificate, key } = certificates;
  const tls = ['ssl=on', `ssl_cert_file=${certificate}`, `ssl_key_file=${key}`, `ssl_ca_file=${ca}`];
  // The WAL writer would write the commits in the meantime.
  server = await DurablePostgres.start([...tls, 'synchronous_commit=off', 'wal_writer_delay=10s']);
  database = await createTestDatabase();
  await query(database.url, `CREATE ROLE ${ROLE} LOGIN PASSWORD 'secret'`);
  const url = new URL(database.url);
  [url.username, url.password] = [ROLE, 'secret'];
  asRole = url.href;
  await setOddSettings(database.url);
  // These would stop the other statements of this function.
  const name = new URL(database.url).pathname.slice(1);
  const timeouts = { idle_in_transaction_session_timeout: '1ms', idle_session_timeout: '5s', statement_timeout: '5s' };
  for (const [timeout, value] of Object.entries(timeouts)) await asSuperuser(`ALTER DATABASE ${name} SET ${timeout} = '${value}'`);
});

afterAll(async () => {
  await server.remove();
  await certificates.remove();
  await database.drop();
  await asSuperuser(`DROP ROLE ${ROLE}`);
});

it.each([
  ['the pool', async () => openAnd<object>(database.url, { statementTimeoutMs: 0 }, SETTINGS)],
  ['a URL with options', () => openAnd<object>(`${database.url}?options=-cDateStyle%3DGerman%20-csearch_path%3Dpublic`, {}, SETTINGS)],
  [
    'a connection outside the pool',
    () => withOwnConnection(database, 'spec', async (client) => (await client.query<object>(SETTINGS)).rows),
  ],
])('%s has the settings that this library requires, whatever the database or the URL sets', async (_what, read) => {
  expect(await read()).toEqual([
    {
      values: '1 NULL 00:00:01 \\x00 0.1',
      date: '2026-01-02 03:04:05+00',
      isolation: 'read committed',
      commit: 'local',
      path: 'pg_catalog',
      ends: '0 0 off',
      lock: '0',
    },
  ]);
});

/** What depends on settings that the database changes. */
const SETTINGS = `SELECT concat_ws(' ', '1', coalesce((ARRAY['{NULL}'::text[]])[1][1], 'NULL'), '1 s'::interval, '\\x00'::bytea, 0.1::float8) AS values,
  '2026-01-02T03:04:05Z'::timestamptz::text AS date, current_setting('transaction_isolation') AS isolation, current_setting('synchronous_commit') AS commit,
  current_setting('search_path') AS path, current_setting('lock_timeout') AS lock,
  concat_ws(' ', current_setting('idle_in_transaction_session_timeout'), current_setting('idle_session_timeout'), current_setting('exit_on_error')) AS ends`;

async function openAnd<Row>(url: string, options: Partial<DatabaseOptions>, text: string): Promise<Row[]> {
  const dataSource = await open(url, options).initialize();
  try {
    return await dataSource.query<Row[]>(text);
  } finally {
    await dataSource.destroy();
  }
}

it('the statement timeout is that of the service', async () => {
  const rows = await openAnd(database.url, { statementTimeoutMs: 1_234 }, 'SHOW statement_timeout');
  expect(rows).toEqual([{ statement_timeout: '1234ms' }]);
});

it('a session of a role that may only read is not changed', async () => {
  await asSuperuser(`ALTER ROLE ${ROLE} SET default_transaction_read_only = on`);
  expect(await openAnd(asRole, {}, 'SHOW transaction_read_only')).toEqual([{ transaction_read_only: 'on' }]);
  await asSuperuser(`ALTER ROLE ${ROLE} RESET ALL`);
});

it.each([
  ['off', 'local'],
  ['local', 'local'],
  ['remote_write', 'remote_write'],
  ['on', 'on'],
  ['remote_apply', 'remote_apply'],
])('with synchronous_commit = %s of the role, a commit has %s', async (given, expected) => {
  await asSuperuser(`ALTER ROLE ${ROLE} SET synchronous_commit = ${given}`);
  const rows = await openAnd(asRole, {}, 'SHOW synchronous_commit');
  expect(rows).toEqual([{ synchronous_commit: expected }]);
});

it('a session of a pooler is not changed, but rejected if its commits may be lost', async () => {
  const check = withOwnConnection(database, 'spec', async (client) => {
    await client.query('SET synchronous_commit = off');
    await checkSession(client, 0, {});
  });
  await expect(check).rejects.toThrow(`the session has synchronous_commit = 'off'`);
});

it('a database with another encoding is rejected before a table is created', async () => {
  const name = `encoded_${randomUUID().replaceAll('-', '')}`;
  await asSuperuser(`CREATE DATABASE ${name} ENCODING 'SQL_ASCII' LOCALE 'C' TEMPLATE template0 LOCALE_PROVIDER libc`);
  const url = new URL(database.url);
  url.pathname = `/${name}`;
  await expect(open(url.href).connect()).rejects.toThrow('the database has the encoding SQL_ASCII, and must have UTF8');
  await asSuperuser(`DROP DATABASE ${name} WITH (FORCE)`);
});

describe('a server that may lose commits', () => {
  it('has a warning with the settings of the server', async () => {
    const risks: unknown[] = [];
    const dataSource = open(database.url, { onDurabilityRisk: (risk) => risks.push(risk) });
    await dataSource.connect();
    await dataSource.destroy();
    expect(risks).toEqual(['the database has fsync = off, full_page_writes = off: a crash of its machine may lose or damage stored data']);
  });

  it('keeps what was committed, by statements and by transactions, if it is killed', async () => {
    const dataSource = open(server.url, { poolSize: 4, onDurabilityRisk: (risk) => expect(risk).toBeUndefined() });
    await dataSource.connect();
    await dataSource.query('CREATE TABLE public.things (id int)');
    await Promise.all(Array.from({ length: 20 }, (_, id) => dataSource.query('INSERT INTO public.things VALUES ($1)', [id])));
    for (let id = 20; id < 30; id++) {
      await dataSource.transaction((manager) => manager.query('INSERT INTO public.things VALUES ($1)', [id]));
    }
    await server.kill();
    await server.restart();
    await dataSource.destroy();
    expect(await query(server.url, 'SELECT count(*)::int AS stored FROM public.things')).toEqual([{ stored: 30 }]);
  });
});

describe('TLS', () => {
  let plain: TestDatabase;
  const warnings: Error[] = [];
  const collectWarning = (warning: Error) => warnings.push(warning);

  beforeAll(async () => {
    process.on('warning', collectWarning);
    plain = await createTestDatabase();
  });

  afterAll(async () => {
    process.off('warning', collectWarning);
    await plain.drop();
  });

  type Outcome = 'TLS' | 'no TLS' | RegExp;

  /** Returns whether the connection is encrypted, or the message of the error if it fails. */
  async function connect(base: string, host: string, parameters: string): Promise<string> {
    const url = new URL(base);
    url.hostname = host;
    url.search = parameters.replace(/\b(?:OTHER|CA)\b/, (name) => (name === 'CA' ? certificates.ca : certificates.otherCa));
    const client = new DatabaseClient({ url: url.href });
    client.on('error', () => undefined);
    try {
      await client.connect();
      const { rows } = await client.query<{ ssl: boolean }>('SELECT ssl FROM pg_stat_ssl WHERE pid = pg_backend_pid()');
      return rows[0]?.ssl ? 'TLS' : 'no TLS';
    } catch (error) {
      expect(isDatabaseUnavailable(error)).toBe(true);
      return (error as Error).message;
    } finally {
      await client.end();
    }
  }

  const NO_TLS = /^The server does not support SSL connections$/;
  const UNKNOWN_CA = /^(?:self-signed certificate|unable to)/;
  const WRONG_NAME = /(?:does not match|altnames)/;

  const expectOutcome = (outcome: string, expected: Outcome) =>
    typeof expected === 'string' ? expect(outcome).toBe(expected) : expect(outcome).toMatch(expected);

  describe.each<[parameters: string, byAddress: Outcome, byName: Outcome, withoutTls: Outcome]>([
    ['', 'no TLS', 'no TLS', 'no TLS'],
    ['sslmode=disable', 'no TLS', 'no TLS', 'no TLS'],
    ['sslmode=require', 'TLS', 'TLS', NO_TLS],
    ['sslmode=require&sslrootcert=CA', 'TLS', 'TLS', NO_TLS],
    ['sslmode=require&sslrootcert=OTHER', UNKNOWN_CA, UNKNOWN_CA, NO_TLS],
    ['sslmode=verify-ca&sslrootcert=CA', 'TLS', 'TLS', NO_TLS],
    ['sslmode=verify-ca&sslrootcert=OTHER', UNKNOWN_CA, UNKNOWN_CA, NO_TLS],
    ['sslmode=verify-full&sslrootcert=CA', WRONG_NAME, 'TLS', NO_TLS],
    ['sslmode=verify-full&sslrootcert=OTHER', UNKNOWN_CA, UNKNOWN_CA, NO_TLS],
    ['sslmode=verify-full', UNKNOWN_CA, UNKNOWN_CA, NO_TLS],
  ])('%j', (parameters, byAddress, byName, withoutTls) => {
    it('has the same effect as in libpq', async () => {
      expectOutcome(await connect(server.url, '127.0.0.1', parameters), byAddress);
      expectOutcome(await connect(server.url, 'localhost', parameters), byName);
      expectOutcome(await connect(plain.url, new URL(plain.url).hostname, parameters), withoutTls);
    });
  });

  it('sslcert and sslkey set the client certificate', async () => {
    const { certificate, key } = certificates;
    const url = (parameters: string) => `${server.url}?sslmode=require${parameters}`;
    const nameOf = async (parameters: string) => {
      const client = new DatabaseClient({ url: url(parameters) });
      await client.connect();
      const { rows } = await client.query<object>('SELECT client_dn AS name FROM pg_stat_ssl WHERE pid = pg_backend_pid()');
      await client.end();
      return rows;
    };
    expect(await nameOf('')).toEqual([{ name: null }]);
    expect(await nameOf(`&sslcert=${certificate}&sslkey=${key}`)).toEqual([{ name: '/CN=localhost' }]);
  });

  it('sslmode applies to a pool without a warning', async () => {
    const url = `${server.url}?sslmode=require`;
    const dataSource = await new Database({ url, applicationName: 'spec', poolSize: 1, persistence: [] }).initialize();
    const { rows } = await dataSource.pool.query('SELECT ssl FROM pg_stat_ssl WHERE pid = pg_backend_pid()');
    expect(rows).toEqual([{ ssl: true }]);
    await dataSource.destroy();
    expect(warnings).toEqual([]);
  });
});
