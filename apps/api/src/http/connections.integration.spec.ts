import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { Database } from '@animal-store/database';
import { waitFor } from '@animal-store/local-postgres/testing';
import { RawConnection, rawGet } from '@animal-store/test-kit/raw-connection';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { Client } from 'pg';
import { DataSource } from 'typeorm';
import { JobRunner } from '../contexts/job-runner.js';
import { Metrics } from '../observability/metrics.js';
import { Draining } from './connection.js';
import { startTestApp, type TestApp, useTestApp } from './testing/test-app.js';

const TIMEOUTS = { headersTimeout: 5_000, requestTimeout: 10_000, keepAliveTimeout: 650_000 };

const service = useTestApp(['pets:read', 'pets:write'], {
  env: { RATE_LIMIT: '0', KEEP_ALIVE_SECONDS: '650', CORS_ORIGINS: 'https://app.example.com' },
});

const open = (app: TestApp = service) => RawConnection.open(app.url);
const authorized = () => `Authorization: Bearer ${service.key}\r\n`;

function connectTo(): Socket {
  const { hostname, port } = new URL(service.url);
  return connect(Number(port), hostname).on('error', () => undefined);
}

it('the server has timeouts for the header section, the request and an idle connection', () => {
  expect(service.app.getHttpServer()).toMatchObject({ ...TIMEOUTS, maxHeadersCount: 0 });
});

it.each([
  ['64 header fields', 404, 64, 'localhost'],
  ['65 header fields', 431, 65, 'localhost'],
  ['a host with a port', 404, 1, '[::1]:3000'],
  ['an empty host', 404, 1, ''],
])('%s: %i', async (_what, status, fields, host) => {
  const connection = await open();
  connection.write(`GET /x HTTP/1.1\r\nHost: ${host}\r\n${'X: y\r\n'.repeat(fields - 1)}\r\n`);
  expect(await connection.read()).toMatchObject({ status, headers: { connection: 'keep-alive' } });
  connection.reset();
});

describe('a slow client', () => {
  /** Sends the text and then `more` every 100 ms, until the server closes the connection. Resolves to the response. */
  async function trickle(text: string, more: string): Promise<string> {
    const socket = connectTo();
    socket.write(text);
    const timer = setInterval(() => socket.write(more), 100);
    let received = '';
    socket.on('data', (data) => (received += data.toString()));
    await once(socket, 'close');
    clearInterval(timer);
    return received;
  }

  /** Shorter than those of the service. Node.js checks them once a second. */
  const SHORT_TIMEOUTS = { headersTimeout: 1_500, requestTimeout: 2_500 };

  beforeAll(() => void Object.assign(service.app.getHttpServer(), SHORT_TIMEOUTS));
  afterAll(() => void Object.assign(service.app.getHttpServer(), TIMEOUTS));

  const post = () => `POST /v1/pets HTTP/1.1\r\nHost: x\r\n${authorized()}Content-Type: application/json\r\n`;

  it('gets 408 that a script can read and is disconnected, whatever it sends slowly', async () => {
    const body = `${post()}Origin: https://app.example.com\r\n`;
    const requests = [
      ['its first byte', '', ''],
      ['the header section', 'GET /v1/pets HTTP/1.1\r\nHost: x\r\nX: ', 'y'],
      ['header fields', 'GET /v1/pets HTTP/1.1\r\nHost: x\r\n', 'X: y\r\n'],
      ['the body', `${body}Content-Length: 1000\r\n\r\n`, ' '],
      ['chunks', `${body}Transfer-Encoding: chunked\r\n\r\n`, '1\r\n \r\n'],
    ] as const;
    const responses = await Promise.all(requests.map(async ([what, begin, more]) => [what, await trickle(begin, more)] as const));
    for (const [what, response] of responses) {
      const [head = '', body = ''] = response.split('\r\n\r\n');
      expect([what, head]).toEqual([what, expect.stringMatching(/^HTTP\/1\.1 408 [^]*^Connection: close$/im)]);
      expect([what, head]).toEqual([what, expect.stringMatching(/^access-control-allow-origin: https:\/\/app\.example\.com$/im)]);
      expect([what, JSON.parse(body)]).toEqual([what, { code: 'request_timeout', message: expect.any(String), status: 408 }]);
    }
    const { values } = await service.app.get(Metrics).requestDurations.get();
    const counts = values.filter(({ metricName, labels }) => metricName?.endsWith('_count') && labels.status === 408);
    expect(counts.reduce((sum, { value }) => sum + value, 0)).toBe(requests.length);
  });

  it('gets 408 for a second request after the response to the first', async () => {
    const received = await trickle(`${post()}Content-Length: 2\r\n\r\n{}${post()}Content-Length: 1000\r\n\r\n`, ' ');
    expect(received.match(/(?<=HTTP\/1\.1 )\d+/g)).toEqual(['400', '408']);
  });
});

describe('a connection that must end', () => {
  const UPGRADE = 'Host: localhost\r\nConnection: Upgrade\r\nUpgrade: h2c\r\n';

  async function countSmuggled(): Promise<number> {
    const rows: unknown[] = await service.app.get(DataSource).query(`SELECT 1 FROM pets.pets WHERE name = 'smuggled'`);
    return rows.length;
  }

  async function smuggledRequest(): Promise<string> {
    const pet = '{"name":"smuggled","categoryId":7}';
    const fields = `Host: localhost\r\nAuthorization: Bearer ${await service.createKey('pets:write')}\r\nContent-Type: application/json\r\n`;
    return `POST /v1/pets HTTP/1.1\r\n${fields}Content-Length: ${String(pet.length)}\r\n\r\n${pet}`;
  }

  it.each([
    ['POST', '/v1/pets', 300_000, 401],
    ['OPTIONS', '/v1/pets', 300_000, 204],
    ['PUT', '/missing', 300_000, 404],
  ])('%s %s with a body and an Upgrade header is processed, and then its connection is closed', async (method, path, length, status) => {
    const connection = await open();
    connection.write(`${method} ${path} HTTP/1.1\r\n${UPGRADE}Content-Length: ${String(length)}\r\n\r\n${'x'.repeat(length)}`);
    expect(await connection.read()).toMatchObject({ status, headers: { connection: 'close' } });
    connection.reset();
  });

  it('a request without a body but with an Upgrade header is processed, and its connection continues', async () => {
    const connection = await open();
    for (const fields of ['', 'Content-Length: 0\r\n', '']) {
      connection.write(`GET /health/live HTTP/1.1\r\n${UPGRADE}${fields}\r\n`);
      expect(await connection.read()).toMatchObject({ status: 200, headers: { connection: 'keep-alive' } });
    }
    connection.reset();
  });

  it('processes the next request after a 414', async () => {
    const connection = await open();
    connection.write(`GET /${'a'.repeat(5_000)} HTTP/1.1\r\nHost: localhost\r\n\r\nGET /health/live HTTP/1.1\r\nHost: localhost\r\n\r\n`);
    expect(await connection.read()).toMatchObject({ status: 414 });
    expect(await connection.read()).toMatchObject({ status: 200 });
    connection.reset();
  });

  it('processes no request after one with an Upgrade header, because it may be part of a body', async () => {
    const dataSource = service.app.get(DataSource);
    const inner = await smuggledRequest();
    const authorization = `Authorization: Bearer ${await service.createKey('pets:read')}\r\n`;
    const blocker = dataSource.createQueryRunner();
    await blocker.query('BEGIN');
    await blocker.query('LOCK TABLE pets.pets');
    const connection = await open();
    connection.write(
      `GET /v1/pets HTTP/1.1\r\n${UPGRADE}${authorization}\r\nPOST /missing HTTP/1.1\r\nHost: localhost\r\nContent-Length: ${String(inner.length)}\r\n\r\n`,
    );
    await waitFor(async () => {
      expect(await dataSource.query("SELECT 1 FROM pg_locks WHERE NOT granted AND relation = 'pets.pets'::regclass")).toHaveLength(1);
    });
    // The connection is still open, because the first request is in progress.
    connection.write(inner);
    await fetch(`${service.url}/health/live`).then((response) => response.text());
    await blocker.query('COMMIT');
    await blocker.release();
    expect(await connection.read()).toMatchObject({ status: 200, headers: { connection: 'close' } });
    expect(await connection.read()).toBeUndefined();
    expect(await countSmuggled()).toBe(0);
  });
});

const PET = '{"name":"Rex","categoryId":7}';

const head = (line: string, ...fields: string[]) => `${line} HTTP/1.1\r\nHost: x\r\n${fields.join('')}`;
const creation = (authorization = authorized()) =>
  `${head('POST /v1/pets', authorization, 'Content-Type: application/json\r\n')}Content-Length: ${String(PET.length)}\r\n\r\n${PET}`;

/** Reads responses until the server closes the connection. */
async function readResponses(connection: RawConnection): Promise<string[]> {
  const all: string[] = [];
  for (let response; (response = await connection.read());) {
    all.push(`${String(response.status)} ${response.headers['connection'] ?? ''}`);
    expect(response.headers['content-type']).toBe('application/json');
  }
  return all;
}

it('a connection that has ended is destroyed after two seconds, even if its client leaves it open', async () => {
  const { port } = new URL(service.url);
  const socket = connect({ host: '127.0.0.1', port: Number(port), allowHalfOpen: true }).on('error', () => undefined);
  socket.write('nonsense\r\n\r\n');
  await once(socket.resume(), 'end');
  const endedAt = performance.now();
  await waitFor(() => {
    socket.write('more');
    expect(socket.destroyed).toBe(true);
  });
  expect(performance.now() - endedAt).toBeGreaterThan(1_500);
});

describe('a client that ends its side of the connection', () => {
  it.each<[when: string, sent: () => string, expected: string[]]>([
    ['after a request', () => creation(), ['201 close']],
    ['after pipelined requests', () => `${creation()}${creation()}`, ['201 keep-alive', '201 close']],
    ['before a request', () => '', []],
    ['in a header section', () => head('GET /health/live'), ['400 close']],
    ['in a body', () => creation().slice(0, -1), ['400 close']],
  ])('gets all responses, and then the server closes the connection: %s', async (_when, sent, expected) => {
    const connection = await open();
    connection.write(sent());
    connection.end();
    expect(await readResponses(connection)).toEqual(expected);
  });
});

describe('unread bodies', () => {
  const MIB = 1024 * 1024;

  describe('an error response to a request with an unread body', () => {
    const REJECTED: [what: string, status: number, beginning: () => string][] = [
      ['no key', 401, () => head('POST /v1/pets')],
      ['an unknown path', 404, () => head('POST /nothing')],
      ['a large body', 413, () => head('POST /v1/pets', authorized(), 'Content-Type: application/json\r\n')],
      ['a long target', 414, () => head(`POST /${'x'.repeat(4_096)}`)],
    ];

    it.each(REJECTED)('is sent at once, and the rest of the body is dropped: %s', async (_what, status, beginning) => {
      const connection = await open();
      connection.write(`${beginning()}Content-Length: ${String(9 * MIB)}\r\n\r\n${'x'.repeat(100)}`);
      expect(await connection.read()).toMatchObject({ status, headers: { connection: 'keep-alive' } });
      connection.write(`${'x'.repeat(9 * MIB - 100)}${creation()}`);
      expect(await connection.read()).toMatchObject({ status: 201 });
      connection.reset();
    });

    it('can be read by a client that sends a body in chunks first', async () => {
      const connection = await open();
      connection.write(`${head('POST /v1/pets')}Transfer-Encoding: chunked\r\n\r\n`);
      for (let i = 0; i < 8; i++) connection.write(`100000\r\n${'x'.repeat(MIB)}\r\n`);
      connection.write(`0\r\n\r\n${creation()}`);
      expect(await connection.read()).toMatchObject({ status: 401 });
      expect(await connection.read()).toMatchObject({ status: 201 });
      connection.reset();
    });

    it.each<[what: string, status: number, beginning: () => string]>([
      ['a large body', 413, () => head('POST /v1/pets', authorized())],
      ['a large body without a key', 401, () => head('POST /v1/pets')],
      ['an unknown path', 404, () => head('POST /nothing')],
      ['another method', 405, () => head('PUT /v1/pets')],
    ])('closes the connection if the client waits for 100 Continue: %s', async (_what, status, beginning) => {
      const connection = await open();
      connection.write(`${beginning()}Expect: 100-continue\r\nContent-Length: 100000\r\n\r\n`);
      expect(await readResponses(connection)).toEqual([`${String(status)} close`]);
    });
  });

  describe('a processed request gets its response if it is followed by', () => {
    it.each<[string, () => string, string[]]>([
      ['a stray byte', () => `${creation()}\0`, ['201 keep-alive', '400 close']],
      [
        'a broken chunk',
        () => `${creation()}${head('POST /v1/pets', authorized())}Transfer-Encoding: chunked\r\n\r\nzz\r\n`,
        ['201 keep-alive', '400 close'],
      ],
    ])('%s', async (_what, bytes, expected) => {
      const connection = await open();
      connection.write(bytes());
      expect(await readResponses(connection)).toEqual(expected);
    });
  });
});

describe('an app that stops', () => {
  let stopping: TestApp;
  let authorization: string;
  let database: Client;

  async function start(): Promise<void> {
    stopping = await startTestApp();
    authorization = `Authorization: Bearer ${await stopping.createKey('pets:read', 'pets:write')}\r\n`;
    database = new Client({ connectionString: stopping.databaseUrl });
    await database.connect();
  }

  async function stop(): Promise<void> {
    await database.end();
    await stopping.close();
  }

  const openFive = () => Promise.all([open(stopping), open(stopping), open(stopping), open(stopping), open(stopping)]);
  const get = (path: string) => rawGet(path, authorization);
  const create = () => creation(authorization);

  /** Blocks requests for pets until the returned function is called. */
  async function lockPets(): Promise<() => Promise<unknown>> {
    await database.query('BEGIN');
    await database.query('LOCK TABLE pets.pets');
    return () => database.query('COMMIT');
  }

  const statementsWait = (count: number) =>
    waitFor(async () => {
      const waiting = await database.query("SELECT 1 FROM pg_locks WHERE NOT granted AND relation = 'pets.pets'::regclass");
      // Concurrent requests share a statement, except those whose API key is not cached yet.
      expect(waiting.rowCount).toBeGreaterThanOrEqual(count);
    });

  /** Waits until this number of requests has been received and is not finished. */
  const requestsPend = (count: number) =>
    waitFor(async () => {
      expect(await stopping.app.get(Metrics).registry.metrics()).toMatch(new RegExp(`^http_requests_in_flight ${String(count)}$`, 'm'));
    });

  describe('while draining, pipelined requests', () => {
    beforeAll(start);
    afterAll(stop);

    it('all get responses if draining begins meanwhile, and the last response closes the connection', async () => {
      const release = await lockPets();
      const connection = await open(stopping);
      connection.write(get('/v1/pets'));
      await statementsWait(1);
      stopping.app.get(Draining).isActive = true;
      connection.write(create() + get('/health/live'));
      await statementsWait(2);
      await release();
      expect(await readResponses(connection)).toEqual(['200 keep-alive', '201 keep-alive', '200 close']);
    });

    it('are not processed after the response that closes the connection', async () => {
      const countPets = async () => (await database.query('SELECT 1 FROM pets.pets')).rowCount;
      const before = await countPets();
      const release = await lockPets();
      const connection = await open(stopping);
      stopping.app.get(Draining).isActive = true;
      connection.write(get('/v1/pets'));
      await statementsWait(1);
      // Processed immediately, but its response follows that of the first request.
      connection.write(get('/health/live'));
      await fetch(`${stopping.url}/health/live`).then((response) => response.text());
      connection.write(create());
      await fetch(`${stopping.url}/health/live`).then((response) => response.text());
      await release();
      expect(await readResponses(connection)).toEqual(['200 keep-alive', '200 close']);
      expect(await countPets()).toBe(before);
    });
  });

  // Each test closes the app.
  describe('closing', () => {
    beforeEach(start);
    afterEach(stop);

    it('waits for pending and pipelined requests, but not for idle connections', async () => {
      const [unused, used, busy, ended, pipelined] = await openFive();
      used.write(get('/v1/pets'));
      expect(await used.read()).toMatchObject({ status: 200 });
      const release = await lockPets();
      for (const connection of [busy, ended, pipelined]) connection.write(get('/v1/pets'));
      ended.end();
      await statementsWait(1);
      await requestsPend(3);
      const accepted = once(stopping.app.getHttpServer(), 'connection');
      const newest = await open(stopping);
      await accepted;
      newest.write(get('/health/live'));
      const closed = stopping.app.close();
      await waitFor(() => expect(stopping.app.getHttpServer().listening).toBe(false));
      pipelined.write(create() + create());
      await statementsWait(2);
      for (const connection of [unused, used]) expect(await connection.read()).toBeUndefined();
      await release();
      for (const connection of [busy, ended, newest]) expect(await readResponses(connection)).toEqual(['200 close']);
      expect(await readResponses(pipelined)).toEqual(['200 keep-alive', '201 keep-alive', '201 close']);
      await closed;
    });

    it('half-received requests time out as before, and do not delay the end', async () => {
      const server = stopping.app.getHttpServer();
      [server.headersTimeout, server.requestTimeout] = [500, 1_000];
      const [header, later, body, pipelined, silent] = await openFive();
      const halfHeader = 'GET /v1/pets HTTP/1.1\r\nHost:';
      const halfBody = create().slice(0, -1);
      header.write(halfHeader);
      later.write(get('/health/live'));
      expect(await later.read()).toMatchObject({ status: 200 });
      later.write(halfHeader);
      body.write(halfBody);
      pipelined.write(get('/health/live') + halfBody);
      expect(await pipelined.read()).toMatchObject({ status: 200 });
      await fetch(`${stopping.url}/health/live`).then((response) => response.text());
      let isClosed = false;
      const startedAt = performance.now();
      const closed = stopping.app.close().then(() => (isClosed = true));
      expect(await silent.read()).toBeUndefined();
      expect(isClosed).toBe(false);
      for (const connection of [header, later, body, pipelined]) expect(await readResponses(connection)).toEqual(['408 close']);
      await closed;
      // The longest timeout, the interval of the checks, and a short time to read the response.
      expect(performance.now() - startedAt).toBeLessThan(1_000 + 1_000 + 500 + 1_000);
    });

    it('stops listening before it waits for jobs, which still have the database', async () => {
      const job = Promise.withResolvers<void>();
      jest.spyOn(stopping.app.get(JobRunner), 'beforeApplicationShutdown').mockReturnValue(job.promise);
      const release = await lockPets();
      const busy = await open(stopping);
      busy.write(get('/v1/pets'));
      await statementsWait(1);
      const closed = stopping.app.close();
      await waitFor(async () => await expect(open(stopping)).rejects.toThrow('ECONNREFUSED'));
      await release();
      expect(await readResponses(busy)).toEqual(['200 close']);
      expect(await stopping.app.get(Database).query('SELECT 1 AS one')).toEqual([{ one: 1 }]);
      job.resolve();
      await closed;
      expect(stopping.app.get(Database).isInitialized).toBe(false);
    });
  });
});
