import { expect, it } from '@jest/globals';
import { listPage, post, retrieve } from './resource.js';
import { fetchOf, sent, transportOf } from './testing/scripted-fetch.js';

const target = { path: '/visits', id: 9007199254740993n, subpath: 'cancel' };

it('all attempts of a command have one key, also a random one', async () => {
  const failed = () => new Response('{}', { status: 503 });
  const fetch = fetchOf(failed(), new Response('{"id":1}'), failed(), new Response('{"id":1}'));
  const transport = transportOf({ fetch, minRetryDelay: 1 });
  expect(await post(transport, target, { reason: 'ill' }, {})).toEqual({ id: 1n });
  await post(transport, target, undefined, { idempotencyKey: 'once' });
  const [first, ...others] = sent(fetch).map(({ method, url, body, headers }) => [method, url, body, headers['idempotency-key']]);
  const url = 'https://store.example/v1/visits/9007199254740993/cancel';
  expect(first).toEqual(['POST', url, '{"reason":"ill"}', expect.stringMatching(/^"[0-9a-f]{32}"$/)]);
  expect(others).toEqual([first, ['POST', url, null, '"once"'], ['POST', url, null, '"once"']]);
});

it.each(['null', '[]', '{}', '{"id":"1"}', '[{}]'])(
  'a resource is an object with an id, unless its check says otherwise: not %s',
  async (body) => {
    const transport = transportOf({ fetch: async () => new Response(body), maxRetries: 0 });
    const rejection = { name: 'APIConnectionError', message: 'The response does not have the shape of the operation' };
    await expect(post(transport, target, {}, {})).rejects.toMatchObject(rejection);
    await expect(retrieve(transport, target, 1n, {})).rejects.toMatchObject(rejection);
    if (body !== '[]') await expect(listPage(transport, target, {}, {})).rejects.toMatchObject(rejection);
    await post(transport, { ...target, isResource: () => true }, {}, {});
  },
);
