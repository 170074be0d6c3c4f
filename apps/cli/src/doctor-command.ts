import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { redactKeys } from '@animal-store/access-domain';
import type { Config } from '@animal-store/api/configuration';
import { DatabaseClient, formatServer, readSecretUrl, type SecretUrl } from '@animal-store/database';
import type { Command } from 'commander';
import { integerParser } from './arguments.js';
import { AS_OWNER, dataDirOf, withDatabase } from './database.js';
import { CliError } from './failure.js';
import { jsonCommand, type JsonOption, toJson } from './output.js';
import { type Output, paint, type Terminal } from './terminal.js';
import {
  checkClock,
  checkConnections,
  checkDurability,
  checkMigrations,
  checkPrivileges,
  checkReplica,
  checkServer,
  checkVersion,
  examine,
  failure,
  type Finding,
  ok,
} from './database-checks.js';

const MAX_INSTANCES = 10_000;
const RESPONSE_MS = 5_000;
/** The role in which `npm start` runs the service. */
const LOCAL_SERVICE_ROLE = 'animal_store_service';
const COLOURS = { ok: 'green', warning: 'yellow', error: 'red' } as const;
const STATUS_WIDTH = 'warning'.length;

export function addDoctorCommand(program: Command, terminal: Terminal): void {
  const { stdout } = terminal;
  const description =
    'Check the configuration, database, replicas and Redis of a deployment, with the environment variables of the service. ' +
    'The command changes no data, and exits with code 1 if it finds an error. ' +
    'If DATABASE_URL is not set, the command checks the local database of "npm start".';
  jsonCommand(program, 'doctor', description, '--instances 3')
    .option(
      '--instances <count>',
      'number of instances of the service (pods or machines), to calculate the number of connections',
      integerParser(1, MAX_INSTANCES),
      1,
    )
    .action(async ({ instances, json }: JsonOption & { readonly instances: number }) => {
      const findings: Finding[] = [];
      await withVariables(terminal, async (env, source) => {
        for await (const finding of diagnose(env, source, instances)) {
          findings.push(finding);
          if (!json) stdout.write(redactKeys(linesOf(stdout, finding)));
        }
      });
      if (json) stdout.write(redactKeys(toJson({ findings })));
      const errors = findings.filter(({ status }) => status === 'error').length;
      if (errors > 0) throw new CliError(`${String(errors)} of ${String(findings.length)} checks failed`);
    });
}

/** Returns a line for the finding and one for each fix. */
function linesOf(output: Output, { status, check, found, fixes }: Finding): string {
  const lines = fixes.map((fix) => `${' '.repeat(STATUS_WIDTH)}  fix: ${fix}\n`);
  return `${paint(output, COLOURS[status], status.padEnd(STATUS_WIDTH))}  ${check}: ${found}\n${lines.join('')}`;
}

/** Calls `work` with the variables of the service. Without DATABASE_URL, they are those of `npm start`, if it has created its API key. */
async function withVariables(terminal: Terminal, work: (env: NodeJS.ProcessEnv, source: string) => Promise<void>): Promise<void> {
  const { env } = terminal;
  const dataDir = dataDirOf(terminal);
  if (env['DATABASE_URL'] || env['DATABASE_URL_FILE'] || !existsSync(join(dataDir, 'api-key'))) return work(env, '');
  await withDatabase(terminal, AS_OWNER, ({ url }) => {
    const MIGRATION_DATABASE_URL = readSecretUrl(url);
    // The password of the role changes with each start.
    const DATABASE_URL = `${MIGRATION_DATABASE_URL}?options=-c%20role%3D${LOCAL_SERVICE_ROLE}`;
    return work(
      { ...env, DATABASE_URL, MIGRATION_DATABASE_URL, MIGRATION_DATABASE_URL_FILE: undefined, MIGRATE_ON_START: 'false' },
      `, for the local PostgreSQL in ${dataDir}`,
    );
  });
}

/** Checks the deployment that the variables of the service describe. Yields each finding as soon as it is known. */
async function* diagnose(env: NodeJS.ProcessEnv, source: string, instances: number): AsyncGenerator<Finding> {
  const { readConfig } = await import('@animal-store/api/configuration');
  let config: Config;
  try {
    config = readConfig(env);
  } catch (error) {
    const fix = 'correct it: the service does not start, and the other checks require it';
    for (const line of (error as Error).message.split('\n')) yield { check: 'configuration', ...failure(line, fix) };
    return;
  }
  yield { check: 'configuration', ...ok(`all variables are valid${source}`) };
  yield* diagnoseDatabase(config, instances);
  const { redisUrl, environment } = config;
  if (redisUrl === undefined) return;
  const fixes = ['start Redis', 'correct REDIS_URL', 'correct the rights of the user in REDIS_URL'];
  const count = async () => {
    const { checkRedis } = await import('@animal-store/api/redis');
    await checkRedis(redisUrl, environment);
    return ok('connected, and it counts requests');
  };
  yield await examine('Redis', fixes, count, ', so each process counts only its own requests');
}

async function* diagnoseDatabase(config: Config, instances: number): AsyncGenerator<Finding> {
  const servers = formatServer(config.databaseUrl);
  const primary = clientFor(config.databaseUrl, config);
  try {
    const server = await examine('database', ['correct DATABASE_URL'], () => checkServer(primary, servers));
    yield server;
    if (server.status === 'error') return;
    const unexpected = ['see the log of the database'];
    const grants = 'run the SQL of "animal-store grants service" as the owner';
    yield await examine('version', unexpected, () => checkVersion(primary));
    yield await examine('durability', unexpected, () => checkDurability(primary));
    yield await examine('clock', unexpected, () => checkClock(primary));
    yield await examine('migrations', ['correct MIGRATION_DATABASE_URL', grants], () => checkMigrations(config));
    yield await examine('privileges', [grants], () => checkPrivileges(primary));
    yield await examine('connections', unexpected, () => checkConnections(primary, config, instances));
    for (const url of config.databaseReplicaUrls) {
      const replica = clientFor(url, config, true);
      const fixes = ['start the replica', 'correct DATABASE_REPLICA_URLS'];
      const effect = ', so the primary serves its lists';
      yield await examine(`replica ${formatServer(url)}`, fixes, () => checkReplica(primary, replica), effect);
      await close(replica);
    }
  } finally {
    await close(primary);
  }
}

function clientFor(url: SecretUrl, { databaseConnectTimeoutMs }: Config, isReplica = false): DatabaseClient {
  return new DatabaseClient({
    url,
    application_name: 'animal-store doctor',
    connectionTimeoutMillis: databaseConnectTimeoutMs,
    query_timeout: RESPONSE_MS,
    isReplica,
  });
}

/** Closes a connection that may not be open. */
async function close(client: DatabaseClient): Promise<void> {
  await client.end().catch(() => undefined);
}
