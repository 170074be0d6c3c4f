import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from '@jest/globals';
import { RawConnection } from '../testing/fuzz/raw-connection.js';
import { useTestApp } from '../testing/test-app.js';

const MIB = 1024 * 1024;
const PET = '{"name":"Rex","categoryId":7}';

const service = useTestApp(['pets:read', 'pets:write'], { env: { RATE_LIMIT: '0' } });

const open = () => RawConnection.open(Number(new URL(service.url).port));
const authorized = () => `Authorization: Bearer ${service.key}\r\n`;
const head = (line: string, ...fields: string[]) => `${line} HTTP/1.1\r\nHost: x\r\n${fields.join('')}`;
const creation = (...fields: string[]) =>
  `${head('POST /v1/pets', authorized(), 'Content-Type: application/json\r\n', ...fields)}Content-Length: ${String(PET.length)}\r\n\r\n${PET}`;

async function readResponses(connection: RawConnection): Promise<unknown[]> {
  const all: unknown[] = [];
  for (let response; (response = await connection.read({ isHead: false }));) {
    all.push([response.status, response.headers['connection']]);
    expect(response.headers['content-type']).toBe('application/json');
  }
  return all;
}

describe('an error response to a request with an unread body', () => {
  const REFUSED: [what: string, status: number, beginning: () => string][] = [
    ['no key', 401, () => head('POST /v1/pets')],
    ['an unknown path', 404, () => head('POST /nothing')],
    ['another method', 405, () => head('PUT /v1/pets')],
    ['a large body', 413, () => head('POST /v1/pets', authorized(), 'Content-Type: application/json\r\n')],
    ['another type', 413, () => head('POST /v1/pets', authorized(), 'Content-Type: text/plain\r\n')],
    ['a long target', 414, () => head(`POST /${'x'.repeat(4_096)}`)],
    ['a GET with a body', 401, () => head('GET /v1/pets')],
  ];

  it.each(REFUSED)('of at most 1 MiB keeps the connection open: %s', async (_what, status, beginning) => {
    const connection = await open();
    connection.write(Buffer.from(`${beginning()}Content-Length: ${String(MIB)}\r\n\r\n${'x'.repeat(100)}`));
    expect(await connection.read({ isHead: false })).toMatchObject({ status, headers: { connection: 'keep-alive' } });
    connection.write(Buffer.from(`${'x'.repeat(MIB - 100)}${creation()}`));
    expect(await connection.read({ isHead: false })).toMatchObject({ status: 201 });
    connection.reset();
  });

  const LARGER: [what: string, fields: string, unit: string][] = [
    ['8 MiB', `Content-Length: ${String(8 * MIB)}\r\n`, 'x'.repeat(MIB)],
    ['chunks', 'Transfer-Encoding: chunked\r\n', `100000\r\n${'x'.repeat(MIB)}\r\n`],
  ];

  it.each(
    REFUSED.flatMap(([what, status, beginning]) => LARGER.map(([size, ...more]) => [size, what, status, beginning, ...more] as const)),
  )('of %s closes the connection, with `Connection: close`: %s', async (_size, _what, status, beginning, fields, unit) => {
    const connection = await open();
    connection.write(Buffer.from(`${beginning()}${fields}\r\n`));
    for (let i = 0; i < 8; i++) connection.write(Buffer.from(unit));
    await sleep(50);
    expect(await connection.read({ isHead: false })).toMatchObject({ status, headers: { connection: 'close' } });
    expect(await connection.read({ isHead: false })).toBeUndefined();
  });

  it('closes the connection if the client waits for 100 Continue', async () => {
    const connection = await open();
    connection.write(Buffer.from(`${head('POST /v1/pets', authorized(), 'Expect: 100-continue\r\n')}Content-Length: 100000\r\n\r\n`));
    expect(await readResponses(connection)).toEqual([[413, 'close']]);
  });

  it('can be read by a client that sends the body with an unsupported expectation', async () => {
    const connection = await open();
    const body = 'x'.repeat(8 * MIB);
    connection.write(Buffer.from(`${head('POST /v1/pets', 'Expect: nonsense\r\n')}Content-Length: ${String(body.length)}\r\n\r\n${body}`));
    await sleep(100);
    expect(await connection.read({ isHead: false })).toMatchObject({ status: 417, headers: { connection: 'close' } });
  });
});

describe('a processed request gets its response if it is followed by', () => {
  it.each<[string, () => string, unknown[]]>([
    [
      'a stray byte',
      () => `${creation()}\0`,
      [
        [201, 'keep-alive'],
        [400, 'close'],
      ],
    ],
    [
      'bytes that are not HTTP',
      () => `${creation()}${creation()}hello\r\n\r\n`,
      [
        [201, 'keep-alive'],
        [201, 'keep-alive'],
        [400, 'close'],
      ],
    ],
    [
      'large headers',
      () => `${creation()}${head('GET /', `X: ${'x'.repeat(9_000)}\r\n`)}\r\n`,
      [
        [201, 'keep-alive'],
        [431, 'close'],
      ],
    ],
    [
      'CONNECT',
      () => `${creation()}CONNECT a:1 HTTP/1.1\r\nHost: a:1\r\n\r\n`,
      [
        [201, 'keep-alive'],
        [405, 'close'],
      ],
    ],
    ['bytes after `Connection: close`', () => `${creation('Connection: close\r\n')}more`, [[201, 'close']]],
    ['a request after `Connection: close`', () => creation('Connection: close\r\n') + creation(), [[201, 'close']]],
    [
      'a broken chunk',
      () => `${creation()}${head('POST /v1/pets', authorized())}Transfer-Encoding: chunked\r\n\r\nzz\r\n`,
      [
        [201, 'keep-alive'],
        [400, 'close'],
      ],
    ],
  ])('%s', async (_what, bytes, expected) => {
    const connection = await open();
    connection.write(Buffer.from(bytes()));
    expect(await readResponses(connection)).toEqual(expected);
  });
});
