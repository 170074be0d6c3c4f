import { Database, DatabaseConnection } from '@animal-store/database';
import { type DynamicModule, Global, Inject, Module, type OnApplicationShutdown } from '@nestjs/common';
import { DataSource } from 'typeorm';
import type { Observability } from '../observability/observability.module.js';
import type { Config } from '../process/config.js';
import type { Context } from './contexts.module.js';
import { collectSubscriptions } from './event-delivery.js';

/** PostgreSQL with the tables of all contexts. `DatabaseConnection` connects after the start. */
@Global()
@Module({})
export class DatabaseModule implements OnApplicationShutdown {
  constructor(@Inject(DatabaseConnection) private readonly connection: DatabaseConnection) {}

  static forRoot(config: Config, contexts: readonly Context[], observability: Observability): DynamicModule {
    const database = createDatabase(config, contexts, observability);
    const connection = new DatabaseConnection(database);
    observability.metrics.observePool(() => (connection.hasOpened ? database.pool : undefined));
    if (database.replicas) observability.metrics.observeReplicas(database.replicas, observability.logger);
    return {
      module: DatabaseModule,
      providers: [
        { provide: Database, useValue: database },
        { provide: DataSource, useExisting: Database },
        { provide: DatabaseConnection, useValue: connection },
      ],
      exports: [Database, DataSource, DatabaseConnection],
    };
  }

  async onApplicationShutdown(): Promise<void> {
    await this.connection.close();
  }
}

function createDatabase(config: Config, contexts: readonly Context[], { logger, metrics, tracing }: Observability): Database {
  return new Database({
    url: config.databaseUrl,
    replicaUrls: config.databaseReplicaUrls,
    applicationName: 'animal-store-api',
    poolSize: config.databasePoolSize,
    connectTimeoutMs: config.databaseConnectTimeoutMs,
    onDurabilityRisk: (risk) => logger.warn(risk),
    statementTimeoutMs: config.databaseStatementTimeoutMs,
    citus: config.citus,
    persistence: contexts.map(({ persistence }) => persistence),
    subscriptions: collectSubscriptions(contexts, config),
    observer: metrics,
    interceptor: tracing?.interceptor,
  });
}
