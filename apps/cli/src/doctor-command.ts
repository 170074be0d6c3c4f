import { redactKeys } from '@animal-store/access-domain';
import type { Config } from '@animal-store/api/configuration';
import { DatabaseClient, formatServers, parseDatabaseUrl, readSecretUrl, type SecretUrl } from '@animal-store/database';
import type { Command } from 'commander';
import { integerParser } from './arguments.js';
import { CliError } from './failure.js';
import { type JsonOption, toJson } from './output.js';
import type { Terminal } from './terminal.js';
import {
  checkClock,
  checkConnections,
  checkDurability,
  checkMigrations,
  checkPrivileges,
  checkReplica,
  checkServer,
  checkSettings,
  checkVersion,
  examine,
  failure,
  type Finding,
  ok,
} from './database-checks.js';

const MAX_INSTANCES = 10_000;
const RESPONSE_MS = 5_000;

export function addDoctorCommand(program: Command, { env, stdout }: Terminal): void {
  program
    .command('doctor')
    .description(
      'Check a deployment with the variables of the service: configuration, database, replicas and Redis. Changes nothing. ' +
        'Exits with code 1 if it finds an error.',
    )
    .option(
      '--instances <count>',
      'instances of the service (pods or machines), for the number of connections',
      integerParser(1, MAX_INSTANCES),
      1,
    )
    .option('--json', 'print JSON')
    .action(async ({ instances, json }: JsonOption & { readonly instances: number }) => {
      const findings: Finding[] = [];
      for await (const finding of diagnose(env, instances)) {
        findings.push(finding);
        if (!json) stdout.write(redactKeys(lineOf(finding)));
      }
      if (json) stdout.write(redactKeys(toJson({ findings })));
      const errors = findings.filter(({ status }) => status === 'error').length;
      if (errors > 0) throw new CliError(`${String(errors)} of ${String(findings.length)} checks failed`);
    });
}

function lineOf({ status, check, found, action }: Finding): string {
  return `${status.padEnd('warning'.length)}  ${check}: ${found}${action === undefined ? '' : `; ${action}`}\n`;
}

/** Checks the deployment that the variables of the service describe. Yields each finding as soon as it is known. */
async function* diagnose(env: NodeJS.ProcessEnv, instances: number): AsyncGenerator<Finding> {
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
  const { redisUrl, environment } = config;
  if (redisUrl === undefined) return;
  const action = 'start Redis, or correct REDIS_URL or the rights of its user: until then, each machine counts only its own requests';
  yield await examine('Redis', action, async () => {
    const { checkRedis } = await import('@animal-store/api/redis');
    await checkRedis(redisUrl, environment);
    return ok('connected, and it counts requests');
  });
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
