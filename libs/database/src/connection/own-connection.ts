import { DatabaseClient } from './database-client.js';
import type { SecretUrl } from './secret-url.js';

const RESPONSE_MS = 5_000;

/** Runs `work` with a connection outside the pool, for example for a lock. Closes it afterwards, which releases the lock. */
export async function withOwnConnection<T>(
  url: SecretUrl,
  applicationName: string,
  work: (client: DatabaseClient) => Promise<T>,
  timeoutMs = RESPONSE_MS,
): Promise<T> {
  const client = new DatabaseClient({
    url,
    application_name: applicationName,
    connectionTimeoutMillis: timeoutMs,
    query_timeout: timeoutMs,
  });
  await client.connect();
  try {
    return await work(client);
  } finally {
    await client.end();
  }
}
