import type { MigrationInterface, QueryRunner } from 'typeorm';

export class CreateIdempotencyKeys1763683320000 implements MigrationInterface {
  async up(queryRunner: QueryRunner): Promise<void> {
    // client_id is a reference by value: clients belong to the context access.
    await queryRunner.query(`
      CREATE TABLE pets.idempotency_keys (
        client_id bigint NOT NULL,
        key text COLLATE "C" NOT NULL CONSTRAINT idempotency_keys_key_check CHECK (key ~ '^[ -~]{1,255}$'),
        pet_id bigint NOT NULL,
        name text NOT NULL,
        category_id bigint NOT NULL,
        status text NOT NULL,
        created_at timestamptz NOT NULL DEFAULT now(),
        CONSTRAINT idempotency_keys_pkey PRIMARY KEY (client_id, key)
      )`);
    await queryRunner.query('CREATE INDEX idempotency_keys_created_at_idx ON pets.idempotency_keys (created_at)');
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query('DROP TABLE pets.idempotency_keys');
  }
}
