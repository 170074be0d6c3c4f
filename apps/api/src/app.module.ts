import { Database, DatabaseConnection } from '@animal-store/database';
import { PublicUrl } from '@animal-store/http-contract';
import { Clock } from '@animal-store/kernel';
import {
  type BeforeApplicationShutdown,
  type DynamicModule,
  Global,
  Inject,
  Module,
  type OnApplicationShutdown,
  type OnModuleDestroy,
} from '@nestjs/common';
import { APP_FILTER, APP_GUARD, APP_PIPE, HttpAdapterHost, ModuleRef } from '@nestjs/core';
import type { Logger } from 'pino';
import { DataSource } from 'typeorm';
import { AuthenticationGuard } from './authentication/authentication.guard.js';
import { ScopesGuard } from './authentication/scopes.guard.js';
import { contexts } from './contexts.js';
import { ApiExceptionFilter } from './errors/exception.filter.js';
import { Metrics } from './observability/metrics.js';
import { EventDelivery } from './contexts/event-delivery.js';
import { JobRunner } from './contexts/job-runner.js';
import { MigrationWatch } from './contexts/migration-watch.js';
import { WorkerGroup } from './process/worker-group.js';
import { RateLimitGuard } from './rate-limit/rate-limit.guard.js';
import { RateLimits } from './rate-limit/rate-limits.js';
import { JsonAdapter } from './http/json-adapter.js';
import { DocsController } from './reference/docs.controller.js';
import { OpenApiController, OpenApiDocument } from './reference/openapi.controller.js';
import { DeprecationGuard } from './http/deprecation.js';
import { Draining, stopListening } from './http/draining.js';
import { HealthController } from './process/health.controller.js';
import { Readiness } from './process/readiness.js';
import { RouteTable } from './http/route-table.js';
import { PreconditionGuard } from './http/entity-tags.js';
import { PreferenceGuard } from './validation/preference.guard.js';
import { ValidationPipe } from './validation/validation.pipe.js';

export interface Platform {
  readonly database: Database;
  readonly connection: DatabaseConnection;
  readonly clock: Clock;
  readonly publicUrl: PublicUrl;
  readonly routes: RouteTable;
  readonly logger: Logger;
  readonly openApiDocument: OpenApiDocument;
  readonly draining: Draining;
  readonly workers: WorkerGroup;
  readonly readiness: Readiness;
  readonly metrics: Metrics;
  readonly rateLimits: RateLimits;
}

/** Composition root: the providers that every context may inject, and the guards, pipes and filters of every route. */
@Global()
@Module({})
export class AppModule implements OnModuleDestroy, BeforeApplicationShutdown, OnApplicationShutdown {
  private stopped: Promise<void> | undefined;

  constructor(
    @Inject(HttpAdapterHost) private readonly host: HttpAdapterHost<JsonAdapter>,
    @Inject(DatabaseConnection) private readonly connection: DatabaseConnection,
    @Inject(Draining) private readonly draining: Draining,
  ) {}

  static with(platform: Platform): DynamicModule {
    const { database, connection, clock, publicUrl, routes, logger, openApiDocument, draining, workers, readiness, metrics, rateLimits } =
      platform;
    return {
      module: AppModule,
      imports: [...contexts],
      controllers: [HealthController, OpenApiController, DocsController],
      providers: [
        { provide: Database, useValue: database },
        { provide: DataSource, useExisting: Database },
        { provide: DatabaseConnection, useValue: connection },
        { provide: Clock, useValue: clock },
        { provide: PublicUrl, useValue: publicUrl },
        { provide: RouteTable, useValue: routes },
        { provide: OpenApiDocument, useValue: openApiDocument },
        { provide: Draining, useValue: draining },
        { provide: WorkerGroup, useValue: workers },
        { provide: Readiness, useValue: readiness },
        { provide: Metrics, useValue: metrics },
        { provide: RateLimits, useValue: rateLimits },
        {
          provide: JobRunner,
          inject: [ModuleRef],
          useFactory: (moduleRef: ModuleRef) =>
            new JobRunner(
              contexts.flatMap(({ jobs = [] }) => jobs),
              { ...platform, moduleRef },
            ),
        },
        EventDelivery,
        MigrationWatch,
        // Guards run in this order. ScopesGuard follows RateLimitGuard, so that requests that end with 403 count too.
        { provide: APP_GUARD, useClass: AuthenticationGuard },
        { provide: APP_GUARD, useClass: RateLimitGuard },
        { provide: APP_GUARD, useClass: ScopesGuard },
        { provide: APP_GUARD, useClass: DeprecationGuard },
        { provide: APP_GUARD, useClass: PreferenceGuard },
        { provide: APP_GUARD, useClass: PreconditionGuard },
        { provide: APP_PIPE, useClass: ValidationPipe },
        { provide: APP_FILTER, useValue: new ApiExceptionFilter(routes, publicUrl, logger) },
      ],
      exports: [DataSource, Clock, PublicUrl],
    };
  }

  /** The first step of closing, before jobs and event handlers are awaited. Responses close their connections, even if draining has not begun. */
  onModuleDestroy(): void {
    this.draining.begin();
    this.stopped = stopListening(this.host.httpAdapter.getHttpServer());
  }

  /** Not in a hook of Fastify, which limits their time. */
  async beforeApplicationShutdown(): Promise<void> {
    await this.stopped;
  }

  async onApplicationShutdown(): Promise<void> {
    await this.connection.close();
  }
}
