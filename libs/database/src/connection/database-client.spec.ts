import dns from 'node:dns';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { connect, createServer, getDefaultAutoSelectFamilyAttemptTimeout, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Worker } from 'node:worker_threads';
import { waitFor } from '@animal-store/local-postgres/testing';
import { afterEach, describe, expect, it, jest } from '@jest/globals';
import { types } from 'pg';
import { FakeServer, int32, message } from '../testing/fake-server.js';
import { DatabaseClient, type DatabaseClientConfig, withOwnConnection } from './database-client.js';
import { isDatabaseUnavailable } from './error-meaning.js';
import { exactTypes, parseTime } from './value-types.js';

const CLOSED = { address: '127.0.0.1:1' };

const servers: { close(): unknown }[] = [];
const clients: DatabaseClient[] = [];

afterEach(async () => {
  for (const client of clients.splice(0)) await client.end().catch(() => undefined);
  for (const server of servers.splice(0)) await server.close();
});

async function start(options: Parameters<typeof FakeServer.start>[0] = {}): Promise<FakeServer> {
  const server = await FakeServer.start(options);
  servers.push(server);
  return server;
}

function clientOf({ address }: { readonly address: string }, parameters = '', config: Partial<DatabaseClientConfig> = {}): DatabaseClient {
  const client = new DatabaseClient({
    url: `postgres://store:se%40cret@${address}/catalogue${parameters}`,
    application_name: 'spec',
    ...config,
  });
  clients.push(client);
  return client;
}

const failureOf = (client: DatabaseClient) =>
  client.connect().then(
    () => undefined,
    (error: unknown) => error as NodeJS.ErrnoException,
  );

/** AuthenticationRequest. */
const request = (type: number, content = '') => message('R', Buffer.concat([int32(type), Buffer.from(content)]));

describe('a client', () => {
  it('connects once, checks its session in one message, and returns itself', async () => {
    const server = await start();
    const client = clientOf(server, '?options=-cgeqo%3Doff');
    expect(await client.connect()).toBe(client);
    expect(server.sessions).toEqual([
      expect.objectContaining({ user: 'store', database: 'catalogue', application_name: 'spec', options: '-cgeqo=off' }),
    ]);
    expect(client.password).toBe('se@cret');
    expect(server.sessions).toEqual([
      expect.objectContaining({ DateStyle: 'ISO, MDY', TimeZone: 'UTC', search_path: 'pg_catalog', client_encoding: 'UTF8' }),
    ]);
    expect(server.statements).toHaveLength(1);
    expect(server.tlsRequests).toBe(0);
    expect(server.connections).toBe(1);
  });

  it('has the application name of the URL or of PGAPPNAME, if there is one', async () => {
    const server = await start();
    const given = process.env['PGAPPNAME'];
    process.env['PGAPPNAME'] = 'of the environment';
    for (const parameters of ['', '?application_name=url']) await clientOf(server, parameters).connect();
    if (given === undefined) delete process.env['PGAPPNAME'];
    else process.env['PGAPPNAME'] = given;
    expect(server.sessions.map(({ application_name: name }) => name)).toEqual(['of the environment', 'url']);
  });

  it('calls back without an error after it has connected, and with the error if it fails', async () => {
    const server = await start();
    const attempt = (client: DatabaseClient) => new Promise<unknown[]>((resolve) => client.connect((...args: unknown[]) => resolve(args)));
    expect(await attempt(clientOf(server))).toEqual([]);
    expect(await attempt(clientOf(CLOSED))).toEqual([expect.objectContaining({ code: 'ECONNREFUSED' })]);
  });

  it.each([
    ['SQL that fails', { rejects: /pg_settings/ }, 'permission denied'],
    ['a standby', { isStandby: true }, 'the server is a standby, which is read-only'],
    ['another encoding', { settings: { server_encoding: 'LATIN1' } }, 'the database has the encoding LATIN1, and must have UTF8'],
    [
      'settings of the role',
      { settings: { DateStyle: 'German', synchronous_commit: 'off', session_replication_role: 'replica' } },
      `the session has DateStyle = 'German', session_replication_role = 'replica', synchronous_commit = 'off': run ALTER ROLE "store" SET DateStyle = 'ISO, MDY'; ALTER ROLE "store" SET session_replication_role = 'origin'; ALTER ROLE "store" SET synchronous_commit = 'on'; and restart the pooler`,
    ],
  ])('refuses a session with %s, and closes its connection', async (_what, options, message) => {
    const server = await start(options);
    const error = await failureOf(clientOf(server));
    expect(error?.message).toEqual(typeof message === 'string' ? message : expect.stringMatching(message));
    expect(isDatabaseUnavailable(error)).toBe(true);
    await waitFor(() => expect(server.connections).toBe(0));
  });

  it('requires the statement timeout only if it is given', async () => {
    const server = await start({ settings: { statement_timeout: '7' } });
    await clientOf(server).connect();
    await clientOf(server, '', { statementTimeoutMs: 7 }).connect();
    const error = await failureOf(clientOf(server, '', { statementTimeoutMs: 0 }));
    expect(error?.message).toContain(`ALTER ROLE "store" SET statement_timeout = '0'`);
    expect(server.sessions.map(({ statement_timeout: timeout }) => timeout)).toEqual([undefined, '7', '0']);
  });

  it('accepts a standby as a replica', async () => {
    await clientOf(await start({ isStandby: true }), '', { isReplica: true }).connect();
  });

  it.each([
    ['GSSAPI', request(7)],
    ['OAUTHBEARER', request(10, 'OAUTHBEARER\0\0')],
  ])('reports an authentication method such as %s, and closes its connection', async (_method, asksFor) => {
    const server = await start({ asksFor });
    const error = await failureOf(clientOf(server));
    expect(error).toMatchObject({
      code: '08001',
      message: expect.stringContaining('the server requires an authentication method that is not supported: '),
    });
    await waitFor(() => expect(server.connections).toBe(0));
  });

  it.each([
    ['a message out of order', request(11, 'r=x,s=eA==,i=1')],
    ['an unknown message', message('?', Buffer.from('what'))],
    ['an error without its end', message('E', Buffer.from('SERROR\0'))],
    ['an empty notice', message('N', Buffer.alloc(0))],
    ['a row that ends too early', Buffer.concat([request(0), message('Z', Buffer.from('I')), message('D', Buffer.from([0, 9, 0]))])],
  ])('reports %s as an unavailable database, and closes its connection', async (_what, asksFor) => {
    const server = await start({ asksFor });
    const error = await failureOf(clientOf(server));
    expect(isDatabaseUnavailable(error)).toBe(true);
    await waitFor(() => expect(server.connections).toBe(0));
  });

  it('connects to a Unix socket, without TLS', async () => {
    const server = await start();
    const folder = await mkdtemp(join(tmpdir(), 'sockets-'));
    const proxy = createServer((socket) => socket.pipe(connect(server.port)).pipe(socket)).listen(join(folder, '.s.PGSQL.5433'));
    await once(proxy, 'listening');
    const host = encodeURIComponent(folder);
    for (const url of [
      `postgres://store@${host}:5433/catalogue?sslmode=require`,
      `postgres:///catalogue?user=store&host=${host}&port=5433`,
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
    ['60', '?connect_timeout=7', 9_000, 7_000],
    ['60', '?connect_timeout=7', 2_000, 2_000],
    ['60', '?connect_timeout=0', undefined, 60_000],
    ['-1', '', undefined, 5_000],
    ['9999999', '', undefined, 2_147_483_647],
  ])('with PGCONNECT_TIMEOUT=%s, %j and a connect timeout of %p waits for %i ms', (seconds, parameters, givenMs, expected) => {
    const before = process.env['PGCONNECT_TIMEOUT'];
    process.env['PGCONNECT_TIMEOUT'] = seconds;
    const client = clientOf(CLOSED, parameters, givenMs === undefined ? {} : { connectionTimeoutMillis: givenMs });
    process.env['PGCONNECT_TIMEOUT'] = before;
    expect(client).toMatchObject({ _connectionTimeoutMillis: expected });
  });

  it.each([
    ['42501', '42501'],
    ['55000', '55000'],
    ['XX000', '08001'],
    ['57P03', '57P03'],
    ['22023', '08001'],
  ])('reports a login that fails with %s as an unavailable database', async (rejectsLogin, code) => {
    const server = await start({ rejectsLogin });
    const error = await failureOf(clientOf(server));
    expect(error).toMatchObject({ code, message: 'no se puede' });
    expect(isDatabaseUnavailable(error)).toBe(true);
    await waitFor(() => expect(server.connections).toBe(0));
  });

  it('reports a server that is not PostgreSQL, or closes the connection, as an unavailable database', async () => {
    for (const greeting of ['HTTP/1.1 400 Bad Request\r\n\r\n', '']) {
      const error = await failureOf(clientOf(await start({ greeting })));
      expect(isDatabaseUnavailable(error)).toBe(true);
    }
  });

  it.each<[string, Buffer, object]>([
    ['in any language', message('E', Buffer.from('SFATAL\0C57P05\0Mterminando\0\0')), { code: '57P05', message: 'terminando' }],
    ['with an error without a code', message('E', Buffer.from('SFATAL\0\0')), {}],
    ['with a message that ends too early', message('T', Buffer.from([0, 1])), { code: '08006' }],
    ['with a message of the login', message('R', Buffer.from([0, 0, 0, 11])), { code: '08006' }],
    ['with an unknown message', message('?', Buffer.alloc(0)), { message: 'received invalid response: 3f' }],
  ])('rejects a statement with the error of a server that ends the session, %s', async (_how, bytes, expected) => {
    const server = await start({ ignores: /pick/ });
    const client = clientOf(server);
    await client.connect();
    const failure = client.query('pick').catch((error: unknown) => error);
    await waitFor(() => expect(server.statements).toContain('pick'));
    server.terminate(bytes);
    expect(await failure).toMatchObject(expected);
    expect(isDatabaseUnavailable(await failure)).toBe(true);
  });

  it('ends within its query timeout if the server does not respond to that', async () => {
    const server = await start({ ignoresEnd: true });
    const client = clientOf(server, '', { query_timeout: 50 });
    await client.connect();
    await client.end();
  });

  it.each([
    ['without a response', ''],
    ['whose response arrives slowly and never ends', 'DDDDD'],
  ])('outside the pool gives up a statement %s', async (_what, bytes) => {
    const server = await start({ ignores: /pick/ });
    const timer = setInterval(() => server.send(Buffer.from(bytes)), 20);
    const url = `postgres://store@${server.address}/catalogue`;
    const error = await withOwnConnection({ url, connectTimeoutMs: 1_000 }, 'spec', (client) => client.query('pick')).catch(
      (thrown: unknown) => thrown,
    );
    clearInterval(timer);
    expect(error).toMatchObject({ message: 'Query read timeout' });
    expect(isDatabaseUnavailable(error)).toBe(true);
    await waitFor(() => expect(server.connections).toBe(0));
    const byDefault = await withOwnConnection({ url }, 'spec', ({ connection }) => Promise.resolve((connection.stream as Socket).timeout));
    expect(byDefault).toBe(5_000);
  });

  it('fails in connect(), not in the constructor, if the URL is invalid', async () => {
    const client = new DatabaseClient({ url: 'postgres://store:%zz@localhost/store' });
    const error = await failureOf(client);
    expect(error).toMatchObject({ message: 'the connection URL must be percent-encoded; write % as %25', code: '08001' });
    expect(error?.cause).toBeInstanceOf(Error);
    expect(isDatabaseUnavailable(error)).toBe(true);
  });
});

describe('a name with several addresses', () => {
  /** Listens on 127.0.0.2, where the queue of connections stays full. */
  async function startBusyServer(port: number) {
    const program = `
      const { parentPort, workerData: port } = require('node:worker_threads');
      require('node:net').createServer().listen({ port, host: '127.0.0.2', backlog: 1 }, () => {
        parentPort.postMessage('listening');
        Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);
      });`;
    const worker = new Worker(program, { eval: true, workerData: port });
    await once(worker, 'message');
    const queue = Array.from({ length: 4 }, () => connect(port, '127.0.0.2').on('error', () => undefined));
    await waitFor(() => expect(queue.filter(({ connecting }) => !connecting).length).toBeGreaterThanOrEqual(2));
    const close = async () => {
      for (const socket of queue) socket.destroy();
      await worker.terminate();
    };
    servers.push({ close });
  }

  const resolveTo = (...addresses: readonly string[]) =>
    jest.spyOn(dns, 'lookup').mockImplementation(((_host: string, _options: object, callback: (...args: unknown[]) => void) => {
      callback(
        null,
        addresses.map((address) => ({ address, family: 4 })),
      );
    }) as unknown as typeof dns.lookup);

  afterEach(() => void jest.restoreAllMocks());

  it('is reached by the second one if the first one drops packets', async () => {
    // Other platforms have no address 127.0.0.2.
    if (process.platform !== 'linux') return;
    const server = await start();
    await startBusyServer(server.port);
    resolveTo('127.0.0.2', '127.0.0.1');
    await clientOf({ address: `db.example:${String(server.port)}` }, '', { connectionTimeoutMillis: 4_000 }).connect();
  });

  it('is reached by the first one if it accepts the second packet, which follows after a second', () => {
    expect(getDefaultAutoSelectFamilyAttemptTimeout()).toBe(1_500);
  });
});

/** After an update, compare pg-internals.ts with the new code, then change the version here. */
it.each([
  ['pg', '8.23.1'],
  ['pg-pool', '3.14.0'],
])('the inside of %s is that of the version %s', (name, version) => {
  const ofPg = createRequire(createRequire(import.meta.url).resolve('pg'));
  const manifest = `${ofPg.resolve(name).split(`/node_modules/${name}/`)[0] ?? ''}/node_modules/${name}/package.json`;
  expect(JSON.parse(readFileSync(manifest, 'utf8'))).toMatchObject({ version });
});

const { BOOL, DATE, INT4, INT8, TIMESTAMPTZ } = types.builtins;
const parserOf = (oid: number, format?: 'text' | 'binary') => (exactTypes.getTypeParser as (...args: unknown[]) => unknown)(oid, format);
const parse = (oid: number, text: string) => (parserOf(oid, 'text') as (text: string) => unknown)(text);

describe('the type parsers', () => {
  it('read int8 as bigint, and other types as `pg` does', () => {
    expect(parse(INT8, '9223372036854775807')).toBe(2n ** 63n - 1n);
    expect((parserOf(INT8) as (text: string) => unknown)('-1')).toBe(-1n);
    for (const [oid, format] of [
      [INT4, 'text'],
      [INT4, 'binary'],
      [INT8, 'binary'],
      [TIMESTAMPTZ, 'binary'],
      [BOOL, 'text'],
      [DATE, 'text'],
    ] as const)
      expect(parserOf(oid, format)).toBe(types.getTypeParser(oid, format));
  });

  it.each([
    ['2026-11-26 12:38:59.627+00', '2026-11-26T12:38:59.627Z'],
    ['2026-11-26 12:38:59.627123+00', '2026-11-26T12:38:59.627Z'],
    ['2026-11-26T12:38:59Z', '2026-11-26T12:38:59.000Z'],
    ['2026-11-26 18:08:59.627+05:30', '2026-11-26T12:38:59.627Z'],
    ['2026-11-26 04:38:59-08', '2026-11-26T12:38:59.000Z'],
    ['0001-01-01 00:00:00+00', '0001-01-01T00:00:00.000Z'],
    ['0099-12-31 00:00:00+00', '0099-12-31T00:00:00.000Z'],
    ['12000-01-01 00:00:00+00', '+012000-01-01T00:00:00.000Z'],
    ['275760-09-13 00:00:00+00', '+275760-09-13T00:00:00.000Z'],
  ])('read the time %s', (text, iso) => {
    expect(parseTime(text).toISOString()).toBe(iso);
    expect(parse(TIMESTAMPTZ, text)).toEqual(new Date(iso));
  });

  it.each([
    ...['infinity', '-infinity', '0044-03-15 00:00:00+00 BC', '275760-09-14 00:00:00+00', '294276-12-31 23:59:59+00'],
    ...['26.11.2026 12:38:59.627 UTC', '11/26/2026 12:38:59 UTC', 'Thu Nov 26 12:38:59 2026 UTC', '2026-11-26 12:38:59', ''],
  ])('read the time %j as an invalid Date, not as null', (text) => {
    expect(String(parse(TIMESTAMPTZ, text))).toBe('Invalid Date');
  });
});
