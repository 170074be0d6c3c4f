import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';

/** Below the ports that operating systems assign, so that no other socket gets the port before the workers listen. */
const MIN_PORT = 20_000;
const MAX_PORT = 32_767;
/** The workers of a supervisor that was killed end, and free the port, within this time. */
const RETRY_FOR_MS = 1_000;
const RETRY_MS = 50;

/**
 * On Linux, each worker has its own socket, and the kernel distributes connections. Elsewhere, workers accept from one socket, and may
 * get unequal shares. In neither case does a connection pass through the supervisor: a lost message would lose the connection.
 */
export const canSharePort = process.platform === 'linux';

/** Returns a port that is not in use, below those that the system assigns to connections. */
export async function findWorkerPort(host: string): Promise<number> {
  for (;;) {
    const port = randomInt(MIN_PORT, MAX_PORT + 1);
    if (await isFree(host, port)) return port;
  }
}

/**
 * Rejects if the port cannot be listened on. Workers would not notice that it is in use by a service that also shares it.
 * @throws Error of `listen`
 */
export async function requireFreePort(host: string, port: number): Promise<void> {
  for (const deadline = performance.now() + RETRY_FOR_MS; ; await sleep(RETRY_MS)) {
    try {
      return await listenOnce(host, port);
    } catch (error) {
      if (!isInUse(error) || performance.now() > deadline) throw error;
    }
  }
}

/** @throws Error if the host is not an address of this machine */
export async function isFree(host: string, port: number): Promise<boolean> {
  try {
    await listenOnce(host, port);
    return true;
  } catch (error) {
    if (isInUse(error)) return false;
    throw error;
  }
}

async function listenOnce(host: string, port: number): Promise<void> {
  const server = createServer().listen(port, host);
  await once(server, 'listening');
  server.close();
  await once(server, 'close');
}

function isInUse(error: unknown): boolean {
  return (error as NodeJS.ErrnoException).code === 'EADDRINUSE';
}
