import { expect, it } from '@jest/globals';
import { fastify } from 'fastify';
import { addEntityTags } from './entity-tags.js';
import type { Representation } from './json-adapter.js';

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
