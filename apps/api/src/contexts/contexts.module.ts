import { eventsPersistence, ExpireIdempotencyKeys, jobsPersistence, type Persistence, type Subscription } from '@animal-store/database';
import { provideUseCase } from '@animal-store/http-kit';
import { type DynamicModule, Module, type Type } from '@nestjs/common';
import { DataSource } from 'typeorm';
import type { DocumentedContext } from '../reference/openapi-document.js';
import { EventDelivery } from './event-delivery.js';
import { JobRunner, SCHEDULED_JOBS, type ScheduledJob } from './job-runner.js';

/** A Nest module with its persistence in PostgreSQL and its additions to the OpenAPI document. */
export type Context = Type &
  DocumentedContext & {
    readonly persistence: Persistence;
    /** Scopes that API keys can grant. */
    readonly scopes?: readonly string[];
    /** Run by the service in the background. */
    readonly jobs?: readonly ScheduledJob[];
    /** Reactions to events of any context. */
    readonly subscriptions?: readonly Subscription[];
  };

/** The tables of events. */
@Module({})
export class EventsModule {
  static readonly persistence = eventsPersistence;
}

/** The table of job runs, and the jobs of the platform. */
@Module({ providers: [provideUseCase(ExpireIdempotencyKeys, DataSource)] })
export class JobsModule {
  static readonly persistence = jobsPersistence;
  static readonly jobs = [{ name: 'idempotency-keys-expire', every: 60_000, useCase: ExpireIdempotencyKeys }];
}

/** The contexts, and what runs for them in the background. */
@Module({})
export class ContextsModule {
  static forRoot(contexts: readonly Context[]): DynamicModule {
    const jobs = contexts.flatMap((context) => context.jobs ?? []);
    return {
      module: ContextsModule,
      imports: [...contexts],
      providers: [{ provide: SCHEDULED_JOBS, useValue: jobs }, JobRunner, EventDelivery],
    };
  }
}
