import type { SecretUrl } from '@animal-store/database';
import { createClient } from '@redis/client';
import { COMMAND_TIMEOUT_MS, CONNECT_TIMEOUT_MS, SOCKET_TIMEOUT_MS } from './redis-client.js';
import { redisConnectionOptions } from './redis-url.js';

/** Connects once and sends a PING, with the timeouts of the service. Rejects if Redis does not respond. */
export async function pingRedis(url: SecretUrl): Promise<void> {
  const { socket, ...connection } = redisConnectionOptions(url);
  const client = createClient({
    ...connection,
    commandOptions: { timeout: COMMAND_TIMEOUT_MS },
    socket: { ...socket, connectTimeout: CONNECT_TIMEOUT_MS, socketTimeout: SOCKET_TIMEOUT_MS, reconnectStrategy: false },
  });
  client.on('error', () => undefined);
  try {
    await client.connect();
    await client.ping();
  } finally {
    client.destroy();
  }
}
