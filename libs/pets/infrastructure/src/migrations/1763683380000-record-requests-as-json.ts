import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * Adds a column with the request of a key as JSON. It replaces the columns `name`, `category_id` and `status`, which a later release drops.
 * Until then, a trigger fills the new column or the old ones, so that 1.0.0 and newer releases can use each other's keys.
 */
export class RecordRequestsAsJson1763683380000 implements MigrationInterface {
  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`
      ALTER TABLE pets.idempotency_keys ADD COLUMN request jsonb,
        ADD CONSTRAINT idempotency_keys_request_check CHECK (request IS NOT NULL) NOT VALID`);
    await queryRunner.query(`
      CREATE FUNCTION pets.complete_idempotency_key() RETURNS trigger LANGUAGE plpgsql AS $$
      BEGIN
        IF NEW.request IS NULL THEN
          NEW.request := jsonb_build_object('name', NEW.name, 'categoryId', NEW.category_id, 'status', NEW.status);
        ELSE
          NEW.name := NEW.request ->> 'name';
          NEW.category_id := NEW.request ->> 'categoryId';
          NEW.status := NEW.request ->> 'status';
        END IF;
        RETURN NEW;
      END $$`);
    await queryRunner.query(`
      CREATE TRIGGER complete_idempotency_key BEFORE INSERT ON pets.idempotency_keys
      FOR EACH ROW EXECUTE FUNCTION pets.complete_idempotency_key()`);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query('DROP TRIGGER complete_idempotency_key ON pets.idempotency_keys');
    await queryRunner.query('DROP FUNCTION pets.complete_idempotency_key()');
    await queryRunner.query('ALTER TABLE pets.idempotency_keys DROP COLUMN request');
  }
}
