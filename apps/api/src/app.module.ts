import type { Context } from '@animal-store/http-kit';
import { Clock } from '@animal-store/kernel';
import { type DynamicModule, Global, Module } from '@nestjs/common';
import { APP_FILTER, APP_GUARD, APP_PIPE } from '@nestjs/core';
import { AuthenticationModule } from './authentication/authentication.module.js';
import { AuthenticationGuard, RateLimitGuard, ScopesGuard } from './authentication/guards.js';
import { ContextsModule } from './contexts/contexts.module.js';
import { DatabaseModule } from './contexts/database.module.js';
import { ApiExceptionFilter } from './http/exception.filter.js';
import { HttpModule } from './http/http.module.js';
import type { HttpServer } from './http/http-server.js';
import { LOGGER } from './observability/logger.js';
import { Metrics } from './observability/metrics.js';
import type { Observability } from './observability/observability.js';
import type { Config } from './config/config.js';
import { HealthController } from './process/health.controller.js';
import { Readiness } from './process/readiness.js';
import { RateLimits } from './rate-limit/rate-limits.js';
import { ReferenceModule } from './reference/reference.module.js';
import { PreconditionGuard, PreferenceGuard, ValidationPipe } from './validation/validation.pipe.js';

export interface AppModuleOptions {
  readonly config: Config;
  readonly contexts: readonly Context[];
  readonly clock: Clock;
  readonly observability: Observability;
  readonly server: HttpServer;
}

/** Composition root: the modules of the app and its contexts, and the guards, pipe and filter of every route. */
@Global()
@Module({
  providers: [
    // Guards run in this order. ScopesGuard follows RateLimitGuard, so that requests that end with 403 count too.
    { provide: APP_GUARD, useExisting: AuthenticationGuard },
    { provide: APP_GUARD, useClass: RateLimitGuard },
    { provide: APP_GUARD, useClass: ScopesGuard },
    { provide: APP_GUARD, useClass: PreferenceGuard },
    { provide: APP_GUARD, useClass: PreconditionGuard },
    { provide: APP_PIPE, useClass: ValidationPipe },
    { provide: APP_FILTER, useClass: ApiExceptionFilter },
  ],
})
export class AppModule {
  static with({ config, contexts, clock, observability, server }: AppModuleOptions): DynamicModule {
    return {
      module: AppModule,
      imports: [
        // Nest closes them in the reverse order: the contexts' work in the background, then connections of clients, then those to PostgreSQL.
        DatabaseModule.forRoot(config, contexts, observability),
        HttpModule.forRoot(server),
        AuthenticationModule,
        ReferenceModule.forRoot(config, contexts),
        ContextsModule.forRoot(contexts),
      ],
      controllers: [HealthController],
      providers: [
        Readiness,
        ...[...config.contextSettings].map(([provide, useValue]) => ({ provide, useValue })),
        { provide: Clock, useValue: clock },
        { provide: LOGGER, useValue: observability.logger },
        { provide: Metrics, useValue: observability.metrics },
        { provide: RateLimits, useValue: new RateLimits(config, observability.logger, observability.metrics) },
      ],
      exports: [...config.contextSettings.keys(), Clock, LOGGER, Metrics, RateLimits],
    };
  }
}
