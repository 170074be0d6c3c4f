import type { Config } from '@animal-store/api/configuration';
import type { DatabaseClient } from '@animal-store/database';
import { isPooled } from './database-checks.js';
import { failure, ok, type Outcome, warning } from './finding.js';

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
  { workers, databasePoolSize }: Pick<Config, 'databasePoolSize' | 'workers'>,
  instances: number,
): Promise<Outcome> {
  const needed = instances * workers * databasePoolSize;
  const formula = `instances ${String(instances)} × WORKERS ${String(workers)} × DATABASE_POOL_SIZE ${String(databasePoolSize)}`;
  if (await isPooled(client))
    return ok(`a pooler is between the service and the database: it needs room for ${String(needed)} clients (${formula})`);
  const { rows: limits } = await client.query<Limit>(LIMITS);
  return describeRoom(`${String(needed)} connections (${formula})`, needed, limits);
}

export function describeRoom(description: string, needed: number, limits: readonly Limit[]): Outcome {
  const action = (name: string) => `lower WORKERS or DATABASE_POOL_SIZE, or raise ${name}; otherwise, requests wait for connections`;
  const [tightest] = limits
    .filter(({ maximum }) => maximum >= 0)
    .map(({ name, maximum, usedByOthers }) => ({ name, maximum, free: maximum - usedByOthers }))
    .sort((one, other) => one.free - other.free);
  if (!tightest) return ok(`the service opens up to ${description}`);
  const { name, maximum, free } = tightest;
  const found = `the service opens up to ${description}, and ${name} allows ${String(maximum)}, of which ${String(free)} are free`;
  if (needed > maximum) return failure(found, action(name));
  if (needed > free) return warning(found, action(name));
  if (2 * needed > free) return warning(`${found}: too few for old and new processes during an upgrade`, action(name));
  return ok(found);
}
