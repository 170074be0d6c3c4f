import { describe, expect, it } from '@jest/globals';
import type { MigrationInterface, QueryRunner } from 'typeorm';
import { describeMigrations } from './describe-migrations.js';
import { useDatabase } from './use-database.js';

class CreateThings1763683200000 implements MigrationInterface {
  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query('CREATE SCHEMA things');
    await queryRunner.query('CREATE TABLE things.things (id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, name text)');
    await queryRunner.query('CREATE TABLE things.parts (thing_id bigint REFERENCES things.things, note text)');
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query('DROP SCHEMA things CASCADE');
  }
}

class DropNotes1763683200001 implements MigrationInterface {
  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query('ALTER TABLE things.parts DROP COLUMN note');
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query('ALTER TABLE things.parts ADD note text');
  }
}

const persistence = { schema: 'things', entities: [], migrations: [CreateThings1763683200000, DropNotes1763683200001] };

describeMigrations(persistence, { droppedColumns: ['things.parts.note'] });

describe('useDatabase', () => {
  const database = useDatabase(persistence);

  it('creates the tables of the context and empties them', async () => {
    const add = () => database.dataSource.query<{ id: bigint }[]>("INSERT INTO things.things (name) VALUES ('Rex') RETURNING id");
    const [first] = await add();
    await database.dataSource.query('INSERT INTO things.parts VALUES ($1)', [first?.id]);
    await database.empty();
    expect(await database.dataSource.query('SELECT 1 FROM things.things')).toEqual([]);
    expect(await add()).toEqual([{ id: 1n }]);
  });
});
