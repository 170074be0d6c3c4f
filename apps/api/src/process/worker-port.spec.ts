import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { expect, it } from '@jest/globals';
import { canSharePort, findWorkerPort, isFree, requireFreePort } from './worker-port.js';

const HOST = '127.0.0.1';

it('returns a port that can be listened on, and that no port 0 is assigned', async () => {
  const port = await findWorkerPort(HOST);
  expect(port).toBeLessThan(32_768);
  const server = createServer().listen(port, HOST);
  await once(server, 'listening');
  server.close();
});

it('rejects for a host that is not an address of this machine', async () => {
  await expect(findWorkerPort('192.0.2.1')).rejects.toMatchObject({ code: 'EADDRNOTAVAIL' });
});

it('rejects if the port is in use, also by a server that would share it', async () => {
  const server = createServer().listen({ port: 0, host: HOST, reusePort: canSharePort });
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  await expect(requireFreePort(HOST, port)).rejects.toMatchObject({ code: 'EADDRINUSE', port });
  expect(await isFree(HOST, port)).toBe(false);
  server.close();
});

it('waits until the workers of a killed supervisor have freed the port', async () => {
  const server = createServer().listen(0, HOST);
  await once(server, 'listening');
  setTimeout(() => server.close(), 100);
  await requireFreePort(HOST, (server.address() as AddressInfo).port);
});
