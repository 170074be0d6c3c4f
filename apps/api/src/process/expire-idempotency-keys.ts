import { deleteExpiredIdempotencyKeys } from '@animal-store/database';
import type { DataSource } from 'typeorm';

/** Deletes the expired idempotency keys of all contexts. */
export class ExpireIdempotencyKeys {
  constructor(private readonly dataSource: DataSource) {}

  async execute(): Promise<void> {
    await deleteExpiredIdempotencyKeys(this.dataSource);
  }
}
