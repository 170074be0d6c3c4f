import { setTimeout as sleep } from 'node:timers/promises';
import pg, { type PoolConfig } from 'pg';
import { DataSource, type QueryRunner, type ReplicationMode } from 'typeorm';
import { connectMs, DatabaseClient, RESPONSE_MS, withOwnConnection } from './connection/database-client.js';
import { DatabasePool, type DatabasePoolConfig } from './connection/database-pool.js';
import { formatServer, type SecretUrl } from './connection/database-url.js';
import { durabilityRisk } from './connection/session-settings.js';
import type { StatementInterceptor } from './connection/statement.js';
import type { Deployment } from './persistence.js';
import { type ReplicaObserver, Replicas } from './replicas/replicas.js';
import { registerSubscriptions } from './statements/publication.js';

/** Added to the server's statement timeout. The sum is the client's timeout, after which the connection is considered lost. */
const CLIENT_TIMEOUT_GRACE_MS = 1_000;
const MIGRATIONS_SCHEMA = 'public';
const MIGRATIONS_NAME = 'schema_migrations';
/** Includes the schema because no statement depends on `search_path`. */
export const MIGRATIONS_TABLE = `${MIGRATIONS_SCHEMA}.${MIGRATIONS_NAME}`;
const MIGRATIONS_POLL_MS = 200;
const UNDEFINED_TABLE = '42P01';

export interface DatabaseOptions extends Deployment {
  /** A libpq connection URL. A file is read again for each new connection. */
  readonly url: SecretUrl;
  /** URLs of replicas of the server in `url`. They serve lists; see `Replicas`. */
  readonly replicaUrls?: readonly SecretUrl[];
  readonly replicaObserver?: ReplicaObserver | undefined;
  /** Shown in pg_stat_activity. */
  readonly applicationName: string;
  readonly poolSize: number;
  /** Maximum time to wait for a free or new connection. */
  readonly connectTimeoutMs?: number;
  /** Called by `connect()` with a line if settings of the server may lose commits. */
  readonly onDurabilityRisk?: ((risk: string) => void) | undefined;
  /** In ms, 0 for none; by default, that of the role. If the server has not responded a second later, the connection is closed. */
  readonly statementTimeoutMs?: number;
  /** Runs all statements, for example in a span, or to measure them. */
  readonly interceptor?: StatementInterceptor | undefined;
}

/** A DataSource with its pool and replicas. A service calls `open` and `close`; a command `connect` or `initialize`, and `destroy`. */
export class Database extends DataSource {
  /** Undefined without `replicaUrls`. */
  readonly replicas: Replicas | undefined;
  /** Whether requests may use the database: only after it was first connected and migrated. */
  hasOpened = false;
  private readonly waiting: ((database: this) => void)[] = [];

  constructor(readonly settings: DatabaseOptions) {
    const { url, persistence, interceptor, replicaUrls = [], replicaObserver } = settings;
    super({
      type: 'postgres',
      // TypeORM calls `new Pool()`. By default, it loads `pg` from node_modules, which a bundle does not have.
      driver: {
        ...pg,
        Pool: function () {
          return new DatabasePool({ ...poolConfig(settings, url), interceptor });
        },
      },
      // The pool replaces lost idle connections. Errors of busy connections reject their statements.
      poolErrorHandler: () => undefined,
      entities: persistence.flatMap(({ entities }) => [...entities]),
      migrations: persistence.flatMap(({ migrations }) => [...migrations]),
      // The schema of the migrations table. Each entity names its own schema.
      schema: MIGRATIONS_SCHEMA,
      migrationsTableName: MIGRATIONS_NAME,
      installExtensions: false,
    });
    const pools = replicaUrls.map((replicaUrl) => ({
      name: formatServer(replicaUrl),
      // Ends statements on a replica that does not respond, even without a statement timeout.
      pool: new DatabasePool({ query_timeout: RESPONSE_MS, ...poolConfig(settings, replicaUrl), isReplica: true }),
    }));
    if (pools.length > 0) this.replicas = new Replicas(() => this.pool, pools, replicaObserver);
  }

  /** Returns the Database that an object of TypeORM belongs to. @throws TypeError if it belongs to another DataSource */
  static of({ dataSource }: { readonly dataSource: DataSource }): Database {
    if (dataSource instanceof Database) return dataSource;
    throw new TypeError('The DataSource must be a Database of @animal-store/database.');
  }

  /** The pool, for statements that TypeORM's API cannot run. Only if connected. */
  get pool(): DatabasePool {
    return (this.driver as unknown as { master: DatabasePool }).master;
  }

  /** Unlike `initialize()`, fails within a bounded time if the server does not respond, and can be called again after a failure. */
  async connect(): Promise<void> {
    const risk = await withOwnConnection(this.settings, 'animal-store probe', durabilityRisk);
    await this.initialize();
    if (risk) this.settings.onDurabilityRisk?.(risk);
  }

  /** Connects once, then waits until the database is migrated, possibly by another process. Calls `onWaiting` meanwhile. */
  async open({ onWaiting = () => undefined }: { readonly onWaiting?: () => void } = {}): Promise<void> {
    if (!this.isInitialized) {
      await this.connect();
      this.replicas?.start();
    }
    while ((await pendingMigrations(this)).length > 0) {
      onWaiting();
      await sleep(MIGRATIONS_POLL_MS);
    }
    await registerSubscriptions(this);
    this.hasOpened = true;
  }

  async close(): Promise<void> {
    this.hasOpened = false;
    await this.replicas?.close();
    if (this.isInitialized) await this.destroy();
  }

  /** Calls `prepare` as soon as the metadata of the entities exists. If it throws, the initialisation fails. */
  whenInitialized(prepare: (database: this) => void): void {
    if (this.isInitialized) prepare(this);
    else this.waiting.push(prepare);
  }

  override async initialize(): Promise<this> {
    try {
      await super.initialize();
      for (const prepare of this.waiting) prepare(this);
      return this;
    } catch (error) {
      // TypeORM leaves the pool open if its first statement fails.
      await (this.isInitialized ? this.destroy() : this.driver.disconnect()).catch(() => undefined);
      throw error;
    }
  }

  /** The interceptor also runs the statements of TypeORM, those of transactions included. */
  override createQueryRunner(mode?: ReplicationMode): QueryRunner {
    const runner = super.createQueryRunner(mode);
    const { interceptor } = this.settings;
    if (!interceptor) return runner;
    const query = runner.query.bind(runner) as (...args: unknown[]) => Promise<never>;
    runner.query = (text: string, values?: unknown[], ...rest: unknown[]) =>
      interceptor({ text, values }, () => query(text, values, ...rest));
    return runner;
  }
}

/** Returns the migrations of all contexts, ordered by the timestamp of 13 digits at the end of their names. Runs one statement. */
export async function migrationStatus(database: Database): Promise<{ name: string; applied: boolean }[]> {
  const { rows } = await database.pool.query<{ name: string }>(`SELECT name FROM ${MIGRATIONS_TABLE}`).catch((error: unknown) => {
    if ((error as { code?: unknown }).code === UNDEFINED_TABLE) return { rows: [] };
    throw error;
  });
  const names = database.migrations.map((migration) => migration.name ?? migration.constructor.name);
  names.sort((one, other) => Number(one.slice(-13)) - Number(other.slice(-13)));
  return names.map((name) => ({ name, applied: rows.some((row) => row.name === name) }));
}

export async function pendingMigrations(database: Database): Promise<string[]> {
  return (await migrationStatus(database)).filter(({ applied }) => !applied).map(({ name }) => name);
}

function poolConfig(settings: DatabaseOptions, url: SecretUrl): DatabasePoolConfig {
  const { statementTimeoutMs } = settings;
  return {
    url,
    Client: DatabaseClient as unknown as PoolConfig['Client'],
    application_name: settings.applicationName,
    max: settings.poolSize,
    connectionTimeoutMillis: settings.connectTimeoutMs ?? connectMs(),
    statementTimeoutMs,
    ...(statementTimeoutMs && { query_timeout: statementTimeoutMs + CLIENT_TIMEOUT_GRACE_MS }),
  };
}
