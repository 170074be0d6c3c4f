import pg, { type Client, type CustomTypesConfig, type Pool, types } from 'pg';
import { DataSource } from 'typeorm';
import { DatabaseClient, type DatabaseClientConfig } from './database-client.js';
import { DatabasePool } from './database-pool.js';
import { type DatabaseTarget, parseDatabaseUrl, showServers } from './database-url.js';
import type { Persistence } from './persistence.js';
import { Execution } from './prepared-statement.js';
import { Replicas } from './replicas.js';
import { readSecretUrl, type SecretUrl } from './secret-url.js';

const INT8_OID = types.builtins.INT8;
const CONNECT_TIMEOUT_MS = 5_000;
/** How much later than the server this side gives a statement up: then the connection is dead. */
const ANSWER_GRACE_MS = 1_000;
const MIGRATIONS_SCHEMA = 'public';
const MIGRATIONS_NAME = 'schema_migrations';
/** With its schema: no statement depends on `search_path`. */
export const MIGRATIONS_TABLE = `${MIGRATIONS_SCHEMA}.${MIGRATIONS_NAME}`;

/** int8 comes back as a bigint: a JavaScript number would round it. */
const exactTypes: CustomTypesConfig = {
  getTypeParser: ((oid: number, format?: 'text' | 'binary') =>
    oid === INT8_OID && format !== 'binary'
      ? BigInt
      : (types.getTypeParser(oid, format) as (text: string) => unknown)) as CustomTypesConfig['getTypeParser'],
};

export interface DatabaseOptions {
  /** A connection URL of libpq. Each new connection reads a file again. */
  readonly url: SecretUrl;
  /** Of servers that follow the one of `url`, and may serve lists; see `Replicas`. */
  readonly replicaUrls?: readonly SecretUrl[];
  /** Shown in pg_stat_activity. */
  readonly applicationName: string;
  readonly poolSize: number;
  /** How long to wait for a connection, be it a free one of the pool or a new one. */
  readonly connectTimeoutMs?: number;
  /** The server ends a statement that runs longer, and one that is not answered ends with its connection; 0 or absent: no limit. */
  readonly statementTimeoutMs?: number;
  /** False for a pooler that knows no named statements; see `UnnamedStatementsClient`. */
  readonly preparedStatements?: boolean;
  /** Citus distributes the tables of contexts that are `sharded`, once `migrateUp` has seen its extension (ADR 56). */
  readonly citus?: boolean;
  readonly persistence: readonly Persistence[];
}

/** A DataSource that is not connected yet: `connect()` or `initialize()` it, `destroy()` it. */
export function createDataSource(options: DatabaseOptions): DataSource {
  const extra: object = { Client: DatabaseClient, types: exactTypes, keepAlive: true, ...limitStatements(options) };
  const dataSource = new DataSource({
    type: 'postgres',
    // By default TypeORM looks for `pg` in node_modules, which a bundle does without.
    driver: { ...pg, Pool: DatabasePool },
    ...(typeof options.url === 'string' && { url: options.url }),
    applicationName: options.applicationName,
    poolSize: options.poolSize,
    connectTimeoutMS: options.connectTimeoutMs ?? CONNECT_TIMEOUT_MS,
    // Lost idle connections are replaced by the pool; a request that needs one meets the error itself.
    poolErrorHandler: () => undefined,
    logging: false,
    entities: options.persistence.flatMap(({ entities }) => [...entities]),
    migrations: options.persistence.flatMap(({ migrations }) => [...migrations]),
    // Of the table of migrations; each entity names its own schema.
    schema: MIGRATIONS_SCHEMA,
    migrationsTableName: MIGRATIONS_NAME,
    migrationsTransactionMode: 'each',
    installExtensions: false,
    extra: { ...extra, url: options.url, citus: options.citus ?? false, persistence: options.persistence },
  });
  const { replicaUrls = [], applicationName, poolSize: max, connectTimeoutMs: connectionTimeoutMillis = CONNECT_TIMEOUT_MS } = options;
  if (replicaUrls.length > 0) {
    const pools = replicaUrls.map((url) => ({
      name: showServers(parseDatabaseUrl(readSecretUrl(url))),
      pool: new DatabasePool({
        // Also without a statement timeout, a replica that does not respond gives its connection back.
        query_timeout: CONNECT_TIMEOUT_MS,
        ...extra,
        ...{ url, application_name: applicationName, max, connectionTimeoutMillis },
      }),
    }));
    replicas.set(dataSource, new Replicas(() => poolOf(dataSource), pools));
  }
  return dataSource;
}

const replicas = new WeakMap<DataSource, Replicas>();

/** Returns undefined if the DataSource has no `replicaUrls`. */
export function replicasOf(dataSource: DataSource): Replicas | undefined {
  return replicas.get(dataSource);
}

/**
 * Initialises the DataSource. In contrast to `initialize()` it fails within a bounded time if the server accepts connections but does not
 * respond, and it can be called again after a failure.
 */
export async function connect(dataSource: DataSource): Promise<void> {
  await probe(dataSource);
  try {
    await dataSource.initialize();
  } catch (error) {
    // TypeORM leaves the pool open if its first statement fails.
    await dataSource.driver.disconnect().catch(() => undefined);
    throw error;
  }
}

async function probe(dataSource: DataSource): Promise<void> {
  const { connectTimeoutMS: timeoutMs } = dataSource.options as unknown as { connectTimeoutMS: number };
  const client = new DatabaseClient({
    url: urlOf(dataSource),
    application_name: 'animal-store probe',
    connectionTimeoutMillis: timeoutMs,
    query_timeout: timeoutMs,
  });
  try {
    await client.connect();
    await client.query('SELECT 1');
  } finally {
    void client.end().catch(() => undefined);
  }
}

function limitStatements({ statementTimeoutMs = 0, preparedStatements = true }: DatabaseOptions): object {
  const answerTimeout = statementTimeoutMs > 0 ? { query_timeout: statementTimeoutMs + ANSWER_GRACE_MS } : {};
  // The poolers that know no named statements refuse this start-up parameter as well.
  const serverTimeout = preparedStatements && statementTimeoutMs > 0 ? { statement_timeout: statementTimeoutMs } : {};
  return { ...answerTimeout, ...serverTimeout, ...(!preparedStatements && { Client: UnnamedStatementsClient }) };
}

/** For PgBouncer before 1.21 in transaction mode, where the next transaction runs on a connection that lacks the statement. */
class UnnamedStatementsClient extends DatabaseClient {
  constructor(config: DatabaseClientConfig) {
    super(config);
    const query = this.query.bind(this) as (...args: unknown[]) => unknown;
    this.query = ((statement: unknown, ...rest: unknown[]) => query(withoutName(statement), ...rest)) as Client['query'];
  }
}

function withoutName(statement: unknown): unknown {
  if (statement instanceof Execution) return statement.unnamed();
  return typeof statement === 'object' && statement !== null && 'name' in statement ? { ...statement, name: undefined } : statement;
}

/** Returns the URL, or the file that holds it. */
export function urlOf(dataSource: DataSource): SecretUrl {
  return (dataSource.options.extra as { url: SecretUrl }).url;
}

/** Whether statements must suit tables that Citus distributes. */
export function isSharded(dataSource: DataSource): boolean {
  return (dataSource.options.extra as { citus: boolean }).citus;
}

export function persistenceOf(dataSource: DataSource): readonly Persistence[] {
  return (dataSource.options.extra as { persistence: readonly Persistence[] }).persistence;
}

/** Returns what the URL says now. */
export function targetOf(dataSource: DataSource): DatabaseTarget {
  return parseDatabaseUrl(readSecretUrl(urlOf(dataSource)));
}

/** The `pg` pool below a connected DataSource, for the few statements that TypeORM's API has no words for. */
export function poolOf(dataSource: DataSource): Pool {
  return (dataSource.driver as unknown as { master: Pool }).master;
}
