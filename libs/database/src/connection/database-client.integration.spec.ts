import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { rm, writeFile } from 'node:fs/promises';
import { type AddressInfo, createServer, Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { createTestDatabase, DurablePostgres, query, type TestDatabase, waitFor } from '@animal-store/local-postgres/testing';
import { afterAll, afterEach, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { Database, type DatabaseOptions } from '../database.js';
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
  const message = (type: string, body: Buffer) => {
    const head = Buffer.from(`${type}0000`);
    head.writeInt32BE(body.length + 4, 1);
    return Buffer.concat([head, body]);
  };
  const loggedIn = Buffer.concat([message('R', Buffer.alloc(4)), message('Z', Buffer.from('I'))]);
  const ended = message('E', Buffer.from('SFATAL\0C57P01\0Mterminating connection\0\0'));
  // Sent in one segment, so that the client reads the error before the pool handles the login.
  const server = createServer((socket) =>
    socket.on('error', () => undefined).once('data', () => socket.end(Buffer.concat([loggedIn, ended]))),
  );
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const error = await failure(open(`postgres://u:p@127.0.0.1:${(server.address() as AddressInfo).port}/d`));
  expect(isDatabaseUnavailable(error)).toBe(true);
  server.close();
});

describe('several servers', () => {
  const role = `failover_${randomUUID().replaceAll('-', '')}`;
  /** Its settings can change while it runs. */
  let first: DurablePostgres;
  /** A database of the shared server. Its settings apply to new connections. */
  let second: TestDatabase;
  let readWrite: string;
  const port = async (pool: Awaited<ReturnType<typeof open>>) => {
    const { rows } = await pool.query<{ port: number }>('SELECT inet_server_port() AS port');
    return rows[0]?.port;
  };
  const portOf = ({ url }: { readonly url: string }) => Number(new URL(url).port);
  /** Affects running sessions of `first`, and new ones of `second`. */
  const setReadOnly = ({ url }: { readonly url: string }, value: 'on' | 'off') =>
    query(
      url,
      url === first.url
        ? `ALTER SYSTEM SET default_transaction_read_only = ${value}`
        : `ALTER ROLE ${role} SET default_transaction_read_only = ${value}`,
      'SELECT pg_reload_conf()',
    );

  beforeAll(async () => {
    second = await createTestDatabase();
    first = await DurablePostgres.start();
    const { host, pathname } = new URL(second.url);
    await query(first.url, `CREATE DATABASE ${pathname.slice(1)}`);
    const firstUrl = new URL(first.url);
    firstUrl.pathname = pathname;
    for (const url of [firstUrl.href, second.url]) {
      await query(
        url,
        `CREATE ROLE ${role} LOGIN PASSWORD 'secret'`,
        `CREATE SCHEMA f AUTHORIZATION ${role}`,
        'CREATE TABLE f.things (id int)',
        `ALTER TABLE f.things OWNER TO ${role}`,
      );
    }
    readWrite = `postgres://${role}:secret@${host},${firstUrl.host}${pathname}?target_session_attrs=read-write`;
  });
  afterAll(async () => {
    await second.drop();
    await query(process.env['TEST_POSTGRES_URL'] ?? '', `DROP ROLE ${role}`);
    await first.remove();
  });

  it('with target_session_attrs=read-write, the writable one is used, and one that became read-only is left', async () => {
    await setReadOnly(second, 'on');
    const pool = await open(readWrite, { poolSize: 3 });
    expect(await port(pool)).toBe(portOf(first));
    // The probe of the server that is not used is closed.
    const sessions = `SELECT pid FROM pg_stat_activity WHERE usename = '${role}'`;
    await waitFor(async () => expect(await query(second.url, sessions)).toEqual([]));

    const [busy, ...idle] = [await pool.connect(), await pool.connect(), await pool.connect()];
    for (const client of idle) client.release();
    await setReadOnly(first, 'on');
    await setReadOnly(second, 'off');
    await waitFor(async () => {
      const { rows } = await busy.query('SHOW transaction_read_only');
      expect(rows).toEqual([{ transaction_read_only: 'on' }]);
    });
    const read = busy.query('SELECT pg_sleep(0.3), inet_server_port() AS port');
    // Another session may not have read the new settings yet.
    const error = await waitFor(async () => {
      const failed = await failure(pool.query('INSERT INTO f.things VALUES (1)'));
      expect(failed).toBeDefined();
      return failed;
    });
    expect(error).toMatchObject({ code: '25006' });
    expect(isDatabaseUnavailable(error)).toBe(true);
    expect((await read).rows).toEqual([expect.objectContaining({ port: portOf(first) })]);
    busy.release();

    const inserts = await Promise.all(
      [1, 2, 3].map(() => pool.query('INSERT INTO f.things VALUES (1) RETURNING inet_server_port() AS port')),
    );
    expect(inserts.flatMap(({ rows }) => rows as unknown[])).toEqual([1, 2, 3].map(() => ({ port: portOf(second) })));
  });
});
