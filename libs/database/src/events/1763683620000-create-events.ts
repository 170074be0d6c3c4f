import type { QueryRunner } from 'typeorm';
import { ForwardMigration } from '../migrations/migrations.js';

export class CreateEvents1763683620000 extends ForwardMigration {
  override async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query('CREATE SCHEMA IF NOT EXISTS events');
    await queryRunner.query(`
      CREATE TABLE events.subscriptions (
        name text COLLATE "C" PRIMARY KEY,
        types text[] COLLATE "C" NOT NULL
      )`);
    // The space that is left in the pages lets an attempt update its row without updating the indexes.
    await queryRunner.query(`
      CREATE TABLE events.deliveries (
        position bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
        subscription text COLLATE "C" NOT NULL,
        aggregate_type text COLLATE "C" NOT NULL,
        aggregate_id text COLLATE "C" NOT NULL,
        type text COLLATE "C" NOT NULL,
        payload jsonb NOT NULL,
        occurred_at timestamptz NOT NULL DEFAULT now(),
        attempts integer NOT NULL DEFAULT 0,
        next_attempt_at timestamptz NOT NULL DEFAULT now(),
        parked_at timestamptz,
        error text
      ) WITH (fillfactor = 80)`);
    await queryRunner.query(
      'CREATE INDEX deliveries_aggregate_idx ON events.deliveries (subscription, aggregate_type, aggregate_id, position)',
    );
    await queryRunner.query('CREATE INDEX deliveries_pending_idx ON events.deliveries (subscription, position) WHERE parked_at IS NULL');
    await queryRunner.query('CREATE INDEX deliveries_parked_idx ON events.deliveries (subscription, position) WHERE parked_at IS NOT NULL');
  }
}
