import type { Config } from '@animal-store/api/configuration';
import { type DatabaseClient, durabilityRisk, migrationStatus, missingPrivileges, replicaLag } from '@animal-store/database';
import type { DataSource } from 'typeorm';
import { loadPersistence, withDataSource } from './database.js';
import { reasonOf } from './failure.js';

/** Major versions of PostgreSQL that this release supports; see docs/upgrading.md. */
const SUPPORTED_VERSIONS = { minimum: 15, maximum: 18 };
const SKEW_WARNING_MS = 1_000;
/** Within this time, an expired key must be rejected. */
const SKEW_ERROR_MS = 5_000;
const MAX_LISTED = 3;
/** SQLSTATE code too_many_connections. */
const TOO_MANY_CONNECTIONS = '53300';

const UNREACHABLE_FIXES = ['start the database', 'open the network between this machine and the database', 'correct DATABASE_URL'];
const FULL_FIXES = ['end connections that are not needed', 'raise max_connections, or the CONNECTION LIMIT of the role or the database'];
const LOGIN_FIXES = ['correct the user, password and database in DATABASE_URL', 'grant CONNECT on the database'];

/** Result of a check: a warning does not stop the service, an error does, or violates what it promises. */
export interface Outcome {
  readonly status: 'ok' | 'warning' | 'error';
  readonly found: string;
  /** What to do: none if nothing is wrong. */
  readonly fixes: readonly string[];
}

export interface Finding extends Outcome {
  readonly check: string;
}

export function ok(found: string): Outcome {
  return { status: 'ok', found, fixes: [] };
}

function warning(found: string, ...fixes: readonly string[]): Outcome {
  return { status: 'warning', found, fixes };
}

export function failure(found: string, ...fixes: readonly string[]): Outcome {
  return { status: 'error', found, fixes };
}

/** Runs a check. An error that the check does not expect becomes its finding, with its effect and the given fixes. */
export async function examine(check: string, fixes: readonly string[], work: () => Promise<Outcome>, effect = ''): Promise<Finding> {
  const outcome = await work().catch((error: unknown) => {
    const reason = reasonOf(error).replace(/\.+$/, '');
    return failure(`${reason}${effect}`, ...(tlsFixes(reason) ?? fixes));
  });
  return { check, ...outcome };
}

/** Returns the fixes for a connection that failed because one side does not use TLS, or because of a certificate; otherwise undefined. */
function tlsFixes(reason: string): readonly string[] | undefined {
  if (reason.includes('does not support SSL')) return ['enable TLS on the server', 'change sslmode in the URL'];
  if (/certificate|altnames/.test(reason)) return ['correct the certificate of the server', 'correct sslmode or sslrootcert in the URL'];
  // A server without TLS that receives the first message of TLS.
  if (/wrong.version.number/i.test(reason)) return ['enable TLS on the server', 'use a URL without TLS, such as redis://'];
  if (reason.includes('no encryption')) return ['add sslmode=verify-full to the URL', 'allow connections without TLS in pg_hba.conf'];
  return undefined;
}

/** Connects, and checks that the server accepts writes. */
export async function checkServer(client: DatabaseClient, servers: string): Promise<Outcome> {
  try {
    await client.connect();
  } catch (error) {
    const isRejected = /^(?:28|3D|42501)/.test(String((error as { code?: unknown }).code));
    const reason = reasonOf(error);
    const fixes = tlsFixes(reason) ?? (isRejected ? LOGIN_FIXES : isFull(error) ? FULL_FIXES : UNREACHABLE_FIXES);
    return failure(`${servers} ${isRejected ? 'rejects the login' : 'cannot be reached'}: ${reason}`, ...fixes);
  }
  const { rows } = await client.query<{ transaction_read_only: string }>('SHOW transaction_read_only');
  if (rows[0]?.transaction_read_only === 'on')
    return failure(`${servers} is read-only`, 'set DATABASE_URL to the primary', 'set default_transaction_read_only to off');
  return ok(`${servers} accepts writes`);
}

function isFull(error: unknown): boolean {
  return (error as { code?: unknown }).code === TOO_MANY_CONNECTIONS;
}

export async function checkVersion(client: DatabaseClient): Promise<Outcome> {
  const { rows } = await client.query<{ server_version_num: string }>('SHOW server_version_num');
  return describeVersion(Number(rows[0]?.server_version_num));
}

/** @param version for example 180004 for 18.4 */
export function describeVersion(version: number): Outcome {
  const major = Math.floor(version / 10_000);
  const found = `PostgreSQL ${String(major)}.${String(version % 10_000)}`;
  const { minimum, maximum } = SUPPORTED_VERSIONS;
  if (major < minimum) return failure(`${found} is not supported`, `upgrade to a version from ${String(minimum)} to ${String(maximum)}`);
  if (major > maximum)
    return warning(`${found} is not tested with this release`, `use a version from ${String(minimum)} to ${String(maximum)}`);
  return ok(found);
}

/** Checks whether commits survive a crash of the database's machine. */
export async function checkDurability(client: DatabaseClient): Promise<Outcome> {
  const risk = await durabilityRisk(client);
  return risk === undefined ? ok('fsync and full_page_writes are on') : warning(risk, 'set fsync and full_page_writes to on');
}

/** Whether the process of the session is not the one that the login reported: a pooler sends a number of its own. */
async function isPooled(client: DatabaseClient): Promise<boolean> {
  const { rows } = await client.query<{ pid: number }>('SELECT pg_backend_pid() AS pid');
  return client.processID !== rows[0]?.pid;
}

export async function checkClock(client: DatabaseClient): Promise<Outcome> {
  const sentAt = Date.now();
  const { rows } = await client.query<{ ms: number }>('SELECT extract(epoch FROM clock_timestamp())::float8 * 1000 AS ms');
  return describeClock(sentAt, rows[0]?.ms ?? Number.NaN, Date.now());
}

/** Compares the clocks. The response time is the uncertainty of the comparison. Times are in ms. */
export function describeClock(sentAt: number, databaseAt: number, receivedAt: number): Outcome {
  const skewMs = (sentAt + receivedAt) / 2 - databaseAt;
  const atLeastMs = Math.abs(skewMs) - (receivedAt - sentAt) / 2;
  if (atLeastMs < SKEW_WARNING_MS)
    return ok(`the clocks of this machine and the database differ by less than ${String(SKEW_WARNING_MS)} ms`);
  const found = `the clock of this machine is ${String(Math.round(Math.abs(skewMs)))} ms ${skewMs > 0 ? 'ahead of' : 'behind'} the database`;
  const action = 'synchronise both clocks, for example with NTP: API keys expire by the clock of the service';
  return atLeastMs < SKEW_ERROR_MS ? warning(found, action) : failure(found, action);
}

/** Checks that all migrations are applied, or that the service can apply them when it starts. */
export async function checkMigrations({ migrationDatabaseUrl: url, migrateOnStart, citus }: Config): Promise<Outcome> {
  return withDataSource({ url, isLocal: false, citus }, async (dataSource) => {
    const migrations = await migrationStatus(dataSource);
    const pending = migrations.filter(({ applied }) => !applied).length;
    if (pending === 0) return ok(`all ${String(migrations.length)} are applied`);
    const found = `${String(pending)} of ${String(migrations.length)} are pending`;
    if (!migrateOnStart) return failure(found, 'run "animal-store migrate up" as the owner before the service starts');
    if (await mayMigrate(dataSource)) return warning(found, 'start the service, which applies them', 'run "animal-store migrate up"');
    return failure(
      `${found}, and the role may not apply them`,
      'run "animal-store migrate up" as the owner, and set MIGRATE_ON_START=false',
      'set MIGRATION_DATABASE_URL to the URL of the owner',
    );
  });
}

/** Returns whether the role owns the schemas of all contexts, or may create those that are missing. */
async function mayMigrate(dataSource: DataSource): Promise<boolean> {
  const schemas = (await loadPersistence()).map(({ schema }) => schema);
  const [row] = await dataSource.query<{ mayMigrate: boolean }[]>(
    `SELECT coalesce(bool_and(pg_has_role(nspowner, 'USAGE')), true)
       AND (count(*) = cardinality($1::text[]) OR has_database_privilege(current_database(), 'CREATE'))
       AND (to_regclass('public.schema_migrations') IS NOT NULL OR has_schema_privilege('public', 'CREATE')) AS "mayMigrate"
     FROM pg_namespace WHERE nspname = ANY ($1)`,
    [schemas],
  );
  return row?.mayMigrate ?? false;
}

export async function checkPrivileges(client: DatabaseClient): Promise<Outcome> {
  const { rows } = await client.query<{ role: string; isSuperuser: boolean }>(
    'SELECT rolname AS role, rolsuper AS "isSuperuser" FROM pg_roles WHERE rolname = current_user',
  );
  const { role = '', isSuperuser = false } = rows[0] ?? {};
  const grants = `"animal-store grants service ${role}"`;
  if (isSuperuser) return warning(`the role ${role} is a superuser`, 'use a role with the privileges of "animal-store grants service"');
  const missing = await missingPrivileges(client, await loadPersistence(), 'service');
  if (missing.length === 0) return ok(`the role ${role} has the privileges of the service`);
  const more = missing.length > MAX_LISTED ? `, and ${String(missing.length - MAX_LISTED)} more` : '';
  return failure(`the role ${role} lacks ${missing.slice(0, MAX_LISTED).join(', ')}${more}`, `run the SQL of ${grants} as the owner`);
}

export async function checkReplica(primary: DatabaseClient, replica: DatabaseClient): Promise<Outcome> {
  await replica.connect();
  return describeLag(await replicaLag(primary, replica));
}

export function describeLag(bytes: bigint): Outcome {
  if (bytes === 0n) return ok('up to date');
  return warning(
    `${String(bytes)} bytes of WAL behind the primary`,
    'check the load of the replica and the network: while it lags, the primary serves its lists',
  );
}

/** A limit of connections, with the current ones that are not of the service. */
interface Limit {
  readonly name: string;
  /** Negative for no limit. */
  readonly maximum: number;
  readonly usedByOthers: number;
}

/** The application name of a session is only visible to its own role. Sessions without a database do not count towards the limits. */
const LIMITS = `
  WITH session AS (
    SELECT usesysid, datid, coalesce(application_name, '') LIKE 'animal-store%' AS "isOwn"
    FROM pg_stat_activity WHERE usesysid IS NOT NULL AND datid IS NOT NULL
  )
  SELECT 'max_connections without reserved connections' AS name,
    current_setting('max_connections')::int - current_setting('superuser_reserved_connections')::int
      - coalesce(current_setting('reserved_connections', true)::int, 0) AS maximum,
    (SELECT count(*) FROM session WHERE NOT "isOwn")::int AS "usedByOthers"
  UNION ALL
  SELECT 'the CONNECTION LIMIT of the role ' || rolname, rolconnlimit,
    (SELECT count(*) FROM session WHERE usesysid = pg_roles.oid AND NOT "isOwn")::int
  FROM pg_roles WHERE rolname = session_user
  UNION ALL
  SELECT 'the CONNECTION LIMIT of the database ' || datname, datconnlimit,
    (SELECT count(*) FROM session WHERE datid = pg_database.oid AND NOT "isOwn")::int
  FROM pg_database WHERE datname = current_database()`;

/** Compares the connections that the service may open with the limits of the server, the role and the database. */
export async function checkConnections(
  client: DatabaseClient,
  { databasePoolSize }: Pick<Config, 'databasePoolSize'>,
  instances: number,
): Promise<Outcome> {
  const needed = instances * databasePoolSize;
  const formula = `instances ${String(instances)} × DATABASE_POOL_SIZE ${String(databasePoolSize)}`;
  if (await isPooled(client))
    return ok(`a pooler is between the service and the database: it needs room for ${String(needed)} clients (${formula})`);
  const { rows: limits } = await client.query<Limit>(LIMITS);
  return describeRoom(`${String(needed)} connections (${formula})`, needed, limits);
}

export function describeRoom(description: string, needed: number, limits: readonly Limit[]): Outcome {
  const fixes = (name: string) => ['lower DATABASE_POOL_SIZE', `raise ${name}`];
  const bounded = limits.filter(({ maximum }) => maximum >= 0).map((limit) => ({ ...limit, free: limit.maximum - limit.usedByOthers }));
  // A limit that can never be enough comes before one that is full at present.
  const [tightest] = bounded.sort((a, b) => Number(a.maximum >= needed) - Number(b.maximum >= needed) || a.free - b.free);
  if (!tightest) return ok(`the service opens up to ${description}`);
  const { name, maximum, free } = tightest;
  const found = `the service opens up to ${description}, and ${name} allows ${String(maximum)}, of which ${String(free)} are free`;
  if (needed > maximum) return failure(`${found}: requests wait for connections`, ...fixes(name));
  if (needed > free) return warning(`${found}: requests wait for connections`, ...fixes(name));
  if (2 * needed > free) return warning(`${found}: too few for old and new processes during an upgrade`, ...fixes(name));
  return ok(found);
}
