import { Database } from '@animal-store/database';
import type { Context } from '@animal-store/http-kit';
import { type DynamicModule, Global, Inject, Module, type OnApplicationShutdown } from '@nestjs/common';
import { DataSource, EntityManager } from 'typeorm';
import type { Metrics } from '../observability/metrics.js';
import type { Observability } from '../observability/observability.js';
import type { Config } from '../config/config.js';
import { collectSubscriptions } from './event-delivery.js';

/** PostgreSQL with the tables of all contexts. The service opens it after the start. */
@Global()
@Module({})
export class DatabaseModule implements OnApplicationShutdown {
  constructor(@Inject(Database) private readonly database: Database) {}

  static forRoot(config: Config, contexts: readonly Context[], observability: Observability): DynamicModule {
    const { logger, metrics, interceptor } = observability;
    const database = new Database({
      url: config.databaseUrl,
      replicaUrls: config.databaseReplicaUrls,
      replicaObserver: {
        read: (served_by) => metrics.replicaReads.inc({ served_by }),
        changed: (replica, reason) => {
          metrics.replicaUsed.set({ replica }, reason === undefined ? 1 : 0);
          if (reason === undefined) logger.info({ replica }, 'reading lists from the replica');
          else logger.warn({ replica, reason }, 'not reading from the replica');
        },
      },
      applicationName: 'animal-store-api',
      poolSize: config.databasePoolSize,
      connectTimeoutMs: config.databaseConnectTimeoutMs,
      onDurabilityRisk: (risk) => logger.warn(risk),
      statementTimeoutMs: config.databaseStatementTimeoutMs,
      citus: config.citus,
      persistence: contexts.map(({ persistence }) => persistence),
      subscriptions: collectSubscriptions(contexts, config),
      interceptor,
    });
    observe(database, metrics);
    return {
      module: DatabaseModule,
      providers: [
        { provide: Database, useValue: database },
        { provide: DataSource, useExisting: Database },
        { provide: EntityManager, useValue: database.manager },
      ],
      exports: [Database, DataSource, EntityManager],
    };
  }

  async onApplicationShutdown(): Promise<void> {
    await this.database.close();
  }
}

function observe(database: Database, metrics: Metrics): void {
  const pool = () => (database.hasOpened ? database.pool : undefined);
  metrics.observe('database_pool_connections', 'Connections to PostgreSQL.', () => pool()?.totalCount ?? 0);
  metrics.observe('database_pool_idle', 'Unused connections to PostgreSQL.', () => pool()?.idleCount ?? 0);
  metrics.observe('database_pool_waiting', 'Statements that wait for a connection.', () => pool()?.waitingCount ?? 0);
  for (const replica of database.replicas?.problems.keys() ?? []) metrics.replicaUsed.set({ replica }, 0);
}
