import type { SecretUrl } from '@animal-store/database';
import { RedisConnection } from './redis-connection.js';

/** Connects and counts like the service. Rejects if that fails. */
export async function checkRedis(url: SecretUrl, environment: string): Promise<void> {
  const connection = new RedisConnection(url, environment);
  if (!(await connection.open())) throw new Error((await connection.ended).reason);
  connection.close();
}
