import type { MigrationInterface, QueryRunner } from 'typeorm';

export class CreateJobRuns1763683560000 implements MigrationInterface {
  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query('CREATE SCHEMA IF NOT EXISTS jobs');
    await queryRunner.query(`
      CREATE TABLE jobs.runs (
        name text COLLATE "C" CONSTRAINT runs_pkey PRIMARY KEY,
        created_at timestamptz NOT NULL DEFAULT now(),
        started_at timestamptz NOT NULL,
        succeeded_at timestamptz
      )`);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query('DROP TABLE jobs.runs');
    await queryRunner.query('DROP SCHEMA jobs');
  }
}
