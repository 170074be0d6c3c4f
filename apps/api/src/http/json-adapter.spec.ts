import { once } from 'node:events';
import { type AddressInfo, connect } from 'node:net';
import { Readable } from 'node:stream';
import { waitFor } from '@animal-store/local-postgres/testing';
import { afterAll, beforeAll, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { StreamableFile } from '@nestjs/common';
import { fastify } from 'fastify';
import { addEntityTags } from './entity-tags.js';
import { JsonAdapter, type Representation } from './json-adapter.js';

const SIZE = 50_000_000;
const app = fastify();
const log = { error: jest.fn() };
let isGone = false;
let file: Readable;

/** Returns a stream of bytes that fails after some of them. */
function failingAfter(bytes: number): Readable {
  let left = bytes;
  return new Readable({
    read() {
      if (left <= 0) this.destroy(new Error('the disk failed'));
      else this.push(Buffer.alloc(Math.min(left, 10_000)));
      left -= 10_000;
    },
  });
}

const bodies: Record<string, () => unknown> = {
  members: () => ({ id: 9007199254740993n, pipe: 'x', getReader: 1, toJSON: 'x' }),
  bigint: () => 9007199254740993n,
  buffer: () => Buffer.from('bytes'),
  file: () => new StreamableFile(Buffer.from('bytes'), { type: 'image/png' }),
  stream: () => Readable.from(['by', 'tes']),
  web: () => new Blob(['bytes']).stream(),
  inMemory: () => new StreamableFile(Buffer.alloc(SIZE)),
  huge: () => Buffer.alloc(2 * SIZE),
  large: () => new StreamableFile((file = failingAfter(SIZE)), { length: SIZE }),
  brokenWeb: () => Readable.toWeb(failingAfter(100_000)),
  broken: () => new StreamableFile((file = failingAfter(100_000)), { length: SIZE, disposition: 'attachment' }),
};

beforeAll(async () => {
  addEntityTags(app);
  const adapter = new JsonAdapter(app, log);
  for (const [path, create] of Object.entries(bodies)) {
    app.get(`/${path}`, { config: { revalidated: true } }, (_request, reply) => {
      if (path === 'file') reply.header('etag', '"v1"');
      void adapter.reply(reply, create());
    });
  }
  app.get('/late', (_request, reply) => {
    reply.raw.on('close', () => {
      isGone = true;
      void adapter.reply(reply, bodies['inMemory']?.());
    });
  });
  await app.listen({ host: '127.0.0.1', port: 0 });
});
beforeEach(() => void log.error.mockClear());
afterAll(() => app.close());

const urlOf = (path: string) => `http://127.0.0.1:${String((app.server.address() as AddressInfo).port)}/${path}`;

it.each([
  ['members', 'application/json', '{"id":9007199254740993,"pipe":"x","getReader":1,"toJSON":"x"}'],
  ['bigint', 'application/json', '9007199254740993'],
  ['buffer', 'application/octet-stream', 'bytes'],
  ['file', 'image/png', 'bytes'],
  ['stream', undefined, 'bytes'],
  ['web', undefined, 'bytes'],
])('a body of %s is sent as it is', async (path, type, text) => {
  const { headers, body } = await app.inject(`/${path}`);
  expect([headers['content-type'], body]).toEqual([type, text]);
});

describe('a file', () => {
  it('has the ETag that the handler sets', async () => {
    const { statusCode, headers, body } = await app.inject({ url: '/file', headers: { 'if-none-match': 'W/"v1"' } });
    expect([statusCode, headers['etag'], headers['content-length'], headers['content-type'], body]).toEqual([
      304,
      '"v1"',
      undefined,
      undefined,
      '',
    ]);
    expect(await app.inject({ url: '/file', headers: { 'if-none-match': '"v2"' } })).toMatchObject({ statusCode: 200, body: 'bytes' });
  });

  it.each([
    ['broken', String(SIZE)],
    ['brokenWeb', null],
  ])('that fails on its way is logged, and its response is not complete: %s', async (path, length) => {
    const response = await fetch(urlOf(path));
    expect([response.status, response.headers.get('content-length')]).toEqual([200, length]);
    await expect(response.arrayBuffer()).rejects.toThrow();
    expect(log.error.mock.calls).toEqual([[{ requestId: expect.any(String), err: new Error('the disk failed') }, expect.any(String)]]);
  });

  it('is only read as fast as its client reads, and no longer than its client is there', async () => {
    const socket = connect((app.server.address() as AddressInfo).port, '127.0.0.1');
    socket.write('GET /large HTTP/1.1\r\nHost: x\r\n\r\n');
    await once(socket, 'readable');
    await waitFor(() => expect(file.isPaused()).toBe(true));
    socket.destroy();
    await waitFor(() => expect(file.destroyed).toBe(true));
    expect(log.error).not.toHaveBeenCalled();
  });
});

it('files in memory that clients do not read are limited in size', async () => {
  const port = (app.server.address() as AddressInfo).port;
  const gone = connect(port, '127.0.0.1');
  gone.write('GET /late HTTP/1.1\r\nHost: x\r\n\r\n');
  await once(app.server, 'request');
  gone.resetAndDestroy();
  await waitFor(() => expect(isGone).toBe(true));
  const request = 'GET /inMemory HTTP/1.1\r\nHost: x\r\n\r\n';
  const [first, second] = [connect(port, '127.0.0.1'), connect(port, '127.0.0.1')];
  first.write(request);
  await once(first, 'readable');
  second.write(request);
  // The app maps the error to a 503.
  expect(String((await once(second, 'data'))[0])).toMatch(/^HTTP\/1.1 500 /);
  first.destroy();
  await waitFor(async () => expect((await app.inject('/inMemory')).statusCode).toBe(200));
  second.destroy();
  // A single one may be larger.
  await waitFor(async () => expect((await app.inject('/huge')).statusCode).toBe(200));
});

it('a shared representation has one tag per Link header', async () => {
  const server = fastify();
  server.decorateReply('representation', undefined);
  addEntityTags(server);
  const shared: Representation = { text: '[]' };
  server.get('/', { config: { revalidated: true } }, (request, reply) => {
    const { link } = request.query as { link?: string };
    reply.representation = shared;
    if (link !== undefined) reply.header('link', link);
    return reply.send(shared.text);
  });
  const tagOf = async (query: string) => (await server.inject(`/${query}`)).headers.etag;
  const tags = [await tagOf(''), await tagOf('?link=a'), await tagOf('?link=b')];
  expect(new Set(tags).size).toBe(3);
  expect([await tagOf(''), await tagOf('?link=a'), await tagOf('?link=a'), await tagOf('?link=b')]).toEqual([
    ...[tags[0], tags[1], tags[1], tags[2]],
  ]);
});
