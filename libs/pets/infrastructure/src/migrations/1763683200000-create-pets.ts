import { ForwardMigration } from '@animal-store/database';
import type { QueryRunner } from 'typeorm';

export class CreatePets1763683200000 extends ForwardMigration {
  override async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query('CREATE SCHEMA IF NOT EXISTS pets');
    // btrim's list is the Unicode property White_Space, as in the domain; "C" orders by bytes and needs no locale.
    await queryRunner.query(`
      CREATE TABLE pets.pets (
        id bigint GENERATED ALWAYS AS IDENTITY CONSTRAINT pets_pkey PRIMARY KEY,
        name text NOT NULL CONSTRAINT pets_name_check CHECK (
          char_length(name) BETWEEN 1 AND 255
          AND btrim(name, U&'\\0009\\000A\\000B\\000C\\000D\\0020\\0085\\00A0\\1680\\2000\\2001\\2002\\2003\\2004\\2005\\2006\\2007\\2008\\2009\\200A\\2028\\2029\\202F\\205F\\3000') <> ''
        ),
        category_id bigint NOT NULL,
        status text COLLATE "C" NOT NULL CONSTRAINT pets_status_check CHECK (status IN ('available', 'pending', 'sold'))
      )`);
    // Serves each page of one status (ADR 7).
    await queryRunner.query('CREATE INDEX pets_status_id_idx ON pets.pets (status, id)');
    // client_id is a reference by value: clients belong to the context access.
    await queryRunner.query(`
      CREATE TABLE pets.idempotency_keys (
        client_id bigint NOT NULL,
        key text COLLATE "C" NOT NULL CONSTRAINT idempotency_keys_key_check CHECK (key ~ '^[ -~]{1,255}$'),
        pet_id bigint NOT NULL,
        request jsonb NOT NULL,
        created_at timestamptz NOT NULL DEFAULT now(),
        CONSTRAINT idempotency_keys_pkey PRIMARY KEY (client_id, key)
      )`);
    await queryRunner.query('CREATE INDEX idempotency_keys_created_at_idx ON pets.idempotency_keys (created_at)');
  }
}
