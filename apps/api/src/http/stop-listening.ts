import type { Server } from 'node:http';
import { Server as NetServer } from 'node:net';

/**
 * Accepts no further connections and closes idle ones. Resolves when all connections are closed. `close` of node:http also ends the
 * checks of headersTimeout and requestTimeout, so a half-received request would keep the process alive.
 */
export function stopListening(server: Server): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  NetServer.prototype.close.call(server, () => resolve());
  server.closeIdleConnections();
  return promise;
}
