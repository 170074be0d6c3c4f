import { setTimeout as sleep } from 'node:timers/promises';
import { connectAccessUseCases } from '@animal-store/access-infrastructure';
import { createTestDatabase } from '@animal-store/local-postgres/testing';
import { programPath, ServiceProcess } from '@animal-store/test-kit/service-process';
import { afterEach, describe, expect, it } from '@jest/globals';
import { pipelineUnread, rawGet as get } from './testing/raw-connection.js';

const BUNDLE = '/docs/swagger-ui-bundle.js';

describe('responses that a client does not read', () => {
  const CONNECTIONS = 20;
  const MAX_GROWTH = 64 * 1024 * 1024;
  const close: (() => unknown)[] = [];

  afterEach(async () => {
    for (const end of close.splice(0).reverse()) await end();
  });

  it('take little memory, for every kind of response', async () => {
    const database = await createTestDatabase();
    close.push(() => database.drop());
    const environment = { DATABASE_URL: database.url, DRAIN_SECONDS: '0', RATE_LIMIT: '0', MAX_EVENT_LOOP_LAG_MS: '60000' };
    const service = await ServiceProcess.start(environment, { command: [process.execPath, programPath('api', 'dist')] });
    close.push(() => service.stop());
    const access = await connectAccessUseCases(database.url);
    close.push(() => access.close());
    const { secret } = await access.manageApiKeys.create({ clientName: 'spec', environment: 'test', scopes: ['pets:read', 'pets:write'] });
    const { url } = service;
    const body = JSON.stringify({ name: '犬'.repeat(255), categoryId: 1 });
    const headers = { Authorization: `Bearer ${secret}`, 'Content-Type': 'application/json' };
    for (let i = 0; i < 100; i++) await (await fetch(`${url}/v1/pets`, { method: 'POST', headers, body })).text();

    const paths = [BUNDLE, '/docs/swagger-ui.css', '/docs', '/openapi.json', '/v1/pets?limit=100'];
    for (const path of paths) await (await fetch(url + path, { headers })).text();
    for (const path of paths) {
      const before = service.memory;
      const request = get(path, `Authorization: Bearer ${secret}\r\n`);
      const sockets = await Promise.all(Array.from({ length: CONNECTIONS }, () => pipelineUnread(service.port, request, 300)));
      await sleep(500);
      const growth = service.memory - before;
      expect([path, growth < MAX_GROWTH ? 'little' : growth]).toEqual([path, 'little']);
      expect((await fetch(`${url}/v1/pets`, { headers })).status).toBe(200);
      for (const socket of sockets) socket.destroy();
    }
  });
});
