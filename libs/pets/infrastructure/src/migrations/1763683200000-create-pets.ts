import type { MigrationInterface, QueryRunner } from 'typeorm';

export class CreatePets1763683200000 implements MigrationInterface {
  async up(queryRunner: QueryRunner): Promise<void> {
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
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query('DROP TABLE pets.pets');
    await queryRunner.query('DROP SCHEMA pets');
  }
}
