import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { RawConnection } from './testing/raw-connection.js';
import { startTestApp, type TestApp } from './testing/test-app.js';

/** Close to the limits: 8 KiB for header sections, 4 KiB for targets, 64 KiB for bodies. */
const HEADER_SIZE = 7_600;
const QUERY_SIZE = 4_000;
const BODY_SIZE = 65_000;

/** Request headers that the service or its libraries read, with beginnings of values that they parse further. */
const HEADERS: Readonly<Record<string, readonly string[]>> = {
  Accept: [''],
  'Accept-Version': [''],
  'Access-Control-Request-Headers': [''],
  'Access-Control-Request-Method': [''],
  Authorization: ['', 'Bearer', 'Bearer ast_test_'],
  Connection: [''],
  'Content-Encoding': [''],
  'Content-Type': ['', 'application/json;', 'application/json; a=', 'application/json; a="'],
  Cookie: [''],
  Expect: ['', '100-continue'],
  Host: [''],
  'Idempotency-Key': ['', '"'],
  'If-Match': ['', '"', 'W/"'],
  'If-None-Match': ['', '"', 'W/"'],
  Origin: ['', 'https://'],
  Prefer: ['', 'a', 'handling', 'handling=', 'handling="'],
  traceparent: ['', '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01'],
  tracestate: [''],
  'X-Forwarded-For': ['', '1', '::'],
  'X-Forwarded-Host': [''],
  'X-Forwarded-Proto': [''],
  'X-Request-Id': ['', 'ast_test_'],
};
const FILLERS = [' ', '\t', '\xa0', ',', ';', '=', '"', '\\', '\\"', '1', '1.', 'a:', 'a, ', 'a ', 'a=', ';a=1', ' ;', 'W/', '-', 'ast_'];
const HARMLESS = 'a';
/** Allows for differences between linear parsers. At these sizes, parsers that are not linear take about 100 times as long. */
const RATIO = 30;

const MEMBERS = (name: string) => Array.from({ length: BODY_SIZE / (name.length + 8) }, (_, i) => `"${name}${i.toString(36)}":1`).join();
const BODIES: Readonly<Record<string, string>> = {
  'unknown members': `{${MEMBERS('u')}}`,
  'members of a name': `{"name":{${MEMBERS('')}}}`,
  'members of a name that lose digits': `{"name":{${MEMBERS('')}},"categoryId":1e0}`,
  'arrays of a name': `{"name":[${'[],'.repeat(BODY_SIZE / 3)}[]]}`,
  'equal names': `{${'"name":1,'.repeat(BODY_SIZE / 9)}"name":1}`,
  fractions: `{"name":[${'1.5,'.repeat(BODY_SIZE / 4)}1]}`,
  'one number': `{"categoryId":1${'0'.repeat(BODY_SIZE)}.0}`,
  'one exponent': `{"categoryId":1e${'0'.repeat(BODY_SIZE)}}`,
  'white space': `{"name":"${' '.repeat(BODY_SIZE)}"}`,
  escapes: `{"name":"${'\\u0020'.repeat(BODY_SIZE / 6)}"}`,
  'an open string': `{"name":"${'\\"'.repeat(BODY_SIZE / 2)}`,
};
/** A body with numbers that are parsed exactly, in an unknown member. */
const HARMLESS_BODY = `{"name":"","values":[${'1.50,'.repeat(BODY_SIZE / 20)}"${'x'.repeat((BODY_SIZE * 3) / 4)}"]}`;

let service: TestApp;
let connection: RawConnection | undefined;
let key: string;

beforeAll(async () => {
  service = await startTestApp({
    env: { RATE_LIMIT: '0', TRUSTED_PROXIES: '127.0.0.0/8', CORS_ORIGINS: 'https://app.example.com' },
  });
  key = await service.createKey('pets:read', 'pets:write');
});

afterAll(async () => {
  connection?.reset();
  await service.close();
});

interface Sent {
  readonly method?: string;
  readonly target: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
}

/** Returns the time until the response, in milliseconds. */
async function timeOf({ method = 'GET', target, headers = {}, body = '' }: Sent): Promise<number> {
  connection ??= await RawConnection.open(Number(new URL(service.url).port));
  const given = { Host: 'localhost', Authorization: `Bearer ${key}`, 'Content-Length': String(body.length), ...headers };
  const lines = Object.entries(given).map(([name, value]) => `${name}: ${value}\r\n`);
  const bytes = Buffer.from(`${method} ${target} HTTP/1.1\r\n${lines.join('')}\r\n${body}`, 'latin1');
  const start = performance.now();
  connection.write(bytes);
  const response = await connection.read();
  const elapsed = performance.now() - start;
  expect(response?.status).toBeLessThan(500);
  if (response?.headers['connection'] === 'close') {
    connection.reset();
    connection = undefined;
  }
  return elapsed;
}

async function fastest(request: Sent, runs: number): Promise<number> {
  let shortest = Infinity;
  for (let run = 0; run < runs; run++) shortest = Math.min(shortest, await timeOf(request));
  return shortest;
}

/** Returns whether all runs are slow. A busy machine only slows down some of them. */
async function isSlow(hostile: Sent, harmless: Sent, limit: number): Promise<boolean> {
  if ((await fastest(hostile, 1)) <= limit) return false;
  for (let round = 0; round < 5; round++) {
    const base = await fastest(harmless, 10);
    if ((await fastest(hostile, 10)) <= RATIO * base + 2) return false;
  }
  return true;
}

async function expectNotSlower(harmless: Sent, hostile: readonly (readonly [what: string, Sent])[]): Promise<void> {
  await fastest(harmless, 20);
  const limit = RATIO * (await fastest(harmless, 20)) + 2;
  const slow: string[] = [];
  for (const [what, request] of hostile) if (await isSlow(request, harmless, limit)) slow.push(what);
  expect(slow).toEqual([]);
}

const fill = (filler: string, size: number) => filler.repeat(Math.floor(size / filler.length));

const ROUTES: readonly Sent[] = [
  { target: '/v1/pets?limit=1' },
  { method: 'POST', target: '/v1/pets', headers: { 'Content-Type': 'application/json' }, body: '{"name":""}' },
  { target: '/health/live' },
];

it.each(ROUTES)('parses every header value about as fast as a harmless one of the same size: $method $target', async (route) => {
  const withHeader = (name: string, value: string): Sent => ({ ...route, headers: { ...route.headers, [name]: value } });
  await expectNotSlower(
    withHeader('X-Harmless', fill(HARMLESS, HEADER_SIZE)),
    Object.entries(HEADERS).flatMap(([name, beginnings]) =>
      beginnings.flatMap((beginning) =>
        FILLERS.map((filler) => {
          const value = `${beginning}${fill(filler, HEADER_SIZE - beginning.length)}x`;
          // An invalid Host is rejected before other headers are read. That closes the connection, and `timeOf` then opens a new one.
          return [`${name}: ${value.slice(0, 80)}…`, withHeader(name, value)] as const;
        }),
      ),
    ),
  );
});

it('parses every query about as fast as a harmless one of the same size', async () => {
  const query = (text: string): Sent => ({ target: `/v1/pets?${text}` });
  const headers = { Prefer: 'handling=strict' };
  await expectNotSlower(
    query(`limit=${fill(HARMLESS, QUERY_SIZE)}`),
    ['', 'limit=', 'status=', 'cursor='].flatMap((beginning) =>
      [
        '&',
        '=',
        '%',
        '%25',
        '%zz',
        '+',
        '?',
        '/',
        ';',
        '[',
        'a&',
        'a=1&',
        'limit=1&',
        'limit[a]=1&',
        '__proto__=1&',
        '.',
        'A',
        '0',
      ].flatMap((filler) => {
        const request = query(beginning + fill(filler, QUERY_SIZE - beginning.length));
        return [
          [request.target.slice(0, 80), request] as const,
          [`${request.target.slice(0, 80)}, strict`, { ...request, headers }] as const,
        ];
      }),
    ),
  );
});

it('parses every body about as fast as a harmless one of the same size', async () => {
  const post = (body: string, prefer = ''): Sent => ({
    method: 'POST',
    target: '/v1/pets',
    headers: { 'Content-Type': 'application/json', Prefer: prefer },
    body,
  });
  await expectNotSlower(
    post(HARMLESS_BODY),
    Object.entries(BODIES).flatMap(([what, body]) => [
      [what, post(body)] as const,
      [`${what}, strict`, post(body, 'handling=strict')] as const,
    ]),
  );
});
