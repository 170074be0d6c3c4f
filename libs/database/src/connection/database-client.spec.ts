import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { connect, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { waitFor } from '@animal-store/local-postgres/testing';
import { afterEach, describe, expect, it, jest } from '@jest/globals';
import { DatabaseClient, type DatabaseClientConfig } from './database-client.js';
import { isDatabaseUnavailable, mayRecover } from './error-meaning.js';
import { FakeServer } from '../testing/fake-server.js';

const CLOSED = '127.0.0.1:1';

const servers: FakeServer[] = [];
const clients: DatabaseClient[] = [];

afterEach(async () => {
  jest.useRealTimers();
  for (const client of clients.splice(0)) await client.end().catch(() => undefined);
  for (const server of servers.splice(0)) server.close();
});

async function start(options: Parameters<typeof FakeServer.start>[0] = {}): Promise<FakeServer> {
  const server = await FakeServer.start(options);
  servers.push(server);
  return server;
}

function clientOf(hosts: readonly (FakeServer | string)[], parameters = '', config: Partial<DatabaseClientConfig> = {}): DatabaseClient {
  const names = hosts.map((host) => (typeof host === 'string' ? host : host.address)).join();
  const client = new DatabaseClient({
    url: `postgres://store:se%40cret@${names}/catalogue${parameters}`,
    application_name: 'spec',
    ...config,
  });
  clients.push(client);
  return client;
}

const READ_WRITE = '?target_session_attrs=read-write';
const connections = (...all: readonly FakeServer[]) => all.map((server) => server.connections);
const failureOf = (client: DatabaseClient) =>
  client.connect().then(
    () => undefined,
    (error: unknown) => error as NodeJS.ErrnoException,
  );

describe('a client', () => {
  it('connects once to a single server, prepares its session in one message, and returns itself', async () => {
    const server = await start();
    const client = clientOf([server], '?options=-cgeqo%3Doff');
    expect(await client.connect()).toBe(client);
    expect(server.sessions).toEqual([
      expect.objectContaining({ user: 'store', database: 'catalogue', application_name: 'spec', options: '-cgeqo=off' }),
    ]);
    expect(client.password).toBe('se@cret');
    expect(server.sessions).toEqual([
      expect.objectContaining({ DateStyle: 'ISO, MDY', TimeZone: 'UTC', standard_conforming_strings: 'on', client_encoding: 'UTF8' }),
    ]);
    expect(server.statements).toEqual([expect.stringContaining("SELECT pg_catalog.set_config('search_path', '', false)")]);
    expect(server.tlsRequests).toBe(0);
    expect(server.connections).toBe(1);
  });

  it('calls back without an error after it has connected, and with the error if it fails', async () => {
    const server = await start();
    const attempt = (client: DatabaseClient) => new Promise<unknown[]>((resolve) => client.connect((...args: unknown[]) => resolve(args)));
    expect(await attempt(clientOf([server]))).toEqual([]);
    expect(await attempt(clientOf([CLOSED]))).toEqual([expect.objectContaining({ code: 'ECONNREFUSED' })]);
  });

  it('closes its connection if the search path cannot be set', async () => {
    const server = await start({ rejects: /search_path/ });
    expect(await failureOf(clientOf([server]))).toMatchObject({ code: '42501' });
    await waitFor(() => expect(server.connections).toBe(0));
  });

  it('connects to a Unix socket, without TLS', async () => {
    const server = await start();
    const folder = await mkdtemp(join(tmpdir(), 'sockets-'));
    const proxy = createServer((socket) => socket.pipe(connect(server.port)).pipe(socket)).listen(join(folder, '.s.PGSQL.5433'));
    await once(proxy, 'listening');
    const host = encodeURIComponent(folder);
    for (const url of [
      `postgres://store@${host}:5433/catalogue?sslmode=require&sslnegotiation=direct`,
      `postgres:///catalogue?user=store&host=${host}&port=5433`,
      `postgres://store@${host},${CLOSED}/catalogue?sslmode=require&port=5433,1`,
    ]) {
      const client = new DatabaseClient({ url });
      clients.push(client);
      await client.connect();
      expect(server.sessions.at(-1)).toMatchObject({ user: 'store', database: 'catalogue' });
    }
    expect(server.tlsRequests).toBe(0);
    proxy.close();
    await rm(folder, { recursive: true });
  });

  it.each([
    ['?connect_timeout=7', 9_000, 7_000],
    ['?connect_timeout=7', 2_000, 2_000],
    ['?connect_timeout=7', undefined, 7_000],
    ['', 2_000, 2_000],
    ['', undefined, 0],
  ])('with %j and a connect timeout of %p waits for %i ms', (parameters, connectionTimeoutMillis, expected) => {
    const client = clientOf([CLOSED], parameters, connectionTimeoutMillis === undefined ? {} : { connectionTimeoutMillis });
    expect(client).toMatchObject({ _connectionTimeoutMillis: expected });
  });

  it('does not read PGSSLNEGOTIATION by itself, with which the constructor of `pg` would fail', () => {
    const env = jest.replaceProperty(process, 'env', { ...process.env, PGSSLNEGOTIATION: 'direct' });
    expect(new DatabaseClient({ url: 'not a URL' })).toBeDefined();
    env.restore();
  });

  it.each([
    ['42501', { code: '28000' }, true],
    ['55000', { code: '28000' }, true],
    ['XX000', { code: '28000' }, true],
    ['57P03', { code: '57P03' }, true],
    ['22023', { code: '08001' }, false],
  ])('reports a login that fails with %s as an unavailable database', async (rejectsLogin, expected, recovers) => {
    const [server, other] = [await start({ rejectsLogin }), await start({ rejectsLogin })];
    for (const servers of [[server], [server, other]]) {
      const error = await failureOf(clientOf(servers));
      expect(error).toMatchObject(servers.length === 1 ? { ...expected, message: 'no se puede' } : { errors: [expected, expected] });
      expect([isDatabaseUnavailable(error), mayRecover(error)]).toEqual([true, recovers]);
    }
  });

  it('reports a server that is not PostgreSQL, or closes the connection, as an unavailable database', async () => {
    for (const greeting of ['HTTP/1.1 400 Bad Request\r\n\r\n', '']) {
      const error = await failureOf(clientOf([await start({ greeting })]));
      expect([isDatabaseUnavailable(error), mayRecover(error)]).toEqual([true, true]);
    }
  });

  it('rejects a statement with the error of a server that ends the session, in any language', async () => {
    const server = await start({ ignores: /pick/ });
    const client = clientOf([server]);
    await client.connect();
    const failure = client.query('pick').catch((error: unknown) => error);
    await waitFor(() => expect(server.statements).toContain('pick'));
    server.terminate('57P05');
    expect(await failure).toMatchObject({ code: '57P05', message: 'terminando la conexión' });
    expect(isDatabaseUnavailable(await failure)).toBe(true);
  });

  it('ends within its query timeout if the server does not respond to that', async () => {
    const server = await start({ ignoresEnd: true });
    const client = clientOf([server], '', { query_timeout: 50 });
    await client.connect();
    await client.end();
  });

  it('fails in connect(), not in the constructor, if the URL is invalid', async () => {
    const client = new DatabaseClient({ url: 'postgres://store:%zz@localhost/store' });
    const error = await failureOf(client);
    expect(error).toMatchObject({ message: 'the connection URL must be percent-encoded; write % as %25', code: '08001' });
    expect(error?.cause).toBeInstanceOf(Error);
    expect(isDatabaseUnavailable(error)).toBe(true);
  });
});

describe('several servers', () => {
  it('are used in the order of the URL, even if a later one responds first', async () => {
    const { promise: login, resolve: endLogin } = Promise.withResolvers<void>();
    const [first, second] = [await start({ login }), await start()];
    const client = clientOf([first, second]);
    const connected = client.connect();
    await waitFor(() => expect([first, second].map(({ sessions }) => sessions.length)).toEqual([1, 1]));
    endLogin();
    await connected;
    expect([client.host, client.port]).toEqual(['127.0.0.1', first.port]);
    await waitFor(() => expect(connections(first, second)).toEqual([1, 0]));
    expect(first.statements).toEqual([expect.stringContaining('search_path')]);
  });

  it('are probed, and each failed or unused probe is closed', async () => {
    const [readOnly, writable] = [await start({ isReadOnly: true }), await start()];
    await clientOf([readOnly, CLOSED, writable], READ_WRITE).connect();
    await waitFor(() => expect(connections(readOnly, writable)).toEqual([0, 1]));
    expect(readOnly.statements).toEqual(['SHOW transaction_read_only']);
    expect(writable.sessions).toHaveLength(2);
  });

  it('are used with read-write in the order in which they respond', async () => {
    const { promise: login, resolve: endLogin } = Promise.withResolvers<void>();
    const [slow, quick] = [await start({ login }), await start()];
    const client = clientOf([slow, quick], READ_WRITE);
    await client.connect();
    expect(client.port).toBe(quick.port);
    endLogin();
    await waitFor(() => expect(connections(slow, quick)).toEqual([0, 1]));
  });

  it('are all listed in the error if all of them fail, and no probe stays open', async () => {
    const readOnly = await start({ isReadOnly: true });
    const error = await failureOf(clientOf([CLOSED, readOnly], READ_WRITE));
    expect(error?.message).toBe(`${CLOSED}: connect ECONNREFUSED ${CLOSED}; ${readOnly.address}: the server is read-only`);
    expect(error).toMatchObject({ code: '08001', errors: [{ code: 'ECONNREFUSED' }, { code: '25006' }] });
    await waitFor(() => expect(readOnly.connections).toBe(0));
    const inOrder = await failureOf(clientOf([CLOSED, '127.0.0.1:2']));
    expect(inOrder?.message).toBe(`${CLOSED}: connect ECONNREFUSED ${CLOSED}; 127.0.0.1:2: connect ECONNREFUSED 127.0.0.1:2`);
  });

  it('leave half of the timeout for another server if one does not respond', async () => {
    const [silent, second] = [await start({ login: new Promise(() => undefined) }), await start()];
    jest.useFakeTimers({ doNotFake: ['setImmediate', 'nextTick', 'queueMicrotask'] });
    const client = clientOf([silent, second], '', { connectionTimeoutMillis: 5_000 });
    const connected = client.connect();
    await waitFor(() => expect([silent, second].map(({ sessions }) => sessions.length)).toEqual([1, 1]));
    jest.advanceTimersByTime(2_499);
    await setImmediate();
    expect(connections(silent)).toEqual([1]);
    jest.advanceTimersByTime(1);
    await connected;
    expect(client.port).toBe(second.port);
    await waitFor(() => expect(connections(silent, second)).toEqual([0, 1]));
  });

  it('are not used after the pool has given up', async () => {
    const { promise: login, resolve: endLogin } = Promise.withResolvers<void>();
    const [first, second] = [await start({ login }), await start()];
    const client = clientOf([first, second]);
    const failure = failureOf(client);
    await waitFor(() => expect(first.sessions).toHaveLength(1));
    client.connection.stream.destroy();
    endLogin();
    expect((await failure)?.message).toBe('timeout exceeded when trying to connect');
    await waitFor(() => expect(connections(first, second)).toEqual([0, 0]));
  });

  it('include a single server that must accept writes', async () => {
    const readOnly = await start({ isReadOnly: true });
    const error = await failureOf(clientOf([readOnly], READ_WRITE));
    expect(error).toMatchObject({ message: 'the server is read-only', code: '25006' });
    await waitFor(() => expect(readOnly.connections).toBe(0));
  });
});

describe('sslmode', () => {
  it('prefer tries TLS first, and closes that connection before it connects without TLS', async () => {
    const server = await start();
    await clientOf([server], '?sslmode=prefer').connect();
    expect(server.tlsRequests).toBe(1);
    await waitFor(() => expect(server.connections).toBe(1));
  });

  it('require fails if the server does not support TLS', async () => {
    const server = await start();
    const error = await failureOf(clientOf([server], '?sslmode=require'));
    expect(error).toMatchObject({ message: 'the server does not support TLS, which sslmode requires', code: '08001' });
    expect(server.sessions).toEqual([]);
  });
});
