import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { get, type IncomingMessage } from 'node:http';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { Database } from '@animal-store/database';
import { findFreePort, waitFor } from '@animal-store/local-postgres/testing';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { trace } from '@opentelemetry/api';
import type { TracerProvider } from '@opentelemetry/sdk-trace';
import { DataSource } from 'typeorm';
import { endless, RawConnection } from '@animal-store/test-kit/raw-connection';
import { startTestApp, type TestApp } from '../http/testing/test-app.js';
import { type ExportedSpan, startTraceCollector, type TraceCollector } from './testing/trace-collector.js';
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

afterEach(() => {
  logged.length = 0;
});

interface TracedApp extends TestApp {
  readonly key: string;
  readonly collector: TraceCollector;
  /** Returns the spans since the start of the test. */
  spans(): Promise<ExportedSpan[]>;
}

/** Starts the app and a collector before the tests, and closes them after the tests. */
function useTracedApp(env: Record<string, string> = {}): TracedApp {
  const service = {} as { -readonly [Name in keyof TracedApp]: TracedApp[Name] };
  let isOpen = true;
  beforeAll(async () => {
    const collector = await startTraceCollector();
    const app = await startTestApp({ env: { OTEL_EXPORTER_OTLP_ENDPOINT: collector.url, ...env }, logger });
    const spans = async () => {
      if (isOpen) await exportSpans();
      return collector.spans();
    };
    const close = async () => {
      if (isOpen) await app.close();
      isOpen = false;
    };
    Object.assign(service, { ...app, close, collector, spans, key: await app.createKey('pets:read', 'pets:write') });
  });
  beforeEach(async () => {
    await exportSpans();
    service.collector.clear();
  });
  afterAll(async () => {
    await service.close();
    await service.collector.close();
  });
  return service;
}

/** Exports the spans that have ended. */
const exportSpans = () => (trace.getTracerProvider() as unknown as { getDelegate(): TracerProvider }).getDelegate().forceFlush();

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

/** A busy machine takes so long that the cached copy of a key expires, and the key is read again. */
const isReadOfKey = ({ kind, name }: ExportedSpan) => kind === 'CLIENT' && name === 'SELECT';

/** Returns the trace as nested names, with children sorted by name. */
function tree(spans: readonly ExportedSpan[], parentSpanId: string | undefined): object {
  const children = spans.filter((span) => span.parentSpanId === parentSpanId).sort((a, b) => a.name.localeCompare(b.name));
  return Object.fromEntries(children.map(({ kind, name, spanId }) => [`${kind} ${name}`, tree(spans, spanId)]));
}

describe('the OpenTelemetry SDK', () => {
  // In another process, because specs load the SDK. Only the SDK is checked, because prom-client loads the OpenTelemetry API.
  it('is only loaded if a collector is configured', async () => {
    const lines = await runBuilt(`
      import { _cache } from 'node:module';
      import { createApp } from '${built('create-app.js')}';
      import { readConfig } from '${built('config/config.js')}';
      for (const env of [{}, { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:1' }]) {
        const config = readConfig({ DATABASE_URL: 'postgres://127.0.0.1:1/none', LOG_LEVEL: 'silent', ...env });
        const app = await createApp({ config, contexts: [] });
        await app.close();
        console.log(String(Object.keys(_cache).some((path) => path.includes('@opentelemetry/sdk'))));
      }`);
    expect(lines).toEqual(['false', 'true']);
  });
});

describe('with a collector', () => {
  beforeAll(() => void (process.env['OTEL_RESOURCE_ATTRIBUTES'] = 'team=pets'));
  const service = useTracedApp({ DATABASE_POOL_SIZE: '2' });

  it('one trace joins caller, HTTP and SQL', async () => {
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
    const spans = await service.spans();
    const traceOf = ({ traceId, spanId }: Caller) =>
      tree(
        spans.filter((span) => span.traceId === traceId && (traceId === callers.list.traceId || !isReadOfKey(span))),
        spanId,
      );
    expect(traceOf(callers.list)).toEqual({
      'SERVER GET /v1/pets': {
        // The first use of a key reads it from the database, and records its use.
        'CLIENT SELECT': {},
        'CLIENT UPDATE': {},
        'CLIENT list pets.pets by status': {},
      },
    });
    expect(traceOf(callers.create)).toEqual({
      'SERVER POST /v1/pets': { 'CLIENT insert one pets.pets': {} },
    });
    expect(traceOf(callers.get)).toEqual({
      'SERVER GET /v1/pets/:petId': { 'CLIENT find one pets.pets': {} },
    });
    expect(traceOf(callers.missing)).toEqual({ 'SERVER GET': {} });
    const resource = { 'service.name': 'animal-store', 'service.instance.id': expect.stringMatching(/^[\da-f-]{36}$/), team: 'pets' };
    for (const span of spans) expect(span.resource).toMatchObject(resource);
    expect(spans.find(({ name }) => name === 'GET /v1/pets/:petId')?.attributes).toEqual({
      'http.request.method': 'GET',
      'http.response.status_code': 200,
      'http.route': '/v1/pets/:petId',
      'network.protocol.version': '1.1',
      'url.scheme': 'http',
    });
    expect(spans.find(({ name }) => name === 'insert one pets.pets')?.attributes).toEqual({
      'db.query.summary': 'insert one pets.pets',
      'db.query.text': expect.stringMatching(/INSERT INTO "pets"\."pets" .*\$1/s),
      'db.system.name': 'postgresql',
    });
  });

  it('keeps the trace of a request whose body arrives later', async () => {
    const caller = createCaller();
    using connection = await RawConnection.open(service.url);
    const body = '{"name":"Rex","categoryId":7}';
    const head = `POST /v1/pets HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${service.key}\r\ntraceparent: ${caller.traceparent}\r\n`;
    connection.write(`${head}Content-Type: application/json\r\nExpect: 100-continue\r\nContent-Length: ${String(body.length)}\r\n\r\n`);
    await waitFor(() => expect(connection.hasBytes).toBe(true));
    connection.write(body);
    expect(await connection.read()).toMatchObject({ status: 201 });
    const spans = await service.spans();
    const [server] = spans.filter(({ kind }) => kind === 'SERVER');
    const insert = spans.find(({ name }) => name === 'insert one pets.pets');
    expect([insert?.parentSpanId, insert?.traceId]).toEqual([server?.spanId, caller.traceId]);
  });

  it('separates the traces of requests that share a statement: it is in the trace of one of them', async () => {
    const { key } = service;
    // Leaves one connection, so that requests wait for it and share statements.
    const other = await service.app.get(Database).pool.connect();
    await send(service, key, '/v1/pets', {});
    const requests = Array.from({ length: 30 }, (_, i) => ({ caller: createCaller(), kind: i % 2 === 0 ? 'list' : 'create' }));
    await Promise.all(
      requests.map(({ caller, kind }) =>
        kind === 'list' ? send(service, key, '/v1/pets', caller) : send(service, key, '/v1/pets', caller, { name: 'Rex', categoryId: 7 }),
      ),
    );
    other.release();
    const spans = (await service.spans())
      .filter((span) => !isReadOfKey(span))
      .map((span) => ({ ...span, name: span.name.replace('insert one', 'insert') }));
    const statements = { list: 0, create: 0 };
    for (const { caller, kind } of requests) {
      const trace = spans.filter((span) => span.traceId === caller.traceId);
      const isOwner = trace.some((span) => span.kind === 'CLIENT');
      if (isOwner) statements[kind as keyof typeof statements]++;
      const server = kind === 'list' ? 'SERVER GET /v1/pets' : 'SERVER POST /v1/pets';
      const statement = kind === 'list' ? 'CLIENT list pets.pets' : 'CLIENT insert pets.pets';
      expect(tree(trace, caller.spanId)).toEqual({ [server]: isOwner ? { [statement]: {} } : {} });
    }
    expect(statements.list).toBeGreaterThan(0);
    expect(statements.create).toBeGreaterThan(0);
    expect(spans.filter(({ name }) => name === 'insert pets.pets')).toHaveLength(statements.create);
  });

  it('shows the type of an error in the spans of the statement and the request', async () => {
    const { key } = service;
    const pool = service.app.get(Database).pool;
    await pool.query('ALTER TABLE pets.pets RENAME TO lost');
    expect((await send(service, key, '/v1/pets', {})).status).toBe(503);
    await pool.query('ALTER TABLE pets.lost RENAME TO pets');
    expect((await send(service, key, '/v1/pets/0', {})).status).toBe(404);
    const failed = (await service.spans()).flatMap(({ name, attributes, isError }) =>
      attributes['error.type'] ? [[name, attributes['error.type'], isError]] : [],
    );
    expect(failed).toEqual([
      ['list pets.pets', '42P01', true],
      ['GET /v1/pets', '503', true],
    ]);
  });

  it('starts a trace if the caller has none, and logs it', async () => {
    await send(service, 'none', '/v1/pets', { traceparent: 'nonsense' });
    const [span] = (await service.spans()).filter(({ kind }) => kind === 'SERVER');
    expect(span?.parentSpanId).toBeUndefined();
    expect(logged.find(({ msg }) => msg === 'request')?.traceId).toBe(span?.traceId);
  });

  it('exports no spans of a trace that the caller does not sample, but logs its id', async () => {
    const caller = createCaller('00');
    await send(service, 'none', '/v1/pets', caller);
    expect((await service.spans()).filter(({ traceId }) => traceId === caller.traceId)).toEqual([]);
    expect(logged.find(({ msg }) => msg === 'request')?.traceId).toBe(caller.traceId);
  });

  it('exports no keys, and no values of bodies or statements', async () => {
    const { collector } = service;
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
    await exportSpans();
    const text = collector.text();
    expect(text).toContain('access');
    for (const secret of [key, key.slice(-49), name, '1234567890123', String(missing)]) expect(text).not.toContain(secret);
  });
});

describe('with a share of the traces', () => {
  const SHARE = 0.25;
  const service = useTracedApp({ OTEL_TRACES_SAMPLER_ARG: String(SHARE) });

  afterEach(() => {
    jest.restoreAllMocks();
  });

  it.each([
    ['below', SHARE - 0.01, 2],
    ['equal to', SHARE, 0],
  ])(
    'exports the spans of %s it at random, whether or not the caller samples, but always logs the trace id',
    async (_, random, exported) => {
      jest.spyOn(Math, 'random').mockReturnValue(random);
      const caller = createCaller();
      await send(service, 'none', '/v1/pets', caller);
      await send(service, 'none', '/v1/pets', {});
      jest.restoreAllMocks();
      const traceIds = logged.filter(({ msg }) => msg === 'request').map(({ traceId }) => traceId);
      expect(traceIds).toEqual([caller.traceId, expect.stringMatching(/^[0-9a-f]{32}$/)]);
      const requests = (await service.spans()).filter(({ kind }) => kind === 'SERVER');
      expect(requests.map(({ traceId }) => traceId)).toEqual(traceIds.slice(0, exported));
    },
  );

  it('exports the spans of a request that completes while the service closes', async () => {
    jest.spyOn(Math, 'random').mockReturnValue(0);
    const { key } = service;
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
    expect((await service.spans()).map(({ name }) => name)).toEqual(expect.arrayContaining(['list pets.pets', 'GET /v1/pets']));
  });
});

describe('an unavailable or hostile collector', () => {
  const acts: ((socket: Socket) => void)[] = [
    () => undefined,
    (socket) => void socket.write('not HTTP\r\n\r\n'),
    (socket) => void socket.write('\x15\x03\x03\x00\x02\x02\x46'),
    (socket) => void socket.resetAndDestroy(),
    (socket) => void socket.write('HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n{', () => socket.resetAndDestroy()),
    (socket) => void socket.write('HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nnull'),
    (socket) => void socket.write('HTTP/1.1 503 No\r\nRetry-After: 99999999999\r\nContent-Length: 0\r\n\r\n'),
    (socket) => setInterval(() => socket.write('a'), 100).unref(),
    endless('HTTP/1.1 200 OK\r\n\r\n'),
    endless('HTTP/1.1 200 OK\r\nX: '),
  ];

  // In another process, because pending exports would delay the end of this one.
  it('costs bounded time and memory, and requests are served', async () => {
    const servers = acts.map((act) =>
      createServer((socket) => {
        sockets.add(socket.on('error', () => undefined));
        socket.once('data', () => act(socket));
      }).listen(0, '127.0.0.1'),
    );
    const sockets = new Set<Socket>();
    await Promise.all(servers.map((server) => once(server, 'listening')));
    const ports = [await findFreePort(), ...servers.map((server) => (server.address() as AddressInfo).port)];
    const lines = await runBuilt(`
      import { fastify } from 'fastify';
      import { createLogger } from '${built('observability/logger.js')}';
      import { Tracing } from '${built('observability/tracing.js')}';
      // The exporter alone would delay the end of the process.
      process.env.OTEL_EXPORTER_OTLP_TIMEOUT = '60000';
      setTimeout(() => process.exit(1), 20_000);
      const logger = createLogger('info', { write: (line) => console.log(JSON.parse(line).msg) });
      await Promise.all([${ports.join()}].map(async (port) => {
        const server = fastify();
        server.decorateRequest('traceId', undefined);
        new Tracing(\`http://127.0.0.1:\${port}\`, 1, logger).traceRequests(server);
        server.get('/', () => 'served');
        for (let i = 0; i < 10; i++) console.log((await server.inject('/')).body);
        await server.close();
      }));
      console.log(process.memoryUsage().rss < 500_000_000 ? 'small' : 'large');
      process.exit();`);
    for (const server of servers) server.close();
    for (const socket of sockets) socket.destroy();
    expect(lines.filter((line) => line === 'served')).toHaveLength(10 * ports.length);
    expect(lines.at(-1)).toBe('small');
    expect(new Set(lines.slice(0, -1))).toEqual(new Set(['served', 'traces are not exported']));
  });
});

const built = (file: string) => pathToFileURL(join(import.meta.dirname, '../../dist', file)).href;

/** Runs a program that imports built files, and returns the lines of its output. */
async function runBuilt(program: string): Promise<string[]> {
  const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '--eval', program], { cwd: import.meta.dirname });
  return stdout.trimEnd().split('\n');
}
