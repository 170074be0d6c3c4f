import { type DynamicModule, Global, Module } from '@nestjs/common';
import type { Logger } from 'pino';
import { LOGGER } from '../observability/logger.js';
import { Metrics } from '../observability/metrics.js';
import { RateLimitGuard } from './rate-limit.guard.js';
import { RateLimits, type RateLimitsOptions } from './rate-limits.js';

/** Limits of requests per client, and of failed authentications per address. */
@Global()
@Module({})
export class RateLimitModule {
  static forRoot(options: RateLimitsOptions): DynamicModule {
    return {
      module: RateLimitModule,
      providers: [
        {
          provide: RateLimits,
          inject: [LOGGER, Metrics],
          useFactory: (logger: Logger, metrics: Metrics) => new RateLimits(options, logger, metrics),
        },
        RateLimitGuard,
      ],
      exports: [RateLimits, RateLimitGuard],
    };
  }
}
