import { type DynamicModule, Module } from '@nestjs/common';
import type { Context } from './context.js';
import { EventDelivery } from './event-delivery.js';
import { JobRunner, SCHEDULED_JOBS } from './job-runner.js';
import { MigrationWatch } from './migration-watch.js';

/** The contexts, and what runs for them in the background. */
@Module({})
export class ContextsModule {
  static forRoot(contexts: readonly Context[]): DynamicModule {
    const jobs = contexts.flatMap((context) => context.jobs ?? []);
    return {
      module: ContextsModule,
      imports: [...contexts],
      providers: [{ provide: SCHEDULED_JOBS, useValue: jobs }, JobRunner, EventDelivery, MigrationWatch],
    };
  }
}
