import { redactKeys } from '@animal-store/access-domain';
import type { Config } from '@animal-store/api/configuration';
import { DatabaseClient, durabilityRisk, formatServer, migrationStatus, type SecretUrl } from '@animal-store/database';
import type { Command } from 'commander';
import { integerParser } from './arguments.js';
import { loadPersistence, openDatabase } from './database.js';
import { CliError, reasonOf } from './failure.js';
import { jsonCommand, type JsonOption, type Terminal, toJson } from './output.js';

const MAX_INSTANCES = 10_000;
const RESPONSE_MS = 5_000;
/** Major versions of PostgreSQL that this release supports; see docs/upgrading.md. */
const SUPPORTED = { minimum: 15, maximum: 18 };
const MAX_SKEW_MS = 1_000;
const GRANTS = 'run "animal-store grants service" for the role as the owner';

/** Result of a check. A warning does not stop the service. An error does, or violates what the service promises. */
export interface Outcome {
  readonly status: 'ok' | 'warning' | 'error';
  readonly found: string;
  readonly fix?: string;
}

const ok = (found: string): Outcome => ({ status: 'ok', found });
const warning = (found: string, fix: string): Outcome => ({ status: 'warning', found, fix });
const failure = (found: string, fix: string): Outcome => ({ status: 'error', found, fix });

interface Finding extends Outcome {
  readonly check: string;
}

export function addDoctorCommand(program: Command, terminal: Terminal): void {
  const description =
    'Check the configuration, database, replicas and Redis of a deployment, with the environment variables of the service. ' +
    'The command changes no data, and exits with code 1 if it finds an error.';
  jsonCommand(program, 'doctor', description)
    .option('--instances <count>', 'maximum number of processes of the service, such as pods', integerParser(1, MAX_INSTANCES), 1)
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

async function diagnose(env: NodeJS.ProcessEnv, instances: number): Promise<Finding[]> {
  const { readConfig } = await import('@animal-store/api/configuration');
  const { contexts } = await import('@animal-store/api/contexts');
  let config: Config;
  try {
    config = readConfig(env, contexts);
  } catch (error) {
    const fix = 'correct it: the service does not start, and the other checks require it';
    return (error as Error).message.split('\n').map((line) => ({ check: 'configuration', ...failure(line, fix) }));
  }
  const findings: Finding[] = [{ check: 'configuration', ...ok('all variables are valid') }];
  /** Runs a check, and returns whether it found no error. An error that the check does not expect becomes its finding, with this fix. */
  const examine = async (check: string, fix: string, work: () => Promise<Outcome>): Promise<boolean> => {
    const outcome = await work().catch((error: unknown) => failure(reasonOf(error), fix));
    findings.push({ check, ...outcome });
    return outcome.status !== 'error';
  };

  const { databaseUrl, databaseReplicaUrls, redisUrl, environment } = config;
  const [log, grants] = ['see the log of the database', 'run "animal-store grants" as the owner'];
  const primary = clientFor(databaseUrl, config);
  const isConnected = await examine('database', 'start the database, open the network, or correct DATABASE_URL', async () => {
    await primary.connect();
    return ok(`connected to ${formatServer(databaseUrl)}`);
  });
  if (isConnected) {
    await examine('server', log, () => checkServer(primary));
    await examine('durability', log, () => checkDurability(primary));
    await examine('clock', log, () => checkClock(primary));
    await examine('migrations', `correct MIGRATION_DATABASE_URL, or ${grants}`, () => checkMigrations(config));
    await examine('privileges', grants, () => checkPrivileges(primary));
    await examine('connections', log, () => checkConnections(primary, config, instances));
  }
  for (const url of isConnected ? databaseReplicaUrls : []) {
    const replica = clientFor(url, config, true);
    const fix = 'start the replica, or correct DATABASE_REPLICA_URLS: the primary serves its lists';
    await examine(`replica ${formatServer(url)}`, fix, () => checkReplica(replica));
    await replica.end().catch(() => undefined);
  }
  await primary.end().catch(() => undefined);
  if (redisUrl !== undefined)
    await examine('Redis', 'start Redis, or correct REDIS_URL: each process counts only its own requests', async () => {
      const { checkRedis } = await import('@animal-store/api/redis');
      await checkRedis(redisUrl, environment);
      return ok('connected, and it counts requests');
    });
  return findings;
}

function clientFor(url: SecretUrl, { databaseConnectTimeoutMs }: Config, isReplica = false): DatabaseClient {
  const timeouts = { connectionTimeoutMillis: databaseConnectTimeoutMs, query_timeout: RESPONSE_MS };
  return new DatabaseClient({ url, application_name: 'animal-store doctor', ...timeouts, isReplica });
}

async function checkServer(client: DatabaseClient): Promise<Outcome> {
  const { rows } = await client.query<{ major: number; isReadOnly: boolean }>(
    `SELECT current_setting('server_version_num')::int / 10000 AS major, current_setting('transaction_read_only')::bool AS "isReadOnly"`,
  );
  const { major = 0, isReadOnly } = rows[0] ?? {};
  if (isReadOnly) return failure('the database is read-only', 'set DATABASE_URL to the primary, or default_transaction_read_only to off');
  if (major >= SUPPORTED.minimum && major <= SUPPORTED.maximum) return ok(`PostgreSQL ${String(major)}, which accepts writes`);
  const fix = `use a version from ${String(SUPPORTED.minimum)} to ${String(SUPPORTED.maximum)}`;
  return (major < SUPPORTED.minimum ? failure : warning)(`PostgreSQL ${String(major)} is not supported by this release`, fix);
}

/** Checks whether commits survive a crash of the database's machine. */
async function checkDurability(client: DatabaseClient): Promise<Outcome> {
  const risk = await durabilityRisk(client);
  return risk === undefined ? ok('fsync and full_page_writes are on') : warning(risk, 'set fsync and full_page_writes to on');
}

/** Compares the clocks. The time of the response is the uncertainty of the comparison. */
async function checkClock(client: DatabaseClient): Promise<Outcome> {
  const sentAt = Date.now();
  const { rows } = await client.query<{ ms: number }>('SELECT extract(epoch FROM clock_timestamp())::float8 * 1000 AS ms');
  const databaseAt = rows[0]?.ms ?? Number.NaN;
  const skewMs = Math.max(sentAt - databaseAt, databaseAt - Date.now());
  if (skewMs < MAX_SKEW_MS) return ok(`this machine and the database differ by less than ${String(MAX_SKEW_MS)} ms`);
  const found = `this machine and the database differ by ${String(Math.round(skewMs))} ms`;
  return failure(found, 'synchronise both clocks, for example with NTP: API keys expire by the clock of the service');
}

/** Checks that all migrations are applied, or that the service applies them when it starts. */
async function checkMigrations({ migrationDatabaseUrl: url, migrateOnStart, citus }: Config): Promise<Outcome> {
  return openDatabase({ url, citus }, async (database) => {
    const migrations = await migrationStatus(database);
    const pending = migrations.filter(({ applied }) => !applied).length;
    if (pending === 0) return ok(`all ${String(migrations.length)} are applied`);
    const found = `${String(pending)} of ${String(migrations.length)} are pending`;
    if (migrateOnStart) return warning(found, 'start the service with the role of the owner, which applies them');
    return failure(found, 'run "animal-store migrate up" as the owner before the service starts');
  });
}

/** Privileges on tables, such as `SELECT, UPDATE (name) ON pets.pets`, which the role lacks at least in part. */
const MISSING = `
  SELECT DISTINCT privilege FROM unnest($1::text[]) AS privilege CROSS JOIN regexp_match(privilege, '^(.+) ON (\\w+)\\.(\\w+)$') AS part
  CROSS JOIN regexp_matches(part[1], '[A-Z]+', 'g') AS word
  LEFT JOIN pg_namespace ON nspname = part[2] LEFT JOIN pg_class ON relnamespace = pg_namespace.oid AND relname = part[3]
  WHERE NOT coalesce(has_schema_privilege(pg_namespace.oid, 'USAGE') AND CASE word[1]
    WHEN 'DELETE' THEN has_table_privilege(pg_class.oid, 'DELETE') ELSE has_any_column_privilege(pg_class.oid, word[1]) END, false)
  ORDER BY privilege`;

async function checkPrivileges(client: DatabaseClient): Promise<Outcome> {
  const { rows: roles } = await client.query<{ role: string; isSuperuser: boolean }>(
    'SELECT rolname AS role, rolsuper AS "isSuperuser" FROM pg_roles WHERE rolname = current_user',
  );
  const { role = '', isSuperuser } = roles[0] ?? {};
  if (isSuperuser) return warning(`the role ${role} is a superuser`, `use another role, and ${GRANTS}`);
  const required = (await loadPersistence()).flatMap(({ privileges }) => privileges?.service ?? []);
  const { rows } = await client.query<{ privilege: string }>(MISSING, [required]);
  if (rows.length === 0) return ok(`the role ${role} has the privileges of the service`);
  return failure(`the role ${role} lacks ${rows.map(({ privilege }) => privilege).join('; ')}`, GRANTS);
}

/** The lowest of the limits of the server, the role and the database. */
const ROOM = `
  SELECT pg_backend_pid() AS pid, least(
    current_setting('max_connections')::int - current_setting('superuser_reserved_connections')::int,
    (SELECT nullif(rolconnlimit, -1) FROM pg_roles WHERE rolname = session_user),
    (SELECT nullif(datconnlimit, -1) FROM pg_database WHERE datname = current_database())
  ) AS room`;

async function checkConnections(client: DatabaseClient, { databasePoolSize }: Config, instances: number): Promise<Outcome> {
  const { rows } = await client.query<{ room: number; pid: number }>(ROOM);
  const { room = 0, pid } = rows[0] ?? {};
  const needed = instances * databasePoolSize;
  const found = `the service opens up to ${String(needed)} (instances ${String(instances)} × DATABASE_POOL_SIZE ${String(databasePoolSize)})`;
  // A pooler sends a process number of its own.
  if (client.processID !== pid) return ok(`${found}, for which the pooler needs room`);
  if (needed <= room) return ok(`${found}, and the limit is ${String(room)}`);
  const fix = 'lower DATABASE_POOL_SIZE, or raise max_connections and the CONNECTION LIMIT of the role and the database';
  return failure(`${found}, and the limit is ${String(room)}: requests wait for connections`, fix);
}

async function checkReplica(replica: DatabaseClient): Promise<Outcome> {
  await replica.connect();
  const { rows } = await replica.query<{ isReplica: boolean }>('SELECT pg_is_in_recovery() AS "isReplica"');
  if (!rows[0]?.isReplica) throw new Error('the server is not a replica');
  return ok('connected');
}
