import { withoutLockTimeout } from '@animal-store/database';
import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Serves each page of one status (ADR 7). */
export class IndexPetsByStatus1763683260000 implements MigrationInterface {
  /** CREATE INDEX CONCURRENTLY refuses to run inside a transaction. */
  transaction = false;

  async up(queryRunner: QueryRunner): Promise<void> {
    await withoutLockTimeout(queryRunner, async () => {
      // An earlier attempt that was cut off leaves an invalid index behind.
      await queryRunner.query('DROP INDEX CONCURRENTLY IF EXISTS pets.pets_status_id_idx');
      await queryRunner.query('CREATE INDEX CONCURRENTLY pets_status_id_idx ON pets.pets (status, id)');
    });
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query('DROP INDEX CONCURRENTLY IF EXISTS pets.pets_status_id_idx');
  }
}
