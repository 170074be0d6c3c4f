import { Readable } from 'node:stream';
import { describe, expect, it } from '@jest/globals';
import { StreamableFile } from '@nestjs/common';
import fastify from 'fastify';
import { JsonAdapter } from './json-adapter.js';

describe('a response body', () => {
  const app = fastify();
  const adapter = new JsonAdapter(app, { error: () => undefined });
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
