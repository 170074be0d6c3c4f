import pg, { type Client, type CustomTypesConfig, type Pool, types } from 'pg';
import { DataSource } from 'typeorm';
import { DatabaseClient, type DatabaseClientConfig } from './database-client.js';
import { DatabasePool } from './database-pool.js';
import { type DatabaseTarget, parseDatabaseUrl, formatServers } from './database-url.js';
import type { Subscription } from './events/subscription.js';
import type { Persistence } from './persistence.js';
import { Execution } from './prepared-statement.js';
import { Replicas } from './replicas.js';
import { readSecretUrl, type SecretUrl } from './secret-url.js';

const INT8_OID = types.builtins.INT8;
const CONNECT_TIMEOUT_MS = 5_000;
/** Added to the server's statement timeout. The sum is the client's timeout, after which the connection is considered lost. */
const CLIENT_TIMEOUT_GRACE_MS = 1_000;
const MIGRATIONS_SCHEMA = 'public';
const MIGRATIONS_NAME = 'schema_migrations';
/** Includes the schema because no statement depends on `search_path`. */
export const MIGRATIONS_TABLE = `${MIGRATIONS_SCHEMA}.${MIGRATIONS_NAME}`;

/** Parses int8 as bigint, because a JavaScript number would round it. */
const exactTypes: CustomTypesConfig = {
  getTypeParser: ((oid: number, format?: 'text' | 'binary') =>
    oid === INT8_OID && format !== 'binary'
      ? BigInt
      : (types.getTypeParser(oid, format) as (text: string) => unknown)) as CustomTypesConfig['getTypeParser'],
};

export interface DatabaseOptions {
  /** A libpq connection URL. A file is read again for each new connection. */
  readonly url: SecretUrl;
  /** URLs of replicas of the server in `url`. They serve lists; see `Replicas`. */
  readonly replicaUrls?: readonly SecretUrl[];
  /** Shown in pg_stat_activity. */
  readonly applicationName: string;
  readonly poolSize: number;
  /** Maximum time to wait for a free or new connection. */
  readonly connectTimeoutMs?: number;
  /** Called when the server accepts fewer connections than `poolSize`. Statements then wait for the open ones. */
  readonly onLimited?: (error: Error) => void;
  /** Statement timeout of the server; 0 or absent: no limit. If the server has not responded a second later, the connection is closed. */
  readonly statementTimeoutMs?: number;
  /** Set to false for a pooler that does not support named statements; see `UnnamedStatementsClient`. */
  readonly preparedStatements?: boolean;
  /** Whether `migrateUp` distributes the tables of `sharded` contexts with Citus, if its extension exists (ADR 56). */
  readonly citus?: boolean;
  readonly persistence: readonly Persistence[];
  /** Subscriptions to events of this deployment, in any process. Only events of their types are stored. */
  readonly subscriptions?: readonly Subscription[];
}

/** Creates a DataSource without connecting it. Call `connect()` or `initialize()` to open it and `destroy()` to close it. */
export function createDataSource(options: DatabaseOptions): DataSource {
  const { onLimited } = options;
  const extra: object = { Client: DatabaseClient, types: exactTypes, keepAlive: true, onLimited, ...statementOptions(options) };
  const dataSource = new DataSource({
    type: 'postgres',
    // By default, TypeORM loads `pg` from node_modules, which a bundle does not have.
    driver: { ...pg, Pool: DatabasePool },
    ...(typeof options.url === 'string' && { url: options.url }),
    applicationName: options.applicationName,
    poolSize: options.poolSize,
    connectTimeoutMS: options.connectTimeoutMs ?? CONNECT_TIMEOUT_MS,
    // The pool replaces lost idle connections. Errors of busy connections reject their statements.
    poolErrorHandler: () => undefined,
    logging: false,
    entities: options.persistence.flatMap(({ entities }) => [...entities]),
    migrations: options.persistence.flatMap(({ migrations }) => [...migrations]),
    // The schema of the migrations table. Each entity names its own schema.
    schema: MIGRATIONS_SCHEMA,
    migrationsTableName: MIGRATIONS_NAME,
    migrationsTransactionMode: 'each',
    installExtensions: false,
    extra: {
      ...extra,
      url: options.url,
      citus: options.citus ?? false,
      persistence: options.persistence,
      subscriptions: options.subscriptions ?? [],
    },
  });
  const { replicaUrls = [], applicationName, poolSize: max, connectTimeoutMs: connectionTimeoutMillis = CONNECT_TIMEOUT_MS } = options;
  if (replicaUrls.length > 0) {
    const pools = replicaUrls.map((url) => ({
      name: formatServers(parseDatabaseUrl(readSecretUrl(url))),
      pool: new DatabasePool({
        // Ends statements on a replica that does not respond, even without a statement timeout.
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
 * Initialises the DataSource. Unlike `initialize()`, it fails within a bounded time if the server accepts connections but does not
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

function statementOptions({ statementTimeoutMs = 0, preparedStatements = true }: DatabaseOptions): object {
  const clientTimeout = statementTimeoutMs > 0 ? { query_timeout: statementTimeoutMs + CLIENT_TIMEOUT_GRACE_MS } : {};
  // Poolers that do not support named statements also reject this start-up parameter.
  const serverTimeout = preparedStatements && statementTimeoutMs > 0 ? { statement_timeout: statementTimeoutMs } : {};
  return { ...clientTimeout, ...serverTimeout, ...(!preparedStatements && { Client: UnnamedStatementsClient }) };
}

/** Removes the names of statements. PgBouncer before 1.21 in transaction mode loses named statements when it switches connections. */
class UnnamedStatementsClient extends DatabaseClient {
  constructor(config: DatabaseClientConfig) {
    super(config);
    const query = this.query.bind(this) as (...args: unknown[]) => unknown;
    this.query = ((statement: unknown, ...rest: unknown[]) => query(removeName(statement), ...rest)) as Client['query'];
  }
}

function removeName(statement: unknown): unknown {
  if (statement instanceof Execution) return statement.withoutName();
  return typeof statement === 'object' && statement !== null && 'name' in statement ? { ...statement, name: undefined } : statement;
}

/** Returns the URL or the file that contains it. */
export function urlOf(dataSource: DataSource): SecretUrl {
  return (dataSource.options.extra as { url: SecretUrl }).url;
}

/** Whether Citus distributes the tables for which `isSharded` is true. */
export function isCitusOn(dataSource: DataSource): boolean {
  return (dataSource.options.extra as { citus: boolean }).citus;
}

export function persistenceOf(dataSource: DataSource): readonly Persistence[] {
  return (dataSource.options.extra as { persistence: readonly Persistence[] }).persistence;
}

export function subscriptionsOf(dataSource: DataSource): readonly Subscription[] {
  return (dataSource.options.extra as { subscriptions: readonly Subscription[] }).subscriptions;
}

/** Reads and parses the current URL. */
export function targetOf(dataSource: DataSource): DatabaseTarget {
  return parseDatabaseUrl(readSecretUrl(urlOf(dataSource)));
}

/** Returns the `pg` pool of a connected DataSource, for statements that TypeORM's API cannot run. */
export function poolOf(dataSource: DataSource): Pool {
  return (dataSource.driver as unknown as { master: Pool }).master;
}
