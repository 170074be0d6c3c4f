import { type CustomTypesConfig, type Pool, types } from 'pg';
import { DataSource } from 'typeorm';
import type { Persistence } from './persistence.js';

const INT8_OID = types.builtins.INT8;
const CONNECT_TIMEOUT_MS = 5_000;

/** int8 comes back as a bigint: a JavaScript number would round it. */
const exactTypes: CustomTypesConfig = {
  getTypeParser: ((oid: number, format?: 'text' | 'binary') =>
    oid === INT8_OID && format !== 'binary' ? BigInt : types.getTypeParser(oid, format)) as CustomTypesConfig['getTypeParser'],
};

export interface DatabaseOptions {
  /** postgres:// URL; TLS as its `sslmode` says. */
  readonly url: string;
  /** Shown in pg_stat_activity. */
  readonly applicationName: string;
  readonly poolSize: number;
  readonly persistence: readonly Persistence[];
}

/** A DataSource that is not connected yet: `initialize()` it, `destroy()` it. */
export function createDataSource(options: DatabaseOptions): DataSource {
  return new DataSource({
    type: 'postgres',
    url: options.url,
    applicationName: options.applicationName,
    poolSize: options.poolSize,
    connectTimeoutMS: CONNECT_TIMEOUT_MS,
    // Lost idle connections are replaced by the pool; a request that needs one meets the error itself.
    poolErrorHandler: () => undefined,
    logging: false,
    entities: options.persistence.flatMap(({ entities }) => [...entities]),
    migrations: options.persistence.flatMap(({ migrations }) => [...migrations]),
    migrationsTableName: 'schema_migrations',
    migrationsTransactionMode: 'each',
    installExtensions: false,
    extra: { types: exactTypes, keepAlive: true },
  });
}

/** The `pg` pool below a connected DataSource, for the few statements that TypeORM's API has no words for. */
export function poolOf(dataSource: DataSource): Pool {
  return (dataSource.driver as unknown as { master: Pool }).master;
}
