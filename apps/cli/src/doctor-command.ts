import { redactKeys } from '@animal-store/access-domain';
import type { Config } from '@animal-store/api/configuration';
import { DatabaseClient, formatServer, type SecretUrl } from '@animal-store/database';
import type { Command } from 'commander';
import { integerParser } from './arguments.js';
import * as checks from './doctor-checks.js';
import { CliError, reasonOf } from './failure.js';
import { jsonCommand, type JsonOption, type Terminal, toJson } from './output.js';

const MAX_INSTANCES = 10_000;
const RESPONSE_MS = 5_000;

interface Finding extends checks.Outcome {
  readonly check: string;
}

export function addDoctorCommand(program: Command, terminal: Terminal): void {
  const description =
    'Check the configuration, database, replicas and Redis of a deployment, with the environment variables of the service. ' +
    'The command changes no data, and exits with code 1 if it finds an error.';
  jsonCommand(program, 'doctor', description)
    .option('--instances <count>', 'number of instances of the service (pods or machines)', integerParser(1, MAX_INSTANCES), 1)
    .action(async ({ instances, json }: JsonOption & { readonly instances: number }) => {
      const findings = await diagnose(terminal.env, instances);
      await terminal.stdout(redactKeys(json ? toJson({ findings }) : findings.map(linesOf).join('')));
      const errors = findings.filter(({ status }) => status === 'error').length;
      if (errors > 0) throw new CliError(`${String(errors)} of ${String(findings.length)} checks failed`);
    });
}

function linesOf({ status, check, found, fix }: Finding): string {
  return `${status.padEnd(9)}${check}: ${found}\n${fix === undefined ? '' : `         fix: ${fix}\n`}`;
}

/** Checks the deployment that the variables of the service describe. */
async function diagnose(env: NodeJS.ProcessEnv, instances: number): Promise<Finding[]> {
  const { readConfig } = await import('@animal-store/api/configuration');
  let config: Config;
  try {
    config = readConfig(env);
  } catch (error) {
    const fix = 'correct it: the service does not start, and the other checks require it';
    return (error as Error).message.split('\n').map((line) => ({ check: 'configuration', ...checks.failure(line, fix) }));
  }
  const findings: Finding[] = [{ check: 'configuration', ...checks.ok('all variables are valid') }];
  /** Runs a check, and returns whether it found no error. An error that the check does not expect becomes its finding, with this fix. */
  const examine = async (check: string, fix: string, work: () => Promise<checks.Outcome>): Promise<boolean> => {
    const outcome = await work().catch((error: unknown) => checks.failure(reasonOf(error), fix));
    findings.push({ check, ...outcome });
    return outcome.status !== 'error';
  };

  const { databaseUrl, databaseReplicaUrls, redisUrl, environment } = config;
  const [log, grants] = ['see the log of the database', 'run "animal-store grants" as the owner'];
  const primary = clientFor(databaseUrl, config);
  const isConnected = await examine('database', 'start the database, open the network, or correct DATABASE_URL', async () => {
    await primary.connect();
    return checks.ok(`connected to ${formatServer(databaseUrl)}`);
  });
  if (isConnected) {
    await examine('server', log, () => checks.checkServer(primary));
    await examine('durability', log, () => checks.checkDurability(primary));
    await examine('clock', log, () => checks.checkClock(primary));
    await examine('migrations', `correct MIGRATION_DATABASE_URL, or ${grants}`, () => checks.checkMigrations(config));
    await examine('privileges', grants, () => checks.checkPrivileges(primary));
    await examine('connections', log, () => checks.checkConnections(primary, config, instances));
  }
  for (const url of isConnected ? databaseReplicaUrls : []) {
    const replica = clientFor(url, config, true);
    const fix = 'start the replica, or correct DATABASE_REPLICA_URLS: the primary serves its lists';
    await examine(`replica ${formatServer(url)}`, fix, () => checks.checkReplica(replica));
    await replica.end().catch(() => undefined);
  }
  await primary.end().catch(() => undefined);
  if (redisUrl !== undefined)
    await examine('Redis', 'start Redis, or correct REDIS_URL: each process counts only its own requests', async () => {
      const { checkRedis } = await import('@animal-store/api/redis');
      await checkRedis(redisUrl, environment);
      return checks.ok('connected, and it counts requests');
    });
  return findings;
}

function clientFor(url: SecretUrl, { databaseConnectTimeoutMs }: Config, isReplica = false): DatabaseClient {
  const timeouts = { connectionTimeoutMillis: databaseConnectTimeoutMs, query_timeout: RESPONSE_MS };
  return new DatabaseClient({ url, application_name: 'animal-store doctor', ...timeouts, isReplica });
}
