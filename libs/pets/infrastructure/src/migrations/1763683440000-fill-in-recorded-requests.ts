import type { MigrationInterface, QueryRunner } from 'typeorm';

/** A separate migration, so that the table is not locked by the ALTER TABLE of the previous one during the UPDATE. */
export class FillInRecordedRequests1763683440000 implements MigrationInterface {
  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`
      UPDATE pets.idempotency_keys SET request = jsonb_build_object('name', name, 'categoryId', category_id, 'status', status)
      WHERE request IS NULL`);
    await queryRunner.query('ALTER TABLE pets.idempotency_keys VALIDATE CONSTRAINT idempotency_keys_request_check');
  }

  /** Nothing to revert: the columns that `request` was filled from still exist. */
  async down(): Promise<void> {}
}
