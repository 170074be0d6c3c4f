import { Readable } from 'node:stream';
import { describe, expect, it } from '@jest/globals';
import { StreamableFile } from '@nestjs/common';
import fc from 'fast-check';
import fastify from 'fastify';
import { JsonAdapter, toJson } from './json-adapter.js';

/** JSON.stringify can return `undefined`, but its declared return type lacks this. */
const stringify: (value: unknown) => string | undefined = JSON.stringify;

describe('a response body', () => {
  const app = fastify();
  const adapter = new JsonAdapter(app);
  const bodies: Record<string, () => unknown> = {
    members: () => ({ id: 9007199254740993n, pipe: 'x', getReader: 1 }),
    buffer: () => Buffer.from('bytes'),
    file: () => new StreamableFile(Buffer.from('bytes'), { type: 'image/png' }),
    stream: () => Readable.from(['by', 'tes']),
    web: () => new Blob(['bytes']).stream(),
  };
  for (const [path, create] of Object.entries(bodies)) app.get(`/${path}`, (_request, reply) => void adapter.reply(reply, create()));

  it.each([
    ['members', 'application/json', '{"id":9007199254740993,"pipe":"x","getReader":1}'],
    ['buffer', 'application/octet-stream', 'bytes'],
    ['file', 'image/png', 'bytes'],
    ['stream', undefined, 'bytes'],
    ['web', undefined, 'bytes'],
  ])('of %s is sent as it is', async (path, type, text) => {
    const { headers, body } = await app.inject(`/${path}`);
    expect([headers['content-type'], body]).toEqual([type, text]);
  });
});

describe('toJson', () => {
  it('writes the same text as JSON.stringify', () => {
    const value = fc.anything({ maxDepth: 3, withDate: true, withNullPrototype: true });
    fc.assert(
      fc.property(value, (given) => {
        expect(toJson(given)).toBe(stringify(given) ?? 'null');
      }),
      { examples: [[{ a: undefined, b: [undefined, () => 1], c: NaN, d: -0, 'a"\u2028': '\ud800\u0000' }], [undefined]], numRuns: 300 },
    );
  });

  it('writes bigints as exact numbers, at any depth', () => {
    fc.assert(
      fc.property(fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }), (id) => {
        expect(toJson([{ id, list: [id] }, id])).toBe(`[{"id":${String(id)},"list":[${String(id)}]},${String(id)}]`);
      }),
    );
  });
});
