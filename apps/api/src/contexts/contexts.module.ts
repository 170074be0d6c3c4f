import { eventsPersistence, ExpireIdempotencyKeys, jobsPersistence } from '@animal-store/database';
import { type Context, defineContext, provideUseCase } from '@animal-store/http-kit';
import { type DynamicModule, Module } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { EventDelivery } from './event-delivery.js';
import { JobRunner, SCHEDULED_JOBS } from './job-runner.js';

@Module({})
class EventsModule {}

export const eventsContext = defineContext({ module: EventsModule, persistence: eventsPersistence });

@Module({ providers: [provideUseCase(ExpireIdempotencyKeys, DataSource)] })
class JobsModule {}

/** The table of job runs, and the jobs of the platform. */
export const jobsContext = defineContext({
  module: JobsModule,
  persistence: jobsPersistence,
  jobs: [{ name: 'idempotency-keys-expire', every: 60_000, useCase: ExpireIdempotencyKeys }],
});

/** The contexts, and what runs for them in the background. */
@Module({})
export class ContextsModule {
  static forRoot(contexts: readonly Context[]): DynamicModule {
    const jobs = contexts.flatMap((context) => context.jobs ?? []);
    return {
      module: ContextsModule,
      imports: contexts.map((context) => context.module),
      providers: [{ provide: SCHEDULED_JOBS, useValue: jobs }, JobRunner, EventDelivery],
    };
  }
}
