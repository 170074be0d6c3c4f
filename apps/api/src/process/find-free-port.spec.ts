import { once } from 'node:events';
import { createServer } from 'node:net';
import { expect, it } from '@jest/globals';
import { findFreePort } from './find-free-port.js';

it('returns a port that can be listened on, and that no port 0 is assigned', async () => {
  const port = await findFreePort('127.0.0.1');
  expect(port).toBeLessThan(32_768);
  const server = createServer().listen(port, '127.0.0.1');
  await once(server, 'listening');
  server.close();
});

it('rejects for a host that is not an address of this machine', async () => {
  await expect(findFreePort('192.0.2.1')).rejects.toMatchObject({ code: 'EADDRNOTAVAIL' });
});
