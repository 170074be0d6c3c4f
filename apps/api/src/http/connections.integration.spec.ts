import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { waitFor } from '@animal-store/local-postgres/testing';
import { RawConnection } from '@animal-store/test-kit/raw-connection';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { DataSource } from 'typeorm';
import { Metrics } from '../observability/metrics.js';
import { head, rawCreation, readResponses } from './testing/raw-requests.js';
import { useTestApp } from './testing/test-app.js';

const TIMEOUTS = { headersTimeout: 5_000, requestTimeout: 10_000, keepAliveTimeout: 650_000 };

const service = useTestApp(['pets:read', 'pets:write'], {
  env: { RATE_LIMIT: '0', KEEP_ALIVE_SECONDS: '650', CORS_ORIGINS: 'https://app.example.com' },
});

const open = () => RawConnection.open(service.url);
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
  using connection = await open();
  connection.write(`GET /x HTTP/1.1\r\nHost: ${host}\r\n${'X: y\r\n'.repeat(fields - 1)}\r\n`);
  expect(await connection.read()).toMatchObject({ status, headers: { connection: 'keep-alive' } });
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
    using connection = await open();
    connection.write(`${method} ${path} HTTP/1.1\r\n${UPGRADE}Content-Length: ${String(length)}\r\n\r\n${'x'.repeat(length)}`);
    expect(await connection.read()).toMatchObject({ status, headers: { connection: 'close' } });
  });

  it('a request without a body but with an Upgrade header is processed, and its connection continues', async () => {
    using connection = await open();
    for (const fields of ['', 'Content-Length: 0\r\n', '']) {
      connection.write(`GET /health/live HTTP/1.1\r\n${UPGRADE}${fields}\r\n`);
      expect(await connection.read()).toMatchObject({ status: 200, headers: { connection: 'keep-alive' } });
    }
  });

  it('processes the next request after a 414', async () => {
    using connection = await open();
    connection.write(`GET /${'a'.repeat(5_000)} HTTP/1.1\r\nHost: localhost\r\n\r\nGET /health/live HTTP/1.1\r\nHost: localhost\r\n\r\n`);
    expect(await connection.read()).toMatchObject({ status: 414 });
    expect(await connection.read()).toMatchObject({ status: 200 });
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

const creation = () => rawCreation(authorized());

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
      using connection = await open();
      connection.write(`${beginning()}Content-Length: ${String(9 * MIB)}\r\n\r\n${'x'.repeat(100)}`);
      expect(await connection.read()).toMatchObject({ status, headers: { connection: 'keep-alive' } });
      connection.write(`${'x'.repeat(9 * MIB - 100)}${creation()}`);
      expect(await connection.read()).toMatchObject({ status: 201 });
    });

    it('can be read by a client that sends a body in chunks first', async () => {
      using connection = await open();
      connection.write(`${head('POST /v1/pets')}Transfer-Encoding: chunked\r\n\r\n`);
      for (let i = 0; i < 8; i++) connection.write(`100000\r\n${'x'.repeat(MIB)}\r\n`);
      connection.write(`0\r\n\r\n${creation()}`);
      expect(await connection.read()).toMatchObject({ status: 401 });
      expect(await connection.read()).toMatchObject({ status: 201 });
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
