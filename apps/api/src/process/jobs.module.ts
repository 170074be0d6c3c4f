import { deleteExpiredIdempotencyKeys, jobsPersistence } from '@animal-store/database';
import { provideUseCase } from '@animal-store/http-contract';
import { Module } from '@nestjs/common';
import { DataSource } from 'typeorm';

/** Deletes the expired idempotency keys of all contexts. */
export class ExpireIdempotencyKeys {
  constructor(private readonly dataSource: DataSource) {}

  execute(): Promise<unknown> {
    return deleteExpiredIdempotencyKeys(this.dataSource);
  }
}

/** The table of job runs, and the jobs of the platform. */
@Module({ providers: [provideUseCase(ExpireIdempotencyKeys, DataSource)] })
export class JobsModule {
  static readonly persistence = jobsPersistence;
  static readonly jobs = [{ name: 'idempotency-keys-expire', every: 60_000, useCase: ExpireIdempotencyKeys }];
}
