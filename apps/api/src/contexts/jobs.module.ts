import { ExpireIdempotencyKeys, jobsPersistence } from '@animal-store/database';
import { provideUseCase } from '@animal-store/http-kit';
import { Module } from '@nestjs/common';
import { DataSource } from 'typeorm';

/** The table of job runs, and the jobs of the platform. */
@Module({ providers: [provideUseCase(ExpireIdempotencyKeys, DataSource)] })
export class JobsModule {
  static readonly persistence = jobsPersistence;
  static readonly jobs = [{ name: 'idempotency-keys-expire', every: 60_000, useCase: ExpireIdempotencyKeys }];
}
