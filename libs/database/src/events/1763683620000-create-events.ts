import type { MigrationInterface, QueryRunner } from 'typeorm';

export class CreateEvents1763683620000 implements MigrationInterface {
  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query('CREATE SCHEMA IF NOT EXISTS events');
    await queryRunner.query('CREATE SEQUENCE events.position_seq');
    // The condition assigns the transaction id before the position is drawn. EventRunner relies on this order.
    await queryRunner.query(`
      CREATE TABLE events.events (
        position bigint PRIMARY KEY DEFAULT nextval(CASE WHEN pg_current_xact_id() IS NOT NULL THEN 'events.position_seq'::regclass END),
        aggregatetype text COLLATE "C" NOT NULL,
        aggregateid text COLLATE "C" NOT NULL,
        type text COLLATE "C" NOT NULL,
        payload jsonb NOT NULL,
        traceparent text,
        occurred_at timestamptz NOT NULL DEFAULT now()
      )`);
    await queryRunner.query(`
      CREATE TABLE events.subscriptions (
        name text COLLATE "C" PRIMARY KEY,
        types text[] COLLATE "C" NOT NULL,
        position bigint NOT NULL,
        attempts integer NOT NULL DEFAULT 0,
        next_attempt_at timestamptz NOT NULL DEFAULT now(),
        suspect_until bigint NOT NULL DEFAULT 0
      )`);
    await queryRunner.query(`
      CREATE TABLE events.parked_events (
        subscription text COLLATE "C" REFERENCES events.subscriptions ON DELETE CASCADE,
        aggregatetype text COLLATE "C",
        aggregateid text COLLATE "C",
        position bigint,
        error text NOT NULL,
        retry boolean NOT NULL DEFAULT false,
        awaits text COLLATE "C",
        attempts integer NOT NULL DEFAULT 0,
        next_attempt_at timestamptz NOT NULL DEFAULT now(),
        parked_at timestamptz NOT NULL DEFAULT now(),
        PRIMARY KEY (subscription, aggregatetype, aggregateid, position)
      )`);
    await queryRunner.query('CREATE INDEX parked_events_retry_idx ON events.parked_events (subscription, position) WHERE retry');
    await queryRunner.query(
      'CREATE INDEX parked_events_awaits_idx ON events.parked_events (subscription, awaits) WHERE awaits IS NOT NULL',
    );
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query('DROP SCHEMA events CASCADE');
  }
}
