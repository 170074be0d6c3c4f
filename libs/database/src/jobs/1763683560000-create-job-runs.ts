import type { QueryRunner } from 'typeorm';
import { ForwardMigration } from '../migrations/migrations.js';

export class CreateJobRuns1763683560000 extends ForwardMigration {
  override async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query('CREATE SCHEMA IF NOT EXISTS jobs');
    await queryRunner.query(`
      CREATE TABLE jobs.runs (
        name text COLLATE "C" CONSTRAINT runs_pkey PRIMARY KEY,
        created_at timestamptz NOT NULL DEFAULT now(),
        started_at timestamptz NOT NULL,
        succeeded_at timestamptz
      )`);
  }
}
