import type { MigrationInterface, QueryRunner } from 'typeorm';

/** By itself, so that no lock of a changed table is held meanwhile. */
export class FillInRecordedRequests1763683440000 implements MigrationInterface {
  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`
      UPDATE pets.idempotency_keys SET request = jsonb_build_object('name', name, 'categoryId', category_id, 'status', status)
      WHERE request IS NULL`);
    await queryRunner.query('ALTER TABLE pets.idempotency_keys VALIDATE CONSTRAINT idempotency_keys_request_check');
  }

  /** The columns that it was filled from are still there. */
  async down(): Promise<void> {}
}
