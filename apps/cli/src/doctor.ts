import type { Config } from '@animal-store/api/configuration';
import { DatabaseClient, formatServers, parseDatabaseUrl, readSecretUrl, type SecretUrl } from '@animal-store/database';
import { checkConnections } from './connection-check.js';
import {
  checkClock,
  checkDurability,
  checkMigrations,
  checkPrivileges,
  checkReplica,
  checkServer,
  checkSettings,
  checkVersion,
} from './database-checks.js';
import { examine, failure, type Finding, ok } from './finding.js';

const RESPONSE_MS = 5_000;

/** Checks the deployment that the variables of the service describe. Yields each finding as soon as it is known. */
export async function* diagnose(env: NodeJS.ProcessEnv, instances: number): AsyncGenerator<Finding> {
  const { readConfig } = await import('@animal-store/api/configuration');
  let config: Config;
  try {
    config = readConfig(env);
  } catch (error) {
    const action = 'correct it: the service does not start, and the other checks require it';
    for (const line of (error as Error).message.split('\n')) yield { check: 'configuration', ...failure(line, action) };
    return;
  }
  yield { check: 'configuration', ...ok('all variables are valid') };
  yield* diagnoseDatabase(config, instances);
  if (config.redisUrl !== undefined) yield await diagnoseRedis(config.redisUrl, config.environment);
}

async function* diagnoseDatabase(config: Config, instances: number): AsyncGenerator<Finding> {
  const servers = serversOf(config.databaseUrl);
  const primary = clientFor(config.databaseUrl, config);
  try {
    const server = await examine('database', 'correct DATABASE_URL', () => checkServer(primary, servers));
    yield server;
    if (server.status === 'error') return;
    const unexpected = 'see the log of the database';
    const grants = 'run the SQL of "animal-store grants service" as the owner';
    yield await examine('version', unexpected, () => checkVersion(primary));
    yield await examine('durability', unexpected, () => checkDurability(primary));
    yield await examine('settings', unexpected, () => checkSettings(primary));
    yield await examine('clock', unexpected, () => checkClock(primary));
    yield await examine('migrations', `correct MIGRATION_DATABASE_URL, or ${grants}`, () => checkMigrations(config));
    yield await examine('privileges', grants, () => checkPrivileges(primary));
    yield await examine('connections', unexpected, () => checkConnections(primary, config, instances));
    for (const url of config.databaseReplicaUrls) {
      const replica = clientFor(url, config);
      const action = 'start the replica, or correct DATABASE_REPLICA_URLS: until then, the primary serves its lists';
      yield await examine(`replica ${serversOf(url)}`, action, () => checkReplica(primary, replica));
      await close(replica);
    }
  } finally {
    await close(primary);
  }
}

/** Loads the client of Redis. */
async function diagnoseRedis(url: SecretUrl, environment: string): Promise<Finding> {
  const action = 'start Redis, or correct REDIS_URL or the rights of its user: until then, each machine counts only its own requests';
  return examine('Redis', action, async () => {
    const { checkRedis } = await import('@animal-store/api/redis');
    await checkRedis(url, environment);
    return ok('connected, and it counts requests');
  });
}

function clientFor(url: SecretUrl, { databaseConnectTimeoutMs }: Config): DatabaseClient {
  return new DatabaseClient({
    url,
    application_name: 'animal-store doctor',
    connectionTimeoutMillis: databaseConnectTimeoutMs,
    query_timeout: RESPONSE_MS,
  });
}

/** Closes a connection that may not be open. */
async function close(client: DatabaseClient): Promise<void> {
  await client.end().catch(() => undefined);
}

/** Returns the host and port of each server in a URL. */
function serversOf(url: SecretUrl): string {
  return formatServers(parseDatabaseUrl(readSecretUrl(url)));
}
