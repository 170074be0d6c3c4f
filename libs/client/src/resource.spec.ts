import { expect, it } from '@jest/globals';
import { command } from './resource.js';
import { fetchOf, sent, transportOf } from './testing/scripted-fetch.js';

const target = { operation: 'cancelVisit' as 'createPet', path: '/visits', id: 9007199254740993n, subpath: 'cancel' };

it('all attempts of a command have one key, also a random one', async () => {
  const failed = () => new Response('{}', { status: 503 });
  const fetch = fetchOf(failed(), new Response('{"id":1}'), failed(), new Response('{"id":1}'));
  const transport = transportOf({ fetch, minRetryDelay: 1 });
  expect(await command(transport, target, { reason: 'ill' }, {})).toEqual({ id: 1n });
  await command(transport, target, undefined, { idempotencyKey: 'once' });
  const [first, ...others] = sent(fetch).map(({ method, url, body, headers }) => [method, url, body, headers['idempotency-key']]);
  const url = 'https://store.example/v1/visits/9007199254740993/cancel';
  expect(first).toEqual(['POST', url, '{"reason":"ill"}', expect.stringMatching(/^"[0-9a-f]{32}"$/)]);
  expect(others).toEqual([first, ['POST', url, null, '"once"'], ['POST', url, null, '"once"']]);
});
