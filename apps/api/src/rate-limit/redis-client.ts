import type { SecretUrl } from '@animal-store/database';
import { createClient } from '@redis/client';
import type { Logger } from 'pino';
import { redisConnectionOptions } from './redis-url.js';

export const CONNECT_TIMEOUT_MS = 1_000;
export const COMMAND_TIMEOUT_MS = 250;
const PING_INTERVAL_MS = 1_000;
export const SOCKET_TIMEOUT_MS = 3_000;
const MAX_RECONNECT_DELAY_MS = 1_000;

export type RedisClient = ReturnType<typeof createRedisClient>;

/** Creates a client that is not connected yet. It reconnects automatically; without a connection, commands fail immediately. */
export function createRedisClient(url: SecretUrl, logger: Logger) {
  const { socket, ...connection } = redisConnectionOptions(url);
  const client = createClient({
    ...connection,
    disableOfflineQueue: true,
    commandOptions: { timeout: COMMAND_TIMEOUT_MS },
    pingInterval: PING_INTERVAL_MS,
    socket: {
      ...socket,
      connectTimeout: CONNECT_TIMEOUT_MS,
      socketTimeout: SOCKET_TIMEOUT_MS,
      reconnectStrategy: (retries) => Math.min(50 * 2 ** retries, MAX_RECONNECT_DELAY_MS),
    },
  });
  let isLost = false;
  client.on('error', (error: NodeJS.ErrnoException) => {
    if (!isLost)
      logger.warn({ reason: error.code ?? error.message }, 'the connection to Redis is lost; counting only the requests of this machine');
    isLost = true;
  });
  client.on('ready', () => {
    if (isLost) logger.info('reconnected to Redis; counting the requests of all machines');
    isLost = false;
  });
  return client;
}
