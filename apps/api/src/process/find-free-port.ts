import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:net';

/** Below the ports that operating systems assign, so that no other socket gets the port before the workers listen. */
const MIN_PORT = 20_000;
const MAX_PORT = 32_767;

/** Returns a port that is not in use. */
export async function findFreePort(host: string): Promise<number> {
  for (;;) {
    const port = randomInt(MIN_PORT, MAX_PORT + 1);
    if (await isFree(host, port)) return port;
  }
}

/** @throws Error if the host is not an address of this machine */
export async function isFree(host: string, port: number): Promise<boolean> {
  const server = createServer().listen(port, host);
  try {
    await once(server, 'listening');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EADDRINUSE') return false;
    throw error;
  }
  server.close();
  await once(server, 'close');
  return true;
}
