import { createStoreDatabase, Service } from '../support/service.js';
import { findFreePort, type TestDatabase, waitFor } from '@animal-store/local-postgres/testing';
import { afterAll, beforeAll, expect, it } from '@jest/globals';

let database: TestDatabase;

beforeAll(async () => {
  database = await createStoreDatabase();
});
afterAll(() => database.drop());

it('with REUSE_PORT, two processes of one host serve on one port, and one serves alone while the other is replaced', async () => {
  if (process.platform !== 'linux') return;
  const port = await findFreePort();
  const start = () =>
    Service.startOn(port, { DATABASE_URL: database.url, REUSE_PORT: 'true', DRAIN_SECONDS: '0', HTTPS_PROXY: 'http://proxy.invalid' });
  const services = [start(), start()];
  try {
    for (const service of services) await service.waitFor(/"listening"/);
    // Each request has a new connection, which the kernel assigns to one of the processes.
    await waitFor(async () => {
      const response = await fetch(`http://127.0.0.1:${port}/health/ready`, { headers: { Connection: 'close' } });
      expect(response.status).toBe(200);
      for (const service of services) expect(service.output).toContain('"path":"/health/ready"');
    });
    expect(services[0]?.output).toContain('HTTPS_PROXY has no effect');
    expect(await services[0]?.stop('SIGTERM')).toBe(0);
    for (let i = 0; i < 10; i++) expect((await fetch(`http://127.0.0.1:${port}/health/live`)).status).toBe(200);
  } finally {
    for (const service of services) await service.stop('SIGKILL');
  }
});
