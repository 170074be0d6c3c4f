import { once } from 'node:events';
import { connect, type Server, Socket } from 'node:net';
import { promisify } from 'node:util';
import type { DomainError } from '@animal-store/kernel';
import { waitFor } from '@animal-store/local-postgres/testing';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, jest } from '@jest/globals';
import type { FastifyInstance } from 'fastify';
import { Client } from 'pg';
import { errorBody, type HttpError } from '../errors/http-errors.js';
import { createLogger } from '../observability/logger.js';
import { Metrics } from '../observability/metrics.js';
import type { Observability } from '../observability/observability.js';
import { readConfig } from '../config/config.js';
import { HttpServer } from './http-server.js';
import { pipelineUnread, RawConnection, rawGet as get } from '@animal-store/test-kit/raw-connection';
import { useTestApp } from './testing/test-app.js';

const MAX_IN_FLIGHT = 16;

const service = useTestApp(['pets:read', 'pets:write'], {
  env: { MAX_IN_FLIGHT: String(MAX_IN_FLIGHT), TRUSTED_PROXIES: '127.0.0.1', DATABASE_STATEMENT_TIMEOUT_MS: '0' },
});

const metric = async (pattern: RegExp) => Number(pattern.exec(await service.app.get(Metrics).registry.metrics())?.[1]);
const inFlight = () => metric(/^http_requests_in_flight (\d+)$/m);

describe('load shedding', () => {
  let database: Client;
  afterAll(() => database.end());
  beforeAll(async () => {
    database = new Client({ connectionString: service.databaseUrl });
    await database.connect();
    await (await list()).text();
  });

  const list = (signal?: AbortSignal) =>
    fetch(`${service.url}/v1/pets`, { headers: { Authorization: `Bearer ${service.key}` }, ...(signal && { signal }) });
  const shedInFlight = () => metric(/^http_requests_shed_total\{reason="in_flight"\} (\d+)$/m);

  /** Blocks requests for pets in the database until the returned function is called. */
  async function lockPets(): Promise<() => Promise<unknown>> {
    await database.query('BEGIN');
    await database.query('LOCK TABLE pets.pets IN ACCESS EXCLUSIVE MODE');
    return () => database.query('COMMIT');
  }

  async function expectShed(response: Response): Promise<void> {
    expect([response.status, await response.json()]).toEqual([
      503,
      { code: 'service_unavailable', message: expect.any(String), status: 503 },
    ]);
    expect(response.headers.get('retry-after')).toMatch(/^[1-9][0-9]*$/);
    expect(response.headers.get('cache-control')).toBe('no-store');
    expect(response.headers.get('x-request-id')).toMatch(/^\S+$/);
  }

  describe('with MAX_IN_FLIGHT requests in flight', () => {
    it('rejects further requests immediately, and completes the accepted ones', async () => {
      const pets: unknown = await (await list()).json();
      const shedBefore = (await shedInFlight()) || 0;
      const release = await lockPets();
      const accepted = Array.from({ length: MAX_IN_FLIGHT }, () => list());
      await waitFor(async () => expect(await inFlight()).toBe(MAX_IN_FLIGHT));
      await expectShed(await list());
      const ofDeprecated = await fetch(`${service.url}/v1/pets/1`);
      expect(ofDeprecated.headers.get('link')).toMatch(/; rel="successor-version"$/);
      expect(ofDeprecated.headers.get('deprecation')).toMatch(/^@\d+$/);
      await expectShed(ofDeprecated);
      for (const path of ['/health/live', '/health/ready?x']) expect((await fetch(service.url + path)).status).toBe(200);
      for (const path of ['/health/other', '/health/live/x']) await expectShed(await fetch(service.url + path));
      await expectShed(await fetch(`${service.url}/health/live`, { method: 'POST' }));
      await release();
      for (const response of await Promise.all(accepted)) expect([response.status, await response.json()]).toEqual([200, pets]);
      const after = await list();
      expect([after.status, await after.json()]).toEqual([200, pets]);
      expect(await inFlight()).toBe(0);
      expect(await shedInFlight()).toBe(shedBefore + 5);
    });

    it('does not count health probes, which wait for one query', async () => {
      await database.query('BEGIN');
      await database.query('LOCK TABLE schema_migrations IN ACCESS EXCLUSIVE MODE');
      const probes = Array.from({ length: 2 * MAX_IN_FLIGHT }, () => fetch(`${service.url}/health/ready`));
      const waiting = `SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`;
      await waitFor(async () => expect((await database.query(waiting)).rowCount).toBeGreaterThan(0));
      expect([(await list()).status, await inFlight()]).toEqual([200, 0]);
      // Once a minute, the watch of migrations waits too.
      expect((await database.query(waiting)).rowCount).toBeLessThanOrEqual(2);
      await database.query('COMMIT');
      await Promise.all(probes);
      expect((await fetch(`${service.url}/health/ready`)).status).toBe(200);
    });

    it('rejects a request whose body arrives later when the body is complete', async () => {
      using connection = await RawConnection.open(service.url);
      const body = '{"name":"Rex","categoryId":1}';
      const fields = `Host: x\r\nAuthorization: Bearer ${service.key}\r\nContent-Type: application/json\r\nContent-Length: ${String(body.length)}`;
      // The headers of the second request arrive with the first request.
      connection.write(`GET /health/live HTTP/1.1\r\nHost: x\r\n\r\nPOST /v1/pets HTTP/1.1\r\n${fields}\r\n\r\n`);
      expect(await connection.read()).toMatchObject({ status: 200 });
      const release = await lockPets();
      const accepted = Array.from({ length: MAX_IN_FLIGHT }, () => list());
      await waitFor(async () => expect(await inFlight()).toBe(MAX_IN_FLIGHT));
      const shedBefore = (await shedInFlight()) || 0;
      connection.write(`${body}GET /health/live HTTP/1.1\r\nHost: x\r\n\r\n`);
      expect(await connection.read()).toMatchObject({ status: 503, headers: { 'retry-after': '1' } });
      expect(await connection.read()).toMatchObject({ status: 200 });
      expect(await shedInFlight()).toBe(shedBefore + 1);
      await release();
      for (const { status } of await Promise.all(accepted)) expect(status).toBe(200);
    });

    it('counts requests whose clients have disconnected until their work is done', async () => {
      const release = await lockPets();
      const giveUp = new AbortController();
      const abandoned = Array.from({ length: MAX_IN_FLIGHT / 2 }, () => list(giveUp.signal).catch(() => 'abandoned'));
      const connections = await Promise.all(abandoned.map(() => RawConnection.open(service.url)));
      for (const connection of connections) connection.write(get('/v1/pets', `Authorization: Bearer ${service.key}\r\n`));
      await waitFor(async () => expect(await inFlight()).toBe(MAX_IN_FLIGHT));
      giveUp.abort();
      for (const connection of connections) connection.reset();
      expect(await Promise.all(abandoned)).toEqual(abandoned.map(() => 'abandoned'));
      await expectShed(await list());
      await release();
      await waitFor(async () => expect(await inFlight()).toBe(0));
    });
  });

  it('does not count the responses to clients that are gone before their bodies have arrived', async () => {
    for (let i = 0; i <= 2 * MAX_IN_FLIGHT; i++) {
      using connection = await RawConnection.open(service.url);
      const requested = once(service.app.getHttpServer() as Server, 'request');
      connection.write('POST /v1/pets HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\n{');
      await requested;
    }
    using connection = await RawConnection.open(service.url);
    connection.write(get('/v1/pets').repeat(3));
    for (let i = 0; i < 3; i++) expect(await connection.read()).toMatchObject({ status: 401 });
  });

  describe('while the event loop lags', () => {
    const now = performance.now.bind(performance);
    const lagged = async () => (await metric(/^http_requests_shed_total\{reason="event_loop_lag"\} (\d+)$/m)) || 0;
    let connection: RawConnection;

    beforeEach(async () => {
      connection = await RawConnection.open(service.url);
    });
    afterEach(() => {
      jest.restoreAllMocks();
      connection.reset();
    });

    async function statusOf(path: string): Promise<number | undefined> {
      connection.write(`GET ${path} HTTP/1.1\r\nHost: x\r\n\r\n`);
      return (await connection.read())?.status;
    }

    it('rejects requests except health probes, and serves them again afterwards', async () => {
      expect([await statusOf('/v1/nothing'), await lagged()]).toEqual([404, 0]);
      // A period of 100 ms seems to take longer than the limit.
      jest.spyOn(performance, 'now').mockImplementation(() => now() * 1_000);
      // Not `waitFor`, which reads the same clock.
      while ((await statusOf('/v1/nothing')) !== 503) await new Promise(setImmediate);
      expect(await lagged()).toBe(1);
      expect(await statusOf('/health/live')).toBe(200);
      jest.restoreAllMocks();
      await waitFor(async () => expect(await statusOf('/v1/nothing')).toBe(404));
    });

    it('serves requests after a single pause, such as the start of the process', async () => {
      const before = await lagged();
      // The clock jumps once. Three timers are due meanwhile.
      jest.spyOn(performance, 'now').mockImplementation(() => now() + 3_600_000);
      for (const end = now() + 300; now() < end;) expect(await statusOf('/v1/nothing')).toBe(404);
      expect(await lagged()).toBe(before);
    });
  });
});

describe('a server without the app', () => {
  const ORIGIN = 'https://a.example';
  let http: FastifyInstance;
  let metrics: Metrics;
  let url: string;

  const create = (env: Record<string, string>) => {
    metrics = new Metrics();
    const config = readConfig({ DATABASE_URL: 'postgres://unused', CORS_ORIGINS: ORIGIN, MAX_EVENT_LOOP_LAG_MS: '60000', ...env });
    http = new HttpServer(config, { logger: createLogger('silent'), metrics } as Observability).fastify;
    http.setErrorHandler<DomainError | HttpError>((error, _request, reply) => {
      const { status, ...body } = errorBody(error);
      return reply.code(status).send(body);
    });
  };
  const listen = async () => {
    url = await http.listen({ host: '127.0.0.1', port: 0 });
  };
  const openConnection = () => RawConnection.open(url);
  const countOf = async (pattern: RegExp) => Number(pattern.exec(await metrics.registry.metrics())?.[1]);
  const inFlight = () => countOf(/^http_requests_in_flight (\d+)$/m);
  const countConnections = () => promisify((http.server as Server).getConnections.bind(http.server))();

  afterEach(() => http.close());

  describe('above the maximum of connections', () => {
    let released: PromiseWithResolvers<string>;

    const start = async (maximum: number) => {
      create({ MAX_CONNECTIONS: String(maximum) });
      released = Promise.withResolvers();
      http.get('/slow', () => released.promise);
      http.get('/fast', () => 'done');
      await listen();
    };

    /** Opens connections one after the other, each with a request. */
    async function openMany(count: number, path: '/slow' | '/fast'): Promise<RawConnection[]> {
      const connections: RawConnection[] = [];
      for (let i = 0; i < count; i++) {
        const accepted = once(http.server, 'connection');
        const connection = await openConnection();
        await accepted;
        const requested = once(http.server, 'request');
        connection.write(get(path));
        await requested;
        if (path === '/fast') expect((await connection.read())?.status).toBe(200);
        connections.push(connection);
      }
      return connections;
    }
    const refusals = async () => (await metrics.requestsShed.get()).values.map(({ labels, value }) => [labels.reason, value]);

    it('the oldest idle one is closed for each new one', async () => {
      await start(4);
      const [first] = await openMany(1, '/fast');
      // Those that their clients have closed do not count.
      for (let i = 0; i < 4; i++) {
        for (const closed of await openMany(1, '/fast')) closed.reset();
        await waitFor(async () => expect(await countConnections()).toBe(1));
      }
      const busy = await openMany(1, '/slow');
      const [second, third] = await openMany(2, '/fast');
      first?.write(get('/fast'));
      expect(await first?.read()).toMatchObject({ status: 200 });
      const newest = await openMany(2, '/fast');
      for (const closed of [first, second]) expect(await closed?.read()).toBeUndefined();
      released.resolve('done');
      expect(await busy[0]?.read()).toMatchObject({ status: 200, body: 'done' });
      for (const open of [third, ...newest]) {
        open?.write(get('/fast'));
        expect(await open?.read()).toMatchObject({ status: 200 });
      }
      expect(await refusals()).toEqual([]);
      for (const connection of [...busy, third, ...newest]) connection?.reset();
    });

    it('a new one gets 503 if all are busy, and no response above a small reserve', async () => {
      await start(2);
      const busy = await openMany(2, '/slow');
      const refused = await openConnection();
      const dropped = await openConnection();
      expect(await dropped.read()).toBeUndefined();
      const headers = { connection: 'close', 'access-control-allow-origin': ORIGIN, 'x-request-id': expect.any(String) };
      const response = await refused.read();
      expect(response).toMatchObject({ status: 503, headers });
      expect(JSON.parse(response?.body ?? '')).toEqual({ code: 'service_unavailable', message: expect.any(String) });
      expect(await refused.read()).toBeUndefined();
      expect(await refusals()).toEqual([['connections', 2]]);
      released.resolve('done');
      for (const connection of busy) {
        expect(await connection.read()).toMatchObject({ status: 200, body: 'done' });
        connection.reset();
      }
    });

    it('a new one without a file descriptor is counted', async () => {
      await start(10_000);
      expect(http.server.maxConnections).toBe(10_100);
      http.server.emit('error', Object.assign(new Error('accept EMFILE'), { syscall: 'accept', code: 'EMFILE' }));
      expect(await refusals()).toEqual([['connections', 1]]);
    });
  });

  it.each([
    ['', '127.0.0.1'],
    ['127.0.0.1', '192.0.2.1'],
  ])('knows the address of a client, also after a reset, behind the proxies "%s": %s', async (trustedProxies, expected) => {
    create({ TRUSTED_PROXIES: trustedProxies });
    const address = Promise.withResolvers<string>();
    http.get('/', ({ ip }) => address.resolve(ip));
    await listen();
    const accepted = once(http.server, 'connection');
    const client = await openConnection();
    await accepted;
    client.write('GET / HTTP/1.1\r\nHost: x\r\nX-Forwarded-For: 192.0.2.1\r\n\r\n');
    client.reset();
    expect(await address.promise).toBe(expected);
  });

  it('asks for a file with 100 Continue when it is received, after the guards', async () => {
    create({});
    const accepted = Promise.withResolvers<void>();
    const isReached = Promise.withResolvers<void>();
    http.post('/file', { config: { acceptedBytes: { types: ['a/b'], maxBytes: 100_000 } } }, async ({ body }) => {
      isReached.resolve();
      await accepted.promise;
      return (body as { receive: () => Promise<unknown> }).receive().then(() => 'received');
    });
    await listen();
    using connection = await openConnection();
    connection.write('POST /file HTTP/1.1\r\nHost: x\r\nContent-Type: a/b\r\nContent-Length: 100000\r\nExpect: 100-continue\r\n\r\n');
    const response = connection.read({ isInterim: true });
    await isReached.promise;
    expect(await Promise.race([response, new Promise((resolve) => setImmediate(() => resolve('none yet')))])).toBe('none yet');
    accepted.resolve();
    expect(await response).toMatchObject({ status: 100 });
    connection.write('x'.repeat(100_000));
    expect(await connection.read()).toMatchObject({ status: 200, body: 'received' });
  });

  it('closes a connection that is reset before it is accepted', async () => {
    create({});
    await listen();
    const socket = new Socket();
    (http.server as Server).emit('connection', socket);
    expect(socket.destroyed).toBe(true);
  });

  it.each([
    ['3000', 30_000],
    ['60000', 130_000],
    ['0', 0],
  ])('closes a silent connection later than a request with statements of %s ms ends', (timeoutMs, expected) => {
    create({ DATABASE_CONNECT_TIMEOUT_MS: '2500', DATABASE_STATEMENT_TIMEOUT_MS: timeoutMs });
    expect(http.server.timeout).toBe(expected);
  });

  it('is not hindered by pipelined requests whose responses are not read', async () => {
    create({ MAX_IN_FLIGHT: '50' });
    http.get('/large', () => 'x'.repeat(1_500_000));
    http.get('/small', () => '');
    await listen();
    const sockets: Socket[] = [];
    const shed = async () => (await countOf(/^http_requests_shed_total\{reason="pipelined"\} (\d+)$/m)) || 0;
    for (let i = 0; i < 4; i++) sockets.push(await pipelineUnread(url, get('/large'), 60));
    // The responses of two connections are too many in total.
    await waitFor(async () => expect(await shed()).toBeGreaterThan(0));
    for (let i = 0; i < 10; i++) expect((await fetch(`${url}/small`)).status).toBe(200);
    expect(await shed()).toBeLessThanOrEqual(sockets.length);
    expect(await inFlight()).toBe(0);
    for (const socket of sockets) socket.destroy();
  });

  it('has no request in flight after a response that bypasses Fastify, or after its connection has closed, however that happens', async () => {
    create({ MAX_IN_FLIGHT: '10000' });
    http.get('/hijack', (_request, reply) => void reply.hijack().raw.end('x'));
    http.get('/raw', (_request, reply) => void reply.raw.end('x'));
    http.get('/never', (_request, reply) => void reply.hijack());
    http.get('/events', (_request, reply) => void reply.raw.writeHead(200).write('data: x'));
    http.get('/large', () => 'x'.repeat(1_500_000));
    http.post('/', async () => await new Promise((resolve) => setImmediate(resolve, 'x')));
    await listen();
    for (const path of ['/hijack', '/raw']) await (await fetch(url + path)).text();
    const post = 'POST / HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n';
    const hostile = [
      `${post}{}`,
      `${post}{`,
      `${post}{}nonsense`,
      ...['/never', '/events', '/large', '/hijack', '/raw', '/x'].map((path) => get(path)),
    ];
    const ends = [(socket: Socket) => socket.resetAndDestroy(), (socket: Socket) => socket.destroy(), (socket: Socket) => socket.end()];
    for (let i = 0; i < 1_000; i++) {
      const socket = connect(Number(new URL(url).port), '127.0.0.1').on('error', () => undefined);
      await once(socket, 'connect');
      // Some in the same turn of the event loop, some later.
      socket.write((hostile[i % hostile.length] ?? '').repeat(Math.floor(i / 27) % 3 === 2 ? 3 : 1));
      if (i % 2 === 0) await new Promise(setImmediate);
      ends[Math.floor(i / hostile.length) % ends.length]?.(socket);
      socket.resume();
      if (i % 100 === 99) socket.destroy();
    }
    http.server.closeAllConnections();
    await waitFor(async () => expect([await countConnections(), await inFlight()]).toEqual([0, 0]));
  });
});
