import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { get, type IncomingMessage } from 'node:http';
import { type AddressInfo, createServer } from 'node:net';
import { connectAccessUseCases } from '@animal-store/access-infrastructure';
import { poolOf } from '@animal-store/database';
import { createTestDatabase, findFreePort, waitFor } from '@animal-store/local-postgres/testing';
import { afterEach, describe, expect, it } from '@jest/globals';
import { createMigratedDatabase } from '@animal-store/test-kit';
import { DataSource } from 'typeorm';
import { contexts } from '../contexts.js';
import { BuiltService } from '../testing/built-service.js';
import { RawConnection } from '../testing/fuzz/raw-connection.js';
import { startTestApp, type TestApp } from '../testing/test-app.js';
import { type ExportedSpan, startTraceCollector, type TraceCollector } from '../testing/trace-collector.js';
import { createLogger } from './logger.js';

interface Caller {
  readonly traceId: string;
  readonly spanId: string;
  readonly traceparent: string;
}

function createCaller(flags = '01'): Caller {
  const traceId = randomBytes(16).toString('hex');
  const spanId = randomBytes(8).toString('hex');
  return { traceId, spanId, traceparent: `00-${traceId}-${spanId}-${flags}` };
}

interface LogLine {
  readonly msg: string;
  readonly level: number;
  readonly path?: string;
  readonly traceId?: string;
}

const logged: LogLine[] = [];
const logger = createLogger('info', { write: (line: string) => logged.push(JSON.parse(line) as LogLine) });
const cleanUps: (() => Promise<void>)[] = [];

afterEach(async () => {
  for (const cleanUp of cleanUps.splice(0).reverse()) await cleanUp();
  logged.length = 0;
});

async function start(env: Record<string, string> = {}): Promise<TestApp> {
  const service = await startTestApp({ env, logger });
  let isOpen = true;
  const close = async () => {
    if (isOpen) await service.close();
    isOpen = false;
  };
  cleanUps.push(close);
  return { ...service, close };
}

async function startTraced(env: Record<string, string> = {}): Promise<{ collector: TraceCollector; service: TestApp }> {
  const collector = await startTraceCollector();
  cleanUps.push(() => collector.close());
  return { collector, service: await start({ OTEL_EXPORTER_OTLP_ENDPOINT: collector.url, ...env }) };
}

async function send(
  service: Pick<TestApp, 'url'>,
  key: string,
  path: string,
  { traceparent }: Partial<Caller>,
  body?: object,
): Promise<Response> {
  const response = await fetch(service.url + path, {
    method: body ? 'POST' : 'GET',
    headers: {
      Authorization: `Bearer ${key}`,
      ...(traceparent !== undefined && { traceparent }),
      ...(body && { 'Content-Type': 'application/json' }),
    },
    ...(body && { body: JSON.stringify(body) }),
  });
  await response.text();
  return response;
}

/** Returns the trace as nested names, with children sorted by name. */
function tree(spans: readonly ExportedSpan[], parentSpanId: string | undefined): object {
  const children = spans.filter((span) => span.parentSpanId === parentSpanId).sort((a, b) => a.name.localeCompare(b.name));
  return Object.fromEntries(children.map(({ kind, name, spanId }) => [`${kind} ${name}`, tree(spans, spanId)]));
}

describe('without a collector', () => {
  // In separate processes, because other specs of this process load the SDK. Only the SDK is checked, because prom-client loads the OpenTelemetry API.
  it('the OpenTelemetry SDK is not loaded', async () => {
    const collector = await startTraceCollector();
    const database = await createTestDatabase();
    cleanUps.push(
      () => collector.close(),
      () => database.drop(),
    );
    const isLoaded = async (env: Record<string, string>) => {
      const service = await BuiltService.start({ DATABASE_URL: database.url, DRAIN_SECONDS: '0', ...env });
      cleanUps.push(() => service.stop());
      return (await service.loadedModules()).some((path) => path.includes('@opentelemetry/sdk'));
    };
    expect(await isLoaded({})).toBe(false);
    expect(await isLoaded({ OTEL_EXPORTER_OTLP_ENDPOINT: collector.url })).toBe(true);
  });

  it('the log line contains the trace id of a valid traceparent', async () => {
    const service = await start();
    const caller = createCaller();
    await send(service, 'none', '/v1/pets', caller);
    await send(service, 'none', '/v1/pets/1', { traceparent: caller.traceparent.toUpperCase() });
    await send(service, 'none', '/v1/pets/2', {});
    expect(logged.map(({ path, traceId }) => [path, traceId])).toEqual([
      ['/v1/pets', caller.traceId],
      ['/v1/pets/1', undefined],
      ['/v1/pets/2', undefined],
    ]);
  });
});

describe('with a collector', () => {
  it('one trace joins caller, HTTP, use case and SQL', async () => {
    const { collector, service } = await startTraced({ OTEL_SERVICE_NAME: 'spec' });
    const key = await service.createKey('pets:read', 'pets:write');
    const callers = { list: createCaller(), create: createCaller(), get: createCaller(), missing: createCaller() };
    await send(service, key, '/v1/pets?status=sold', callers.list);
    expect((await send(service, key, '/v1/pets', callers.create, { name: 'Rex', categoryId: 7 })).status).toBe(201);
    await send(service, key, '/v1/pets/1', callers.get);
    await send(service, key, '/missing', callers.missing);
    // The use of a key is recorded in the background.
    await waitFor(async () => {
      expect(await service.app.get(DataSource).query('SELECT 1 FROM access.api_keys WHERE last_used_at IS NOT NULL')).toHaveLength(1);
    });
    await service.close();

    const spans = collector.spans();
    const traceOf = ({ traceId, spanId }: Caller) =>
      tree(
        spans.filter((span) => span.traceId === traceId),
        spanId,
      );
    expect(traceOf(callers.list)).toEqual({
      'SERVER GET /v1/pets': {
        // The first use of a key reads it from the database, and records its use.
        'INTERNAL AuthenticateApiKey': { 'CLIENT SELECT': {}, 'CLIENT UPDATE': {} },
        'INTERNAL ListPets': { 'CLIENT list pets.pets by status': {} },
      },
    });
    expect(traceOf(callers.create)).toEqual({
      'SERVER POST /v1/pets': { 'INTERNAL AuthenticateApiKey': {}, 'INTERNAL CreatePet': { 'CLIENT insert pets.pets': {} } },
    });
    expect(traceOf(callers.get)).toEqual({
      'SERVER GET /v1/pets/:petId': { 'INTERNAL AuthenticateApiKey': {}, 'INTERNAL GetPet': { 'CLIENT find pets.pets': {} } },
    });
    expect(traceOf(callers.missing)).toEqual({ 'SERVER GET': {} });
    expect(new Set(spans.map(({ resource }) => resource['service.name']))).toEqual(new Set(['spec']));
    expect(spans.find(({ name }) => name === 'GET /v1/pets/:petId')?.attributes).toEqual({
      'http.request.method': 'GET',
      'http.response.status_code': 200,
      'http.route': '/v1/pets/:petId',
      'network.protocol.version': '1.1',
      'url.scheme': 'http',
    });
    const { pathname, hostname, port } = new URL((service.app.get(DataSource).options as { url: string }).url);
    expect(spans.find(({ name }) => name === 'insert pets.pets')?.attributes).toEqual({
      'db.namespace': pathname.slice(1),
      'db.query.summary': 'insert pets.pets',
      'db.query.text': expect.stringMatching(/\$1.*INSERT INTO "pets"\."pets" /s),
      'db.system.name': 'postgresql',
      'server.address': hostname,
      'server.port': Number(port),
    });
  });

  it('keeps the trace of a request whose body arrives later', async () => {
    const { collector, service } = await startTraced();
    const key = await service.createKey('pets:write');
    const caller = createCaller();
    const connection = await RawConnection.open(Number(new URL(service.url).port));
    const body = '{"name":"Rex","categoryId":7}';
    const head = `POST /v1/pets HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${key}\r\ntraceparent: ${caller.traceparent}\r\n`;
    connection.write(
      Buffer.from(`${head}Content-Type: application/json\r\nExpect: 100-continue\r\nContent-Length: ${String(body.length)}\r\n\r\n`),
    );
    await waitFor(() => expect(connection.hasBytes).toBe(true));
    connection.write(Buffer.from(body));
    expect(await connection.read({ isHead: false })).toMatchObject({ status: 201 });
    connection.reset();
    await service.close();
    const [server] = collector.spans().filter(({ kind }) => kind === 'SERVER');
    const useCases = collector.spans().filter(({ kind }) => kind === 'INTERNAL');
    expect(useCases.map(({ name, parentSpanId, traceId }) => [name, parentSpanId, traceId])).toEqual([
      ['AuthenticateApiKey', server?.spanId, caller.traceId],
      ['CreatePet', server?.spanId, caller.traceId],
    ]);
  });

  it('separates the traces of requests that share a statement: it is in the trace of one of them', async () => {
    const { collector, service } = await startTraced({ DATABASE_POOL_SIZE: '1' });
    const key = await service.createKey('pets:read', 'pets:write');
    await send(service, key, '/v1/pets', {});
    const requests = Array.from({ length: 30 }, (_, i) => ({ caller: createCaller(), kind: i % 2 === 0 ? 'list' : 'create' }));
    await Promise.all(
      requests.map(({ caller, kind }) =>
        kind === 'list' ? send(service, key, '/v1/pets', caller) : send(service, key, '/v1/pets', caller, { name: 'Rex', categoryId: 7 }),
      ),
    );
    await service.close();
    const spans = collector.spans();
    const statements = { list: 0, create: 0 };
    for (const { caller, kind } of requests) {
      const trace = spans.filter((span) => span.traceId === caller.traceId);
      const isOwner = trace.some((span) => span.kind === 'CLIENT');
      if (isOwner) statements[kind as keyof typeof statements]++;
      expect(tree(trace, caller.spanId)).toEqual(
        kind === 'list'
          ? {
              'SERVER GET /v1/pets': {
                'INTERNAL AuthenticateApiKey': {},
                'INTERNAL ListPets': isOwner ? { 'CLIENT list pets.pets': {} } : {},
              },
            }
          : {
              'SERVER POST /v1/pets': {
                'INTERNAL AuthenticateApiKey': {},
                'INTERNAL CreatePet': isOwner ? { 'CLIENT insert pets.pets': {} } : {},
              },
            },
      );
    }
    expect(statements.list).toBeGreaterThan(0);
    expect(statements.create).toBeGreaterThan(0);
    expect(spans.filter(({ name }) => name === 'insert pets.pets')).toHaveLength(statements.create);
  });

  it('traces each statement of a transaction', async () => {
    const { collector, service } = await startTraced();
    await service.app.get(DataSource).transaction((manager) => manager.query('SELECT $1::text', ['a value']));
    await service.close();
    const names = collector.spans().map(({ name, attributes }) => [name, attributes['db.query.text']]);
    expect(names).toEqual([
      ['START', undefined],
      ['SELECT', 'SELECT $1::text'],
      ['COMMIT', undefined],
    ]);
  });

  it('shows the type of an error in every span that it passes', async () => {
    const { collector, service } = await startTraced();
    const key = await service.createKey('pets:read');
    const pool = poolOf(service.app.get(DataSource));
    await pool.query('ALTER TABLE pets.pets RENAME TO lost');
    expect((await send(service, key, '/v1/pets', {})).status).toBe(500);
    await pool.query('ALTER TABLE pets.lost RENAME TO pets');
    expect((await send(service, key, '/v1/pets/1', {})).status).toBe(404);
    await service.close();
    const failed = collector
      .spans()
      .flatMap(({ name, attributes, isError }) => (attributes['error.type'] ? [[name, attributes['error.type'], isError]] : []));
    expect(failed).toEqual([
      ['list pets.pets', '42P01', true],
      ['ListPets', '42P01', true],
      ['GET /v1/pets', '500', true],
      ['GetPet', 'pet_not_found', false],
    ]);
  });

  it('starts a trace if the caller has none, and logs it', async () => {
    const { collector, service } = await startTraced();
    await send(service, 'none', '/v1/pets', { traceparent: 'nonsense' });
    await service.close();
    const [span] = collector.spans().filter(({ kind }) => kind === 'SERVER');
    expect(span?.parentSpanId).toBeUndefined();
    expect(logged.find(({ msg }) => msg === 'request')?.traceId).toBe(span?.traceId);
  });

  it('exports no spans of a trace that the caller does not sample, but logs its id', async () => {
    const { collector, service } = await startTraced();
    const caller = createCaller('00');
    await send(service, 'none', '/v1/pets', caller);
    await service.close();
    expect(collector.spans()).toEqual([]);
    expect(logged.find(({ msg }) => msg === 'request')?.traceId).toBe(caller.traceId);
  });

  it('exports no spans with the share 0, even if the caller samples, but logs the trace id', async () => {
    const { collector, service } = await startTraced({ OTEL_TRACES_SAMPLER_ARG: '0' });
    const caller = createCaller();
    await send(service, 'none', '/v1/pets', {});
    await send(service, 'none', '/v1/pets', caller);
    await service.close();
    expect(collector.spans()).toEqual([]);
    expect(logged.filter(({ msg }) => msg === 'request').at(-1)?.traceId).toBe(caller.traceId);
  });

  it('exports only the configured share of the traces, for any trace id of the caller', async () => {
    const { collector, service } = await startTraced({ OTEL_TRACES_SAMPLER_ARG: '0.2' });
    const lowTraceId = '0'.repeat(31) + '1';
    for (let i = 0; i < 100; i++) await send(service, 'none', '/v1/pets', { traceparent: `00-${lowTraceId}-${createCaller().spanId}-01` });
    await service.close();
    const requests = collector.spans().filter(({ kind }) => kind === 'SERVER');
    expect(requests.length).toBeGreaterThan(0);
    expect(requests.length).toBeLessThan(50);
  });

  it('exports the spans of a request that completes while the service closes', async () => {
    const { collector, service } = await startTraced();
    const key = await service.createKey('pets:read');
    const dataSource = service.app.get(DataSource);
    const blocker = dataSource.createQueryRunner();
    await blocker.query('BEGIN');
    await blocker.query('LOCK TABLE pets.pets');
    const responded = once(get(`${service.url}/v1/pets`, { agent: false, headers: { Authorization: `Bearer ${key}` } }), 'response');
    await waitFor(async () => {
      expect(await dataSource.query("SELECT 1 FROM pg_locks WHERE NOT granted AND relation = 'pets.pets'::regclass")).toHaveLength(1);
    });
    const closed = service.close();
    await blocker.query('COMMIT');
    await blocker.release();
    const [response] = (await responded) as [IncomingMessage];
    response.resume();
    expect(response.statusCode).toBe(200);
    await closed;
    expect(collector.spans().map(({ name }) => name)).toEqual(expect.arrayContaining(['list pets.pets', 'ListPets', 'GET /v1/pets']));
  });

  it('exports no keys, and no values of bodies or statements', async () => {
    const { collector, service } = await startTraced();
    const key = await service.createKey('pets:read', 'pets:write');
    const missing = 4611686018427387905n;
    const name = 'Never in a trace';
    await send(service, key, '/v1/pets', {}, { name, categoryId: 1234567890123 });
    await send(service, key, `/v1/pets/${String(missing)}`, {});
    await send(service, key, `/v1/pets/${key}?api_key=${key}`, {});
    await send(service, key, `/${key}`, {});
    await expect(service.app.get(DataSource).query('SELECT $1::int', [name])).rejects.toThrow(name);
    await fetch(service.url, { headers: { tracestate: `vendor=${key}`, baggage: key, traceparent: key, 'User-Agent': key } }).then(
      (response) => response.text(),
    );
    await service.close();
    const text = collector.text();
    expect(text).toContain('access');
    for (const secret of [key, key.slice(-49), name, '1234567890123', String(missing)]) expect(text).not.toContain(secret);
  });
});

describe('with an unavailable collector', () => {
  it.each([
    ['refuses the connection', findFreePort],
    ['never responds', async () => silentPort()],
  ])('that %s, requests are served, the service ends, and the outage is logged once', async (_, portOf) => {
    const database = await createMigratedDatabase(contexts.map(({ persistence }) => persistence));
    cleanUps.push(() => database.drop());
    const service = await BuiltService.start({
      DATABASE_URL: database.url,
      DRAIN_SECONDS: '0',
      ENVIRONMENT: 'test',
      OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${String(await portOf())}`,
    });
    cleanUps.push(() => service.stop());
    const access = await connectAccessUseCases(database.url);
    cleanUps.push(() => access.close());
    const key = await access.createApiKey.execute({ clientName: 'spec', environment: 'test', scopes: ['pets:read'] });
    const url = `http://127.0.0.1:${String(service.port)}`;
    for (let i = 0; i < 10; i++) expect((await send({ url }, key.secret, '/v1/pets', {})).status).toBe(200);
    await service.stop();
    expect(service.problems.map((line) => (JSON.parse(line) as LogLine).msg)).toEqual(['the last traces were not exported in time']);
  });
});

async function silentPort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const sockets = new Set<{ destroy(): void }>();
  server.on('connection', (socket) => sockets.add(socket.on('error', () => undefined)));
  cleanUps.unshift(
    () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        for (const socket of sockets) socket.destroy();
      }),
  );
  return (server.address() as AddressInfo).port;
}
