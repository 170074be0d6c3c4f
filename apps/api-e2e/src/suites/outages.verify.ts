import { setTimeout as sleep } from 'node:timers/promises';
import { pipelineUnread, rawGet } from '@animal-store/test-kit/raw-connection';
import { expect, it } from '@jest/globals';
import { Outage } from '../support/outage.js';

// Not part of `npm test`, since the test waits for real periods.

const CONNECTIONS = 20;
const MAX_GROWTH = 64 * 1024 * 1024;

it('responses that a client does not read take little memory, of every kind', async () => {
  const outage = await Outage.prepare();
  const service = await outage.start({ RATE_LIMIT: '0', MAX_EVENT_LOOP_LAG_MS: '60000' });
  const { url } = service;
  const key = await outage.expectServing();
  const body = JSON.stringify({ name: '犬'.repeat(255), categoryId: 1 });
  const headers = { Authorization: `Bearer ${key}`, 'Content-Type': 'application/json' };
  for (let i = 0; i < 100; i++) await (await fetch(`${url}/v1/pets`, { method: 'POST', headers, body })).text();

  const paths = ['/docs/swagger-ui-bundle.js', '/docs/swagger-ui.css', '/docs', '/openapi.json', '/v1/pets?limit=100'];
  for (const path of paths) await (await fetch(url + path, { headers })).text();
  for (const path of paths) {
    const before = service.memory;
    const request = rawGet(path, `Authorization: Bearer ${key}\r\n`);
    const sockets = await Promise.all(Array.from({ length: CONNECTIONS }, () => pipelineUnread(url, request, 300)));
    // The service goes on until the buffers of the kernel are full.
    await sleep(500);
    const growth = service.memory - before;
    expect([path, growth < MAX_GROWTH ? 'little' : growth]).toEqual([path, 'little']);
    expect((await fetch(`${url}/v1/pets`, { headers })).status).toBe(200);
    for (const socket of sockets) socket.destroy();
  }
  await outage.end();
});
