import { randomUUID } from 'node:crypto';
import { rm, writeFile } from 'node:fs/promises';
import { Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { createTestDatabase, query, type TestDatabase, waitFor } from '@animal-store/local-postgres/testing';
import { afterAll, afterEach, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { Database, type DatabaseOptions } from '../database.js';
import { FakeServer, message } from '../testing/fake-server.js';
import { DatabaseClient } from './database-client.js';
import { isDatabaseUnavailable } from './error-meaning.js';

const opened: Database[] = [];

afterEach(async () => {
  for (const dataSource of opened.splice(0)) await dataSource.destroy();
});

async function open(url: DatabaseOptions['url'], options: Partial<DatabaseOptions> = {}) {
  const dataSource = new Database({ url, applicationName: 'spec', poolSize: 2, persistence: [], ...options });
  await dataSource.initialize();
  opened.push(dataSource);
  return dataSource.pool;
}

const failure = (promise: Promise<unknown>) =>
  promise.then(
    () => undefined,
    (error: unknown) => error as Error,
  );

describe('a URL in a file', () => {
  const role = `rotated_${randomUUID().replaceAll('-', '')}`;
  const file = join(tmpdir(), randomUUID());
  let database: TestDatabase;

  beforeAll(async () => {
    database = await createTestDatabase();
  });
  afterAll(async () => {
    await query(database.url, `DROP ROLE ${role}`);
    await database.drop();
    await rm(file);
  });

  it('is read for each new connection', async () => {
    const rotate = async (password: string) => {
      const url = new URL(database.url);
      [url.username, url.password] = [role, password];
      await writeFile(file, `${url.href}\n`);
    };
    await query(database.url, `CREATE ROLE ${role} LOGIN PASSWORD 'first'`);
    await rotate('first');
    const pool = await open({ file });
    const held = await pool.connect();
    await query(database.url, `ALTER ROLE ${role} PASSWORD 'second'`);
    expect(await failure(pool.query('SELECT 1'))).toMatchObject({ code: '28P01' });
    await rotate('second');
    expect((await pool.query('SELECT current_user AS name')).rows).toEqual([{ name: role }]);
    held.release();
  });

  it('fails only the connection if it is missing or invalid', async () => {
    await writeFile(file, database.url);
    const pool = await open({ file });
    const held = await pool.connect();
    for (const damage of [() => rm(file), () => writeFile(file, 'postgres://store:%zz@localhost/store')]) {
      await damage();
      const error = await failure(pool.query('SELECT 1'));
      expect(error?.message).toMatch(/^the connection URL (?:cannot be read: ENOENT|must be percent-encoded)/);
      expect(isDatabaseUnavailable(error)).toBe(true);
    }
    held.release();
  });
});

it('a lost server is detected: by TCP keep-alive, and during a query by query_timeout', async () => {
  const database = await createTestDatabase();
  const setKeepAlive = jest.spyOn(Socket.prototype, 'setKeepAlive');
  const client = new DatabaseClient({ url: database.url, query_timeout: 100 });
  await client.connect();
  expect(setKeepAlive.mock.calls).toEqual([[true, 10_000]]);
  jest.restoreAllMocks();
  await sleep(300);
  expect((await client.query('SELECT 1 AS one')).rows).toEqual([{ one: 1 }]);
  await expect(client.query('SELECT pg_sleep(30)')).rejects.toThrow('Query read timeout');
  await expect(client.query('SELECT 1')).rejects.toThrow('not queryable');
  await database.drop();
});

it('the process survives a server that closes the connection right after the login', async () => {
  const ended = message('E', Buffer.from('SFATAL\0C57P01\0Mterminating connection\0\0'));
  // Sent in one segment, so that the client reads the error before the pool handles the login.
  const greeting = Buffer.concat([message('R', Buffer.alloc(4)), message('Z', Buffer.from('I')), ended]).toString();
  const server = await FakeServer.start({ greeting });
  const error = await failure(open(`postgres://u:p@${server.address}/d`));
  expect(isDatabaseUnavailable(error)).toBe(true);
  server.close();
});

it('a write in a read-only transaction closes no other connection', async () => {
  const database = await createTestDatabase();
  const pool = await open(database.url);
  const { rows } = await pool.query<{ pid: number }>('SELECT pg_backend_pid() AS pid');
  const client = await pool.connect();
  const other = await pool.connect();
  await client.query('BEGIN READ ONLY');
  const error = await failure(client.query('CREATE TABLE public.things (id int)'));
  expect(error).toMatchObject({ code: '25006' });
  expect(isDatabaseUnavailable(error)).toBe(true);
  await client.query('ROLLBACK');
  client.release();
  other.release();
  expect(pool.idleCount).toBe(2);
  expect((await pool.query('SELECT count(*)::int AS kept FROM pg_stat_activity WHERE pid = $1', [rows[0]?.pid])).rows).toEqual([
    { kept: 1 },
  ]);
  await opened.pop()?.destroy();
  await database.drop();
});

describe('a login', () => {
  const role = `login_${randomUUID().replaceAll('-', '')}`;
  let database: TestDatabase;

  beforeAll(async () => {
    database = await createTestDatabase();
    await query(database.url, `CREATE ROLE ${role} LOGIN CONNECTION LIMIT 3`);
  });
  afterAll(async () => {
    await database.drop();
    await query(process.env['TEST_POSTGRES_URL'] ?? '', `DROP ROLE ${role}`);
  });
  const urlWith = (password: string) => {
    const url = new URL(database.url);
    [url.username, url.password] = [role, password];
    return url.href;
  };

  it.each(['plain', '\u00a0spaces\u3000', 'Ⅸ ﬁ', '密码', 'Tür🔑'])('accepts the password %j', async (password) => {
    await query(database.url, `ALTER ROLE ${role} PASSWORD '${password}'`);
    const client = new DatabaseClient({ url: urlWith(password) });
    await client.connect();
    await client.end();
  });

  it('accepts more iterations of SCRAM than the default of `pg`', async () => {
    await query(database.url, `SET scram_iterations = 100001`, `ALTER ROLE ${role} PASSWORD 'slow'`);
    const client = new DatabaseClient({ url: urlWith('slow') });
    await client.connect();
    await client.end();
  });

  it('rejects so many iterations that the process would stand still', async () => {
    const [salt, hash] = [16, 32].map((length) => Buffer.alloc(length).toString('base64'));
    await query(database.url, `ALTER ROLE ${role} PASSWORD 'SCRAM-SHA-256$4000001:${salt}$${hash}:${hash}'`);
    expect((await failure(new DatabaseClient({ url: urlWith('slow') }).connect()))?.message).toContain('iteration count 4000001');
  });

  it('that fails takes no connection of the server', async () => {
    const logins = Array.from({ length: 40 }, () => failure(new DatabaseClient({ url: urlWith('') }).connect()));
    expect((await Promise.all(logins)).every((error) => isDatabaseUnavailable(error))).toBe(true);
    const open = `SELECT FROM pg_stat_activity WHERE usename = '${role}' OR (datname IS NULL AND backend_type = 'client backend')`;
    await waitFor(async () => expect(await query(database.url, open)).toEqual([]));
  });
});
