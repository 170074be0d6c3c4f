import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { rm, writeFile } from 'node:fs/promises';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createTestDatabase, DurablePostgres, query, type TestDatabase } from '@animal-store/local-postgres/testing';
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import type { DataSource } from 'typeorm';
import { createDataSource, type DatabaseOptions, poolOf } from './data-source.js';
import { isDatabaseUnavailable } from './database-unavailable.js';

const CLOSED = '127.0.0.1:1';
const opened: DataSource[] = [];

afterEach(async () => {
  for (const dataSource of opened.splice(0)) await dataSource.destroy();
});

async function open(url: DatabaseOptions['url'], options: Partial<DatabaseOptions> = {}) {
  const dataSource = createDataSource({ url, applicationName: 'spec', poolSize: 2, persistence: [], ...options });
  await dataSource.initialize();
  opened.push(dataSource);
  return poolOf(dataSource);
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
  let [first, second] = [] as unknown as [DurablePostgres, DurablePostgres];
  const host = ({ url }: DurablePostgres) => new URL(url).host;
  const urlOf = (hosts: string, attributes = '') => `postgres://failover:secret@${hosts}/animal_store${attributes}`;
  const readWrite = (...hosts: string[]) => urlOf(hosts.join(','), '?target_session_attrs=read-write');
  const port = async (pool: Awaited<ReturnType<typeof open>>) => {
    const { rows } = await pool.query<{ port: number }>('SELECT inet_server_port() AS port');
    return rows[0]?.port;
  };
  const portOf = (server: DurablePostgres) => Number(new URL(server.url).port);
  const setReadOnly = (server: DurablePostgres, value: 'on' | 'off') =>
    query(server.url, `ALTER SYSTEM SET default_transaction_read_only = ${value}`, 'SELECT pg_reload_conf()', 'SELECT pg_sleep(0.2)');

  beforeAll(async () => {
    [first, second] = await Promise.all([DurablePostgres.start(), DurablePostgres.start()]);
    for (const { url } of [first, second])
      await query(
        url,
        "CREATE ROLE failover LOGIN PASSWORD 'secret'",
        'CREATE SCHEMA f AUTHORIZATION failover',
        'CREATE TABLE f.things (id int)',
        'ALTER TABLE f.things OWNER TO failover',
      );
  });
  afterAll(() => Promise.all([first.remove(), second.remove()]));

  it('are used in the order of the URL', async () => {
    expect(await port(await open(urlOf([host(first), host(second)].join())))).toBe(portOf(first));
    expect(await port(await open(urlOf([CLOSED, host(second)].join())))).toBe(portOf(second));
    const parameters = `?host=127.0.0.1,127.0.0.1&port=1,${portOf(second)}`;
    expect(await port(await open(urlOf('', parameters)))).toBe(portOf(second));
  });

  it('are all listed in the error if all of them fail', async () => {
    const error = await failure(open(readWrite(CLOSED, '127.0.0.1:2')));
    expect(error?.message).toMatch(/^127\.0\.0\.1:1: .*ECONNREFUSED.*; 127\.0\.0\.1:2: .*ECONNREFUSED/);
    expect(isDatabaseUnavailable(error)).toBe(true);
  });

  it('are usable if one of them does not respond', async () => {
    const sockets: Socket[] = [];
    const silent = createServer((socket) => sockets.push(socket.on('error', () => undefined))).listen(0, '127.0.0.1');
    await once(silent, 'listening');
    const address = `127.0.0.1:${(silent.address() as AddressInfo).port}`;
    expect(await port(await open(urlOf(`${address},${host(second)}`), { connectTimeoutMs: 4_000 }))).toBe(portOf(second));
    expect(await port(await open(readWrite(address, host(second)), { connectTimeoutMs: 4_000 }))).toBe(portOf(second));
    for (const socket of sockets) socket.destroy();
    silent.close();
  });

  it('with target_session_attrs=read-write, the writable one is used, and one that became read-only is left', async () => {
    await setReadOnly(second, 'on');
    const pool = await open(readWrite(host(second), host(first)), { poolSize: 3 });
    expect(await port(pool)).toBe(portOf(first));

    const [busy, ...idle] = [await pool.connect(), await pool.connect(), await pool.connect()];
    for (const client of idle) client.release();
    await setReadOnly(first, 'on');
    await setReadOnly(second, 'off');
    const read = busy.query('SELECT pg_sleep(0.3), inet_server_port() AS port');
    const error = await failure(pool.query('INSERT INTO f.things VALUES (1)'));
    expect(error).toMatchObject({ code: '25006' });
    expect(isDatabaseUnavailable(error)).toBe(true);
    expect((await read).rows).toEqual([expect.objectContaining({ port: portOf(first) })]);
    busy.release();

    const inserts = await Promise.all(
      [1, 2, 3].map(() => pool.query('INSERT INTO f.things VALUES (1) RETURNING inet_server_port() AS port')),
    );
    expect(inserts.flatMap(({ rows }) => rows as unknown[])).toEqual([1, 2, 3].map(() => ({ port: portOf(second) })));
    await setReadOnly(first, 'off');
  });

  it('are all rejected while none accepts writes', async () => {
    await Promise.all([setReadOnly(first, 'on'), setReadOnly(second, 'on')]);
    const error = await failure(open(readWrite(host(first), host(second))));
    expect(error?.message).toBe(`${host(first)}: the server is read-only; ${host(second)}: the server is read-only`);
    await Promise.all([setReadOnly(first, 'off'), setReadOnly(second, 'off')]);
  });
});
