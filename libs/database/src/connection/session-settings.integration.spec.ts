import { randomUUID } from 'node:crypto';
import { createTestDatabase, DurablePostgres, query, setOddSettings, type TestDatabase } from '@animal-store/local-postgres/testing';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Database, type DatabaseOptions } from '../database.js';
import { isDatabaseUnavailable, mayRecover } from './error-meaning.js';
import { migrateUp } from '../migrations/migrations.js';
import { withOwnConnection } from './own-connection.js';

const ROLE = `settings_${randomUUID().replaceAll('-', '')}`;
const serverUrl = process.env['TEST_POSTGRES_URL'] ?? '';
/** Not in the database with odd timeouts. */
const asSuperuser = (...texts: readonly string[]) => query(serverUrl, ...texts);

let database: TestDatabase;
let asRole: string;

const open = (url: string, options: Partial<DatabaseOptions> = {}) =>
  new Database({ url, applicationName: 'spec', poolSize: 1, persistence: [], ...options });

beforeAll(async () => {
  database = await createTestDatabase();
  await query(database.url, `CREATE ROLE ${ROLE} LOGIN PASSWORD 'secret'`);
  const url = new URL(database.url);
  [url.username, url.password] = [ROLE, 'secret'];
  asRole = url.href;
  await setOddSettings(database.url);
  // These would stop the other statements of this function.
  const name = new URL(database.url).pathname.slice(1);
  const timeouts = { idle_in_transaction_session_timeout: '1ms', idle_session_timeout: '5s', statement_timeout: '20ms' };
  for (const [timeout, value] of Object.entries(timeouts)) await asSuperuser(`ALTER DATABASE ${name} SET ${timeout} = '${value}'`);
});

afterAll(async () => {
  await database.drop();
  await asSuperuser(`DROP ROLE ${ROLE}`);
});

interface Setting {
  readonly name: string;
  readonly value: string;
}

/** The values in this session of the settings that the database sets for new ones. */
const SETTINGS = `SELECT name, setting AS value FROM pg_settings WHERE lower(name) IN (
  SELECT lower(split_part(unnest(setconfig), '=', 1)) FROM pg_db_role_setting JOIN pg_database ON setdatabase = pg_database.oid
  WHERE datname = current_database())`;

/** Returns PostgreSQL's own values, which no configuration changes. */
async function defaults(names: readonly string[]): Promise<Record<string, string>> {
  const list = names.map((name) => `'${name}'`).join();
  const rows = await query<Setting>(serverUrl, `SELECT name, boot_val AS value FROM pg_settings WHERE name IN (${list})`);
  return Object.fromEntries(rows.map(({ name, value }) => [name, value]));
}

it.each<[string, () => Promise<Setting[]>]>([
  ['the pool', () => openAnd<Setting>(database.url, {}, SETTINGS)],
  ['the pool without prepared statements', () => openAnd<Setting>(database.url, { preparedStatements: false }, SETTINGS)],
  [
    'a connection outside the pool',
    () => withOwnConnection(database.url, 'spec', async (client) => (await client.query<Setting>(SETTINGS)).rows),
  ],
])('%s has the settings that this library requires, whatever the database sets', async (_what, read) => {
  const settings = Object.fromEntries((await read()).map(({ name, value }) => [name, value]));
  const names = Object.keys(settings);
  expect(names).toEqual(expect.arrayContaining(['DateStyle', 'TimeZone', 'array_nulls', 'statement_timeout', 'synchronous_commit']));
  expect(settings).toEqual({ ...(await defaults(names)), TimeZone: 'UTC', synchronous_commit: 'local' });
});

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

describe('a database with another encoding', () => {
  it.each(['SQL_ASCII', 'LATIN1'])('%s is rejected before a table is created', async (encoding) => {
    const name = `encoded_${randomUUID().replaceAll('-', '')}`;
    await asSuperuser(`CREATE DATABASE ${name} ENCODING '${encoding}' LOCALE 'C' TEMPLATE template0 LOCALE_PROVIDER libc`);
    const url = new URL(database.url);
    url.pathname = `/${name}`;
    const message = `the database "${name}" has the encoding ${encoding}, and must have UTF8: create a database with CREATE DATABASE … ENCODING 'UTF8' LOCALE 'C' TEMPLATE template0, and move the data with pg_dump`;
    for (const connect of [() => open(url.href).connect(), () => open(url.href).initialize()]) {
      const error = await connect().then(
        () => undefined,
        (reason: unknown) => reason as Error,
      );
      expect(error?.message).toBe(message);
      expect([isDatabaseUnavailable(error), mayRecover(error)]).toEqual([true, false]);
    }
    await asSuperuser(`DROP DATABASE ${name} WITH (FORCE)`);
  });
});

describe('a server that may lose commits', () => {
  it('has a warning with the settings of the server', async () => {
    const risks: unknown[] = [];
    const dataSource = open(database.url, { onDurabilityRisk: (risk) => risks.push(risk) });
    await dataSource.connect();
    await dataSource.destroy();
    expect(risks).toEqual([
      {
        problem:
          'the database has fsync = off, full_page_writes = off, synchronous_commit = off: a crash of its machine may lose or damage stored data',
        remedy: 'set fsync, full_page_writes and synchronous_commit to on',
      },
    ]);
  });

  it('keeps what was committed, by statements and by transactions, if it is killed', async () => {
    // The WAL writer would write the commits in the meantime.
    const server = await DurablePostgres.start(['synchronous_commit=off', 'wal_writer_delay=10s']);
    const risks: unknown[] = [];
    const dataSource = open(server.url, { poolSize: 4, onDurabilityRisk: (risk) => risks.push(risk) });
    await dataSource.connect();
    expect(risks).toEqual([
      {
        problem:
          'the database has synchronous_commit = off: the service sets local for its sessions, but other programs may lose what they commit',
        remedy: 'set synchronous_commit to on',
      },
    ]);
    await dataSource.query('CREATE TABLE public.things (id int)');
    await Promise.all(Array.from({ length: 20 }, (_, id) => dataSource.query('INSERT INTO public.things VALUES ($1)', [id])));
    for (let id = 20; id < 30; id++) {
      await dataSource.transaction((manager) => manager.query('INSERT INTO public.things VALUES ($1)', [id]));
    }
    await server.kill();
    await server.restart();
    await dataSource.destroy();
    expect(await query(server.url, 'SELECT count(*)::int AS stored FROM public.things')).toEqual([{ stored: 30 }]);
    await server.remove();
  });
});

it('migrations run on a database with odd settings', async () => {
  class CreateThings1763683200000 {
    up = (runner: { query: (text: string) => Promise<unknown> }) => runner.query('CREATE TABLE public.things (id bigint)') as Promise<void>;
    down = () => Promise.resolve();
  }
  const dataSource = await open(database.url, {
    persistence: [{ schema: 'public', entities: [], migrations: [CreateThings1763683200000] }],
  }).initialize();
  expect(await migrateUp(dataSource)).toEqual(['CreateThings1763683200000']);
  await dataSource.destroy();
});
