import { backfill } from '@animal-store/database';
import type { MigrationInterface, QueryRunner } from 'typeorm';

/** A separate migration, so that the table is not locked by the ALTER TABLE of the previous one while rows change. */
export class FillInRecordedRequests1763683440000 implements MigrationInterface {
  readonly transaction = false;

  async up(queryRunner: QueryRunner): Promise<void> {
    await backfill(queryRunner, {
      table: 'pets.idempotency_keys',
      key: ['client_id', 'key'],
      set: "request = jsonb_build_object('name', name, 'categoryId', category_id, 'status', status)",
      where: 'request IS NULL',
    });
    await queryRunner.query('ALTER TABLE pets.idempotency_keys VALIDATE CONSTRAINT idempotency_keys_request_check');
  }

  /** Nothing to revert: the columns that `request` was filled from still exist. */
  async down(): Promise<void> {}
}
