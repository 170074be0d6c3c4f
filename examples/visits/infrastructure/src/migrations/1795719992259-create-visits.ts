import type { MigrationInterface, QueryRunner } from 'typeorm';

export class CreateVisits1795719992259 implements MigrationInterface {
  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query('CREATE SCHEMA IF NOT EXISTS visits');
    await queryRunner.query(`
      CREATE TABLE visits.visits (
        id bigint GENERATED ALWAYS AS IDENTITY CONSTRAINT visits_pkey PRIMARY KEY,
        name text NOT NULL CONSTRAINT visits_name_check CHECK (char_length(name) BETWEEN 1 AND 255)
      )`);
    // client_id has no foreign key, because clients belong to the context access. "C" compares bytes and needs no locale.
    await queryRunner.query(`
      CREATE TABLE visits.idempotency_keys (
        client_id bigint NOT NULL,
        key text COLLATE "C" NOT NULL CONSTRAINT idempotency_keys_key_check CHECK (key ~ '^[ -~]{1,255}$'),
        visit_id bigint NOT NULL,
        request jsonb NOT NULL,
        created_at timestamptz NOT NULL DEFAULT now(),
        CONSTRAINT idempotency_keys_pkey PRIMARY KEY (client_id, key)
      )`);
    await queryRunner.query('CREATE INDEX idempotency_keys_created_at_idx ON visits.idempotency_keys (created_at)');
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query('DROP TABLE visits.idempotency_keys');
    await queryRunner.query('DROP TABLE visits.visits');
    await queryRunner.query('DROP SCHEMA visits');
  }
}
