import { ForwardMigration } from '@animal-store/database';
import type { QueryRunner } from 'typeorm';

export class CreateVisits1795719992259 extends ForwardMigration {
  override async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query('CREATE SCHEMA IF NOT EXISTS visits');
    // pet_id has no foreign key, because animals belong to the context pets. A time with an interval is only immutable without a zone.
    await queryRunner.query(`
      CREATE TABLE visits.visits (
        id bigint GENERATED ALWAYS AS IDENTITY CONSTRAINT visits_pkey PRIMARY KEY,
        pet_id bigint NOT NULL,
        starts_at timestamptz(3) NOT NULL,
        duration_minutes smallint NOT NULL CONSTRAINT visits_duration_minutes_check CHECK (duration_minutes BETWEEN 5 AND 480),
        status text COLLATE "C" NOT NULL CONSTRAINT visits_status_check CHECK (status IN ('booked', 'checked_in', 'cancelled')),
        reason text NOT NULL CONSTRAINT visits_reason_check CHECK (char_length(reason) BETWEEN 1 AND 200),
        notes text CONSTRAINT visits_notes_check CHECK (char_length(notes) BETWEEN 1 AND 2000),
        CONSTRAINT visits_no_overlap EXCLUDE USING gist (
          numrange(pet_id, pet_id, '[]') WITH &&,
          tsrange(starts_at AT TIME ZONE 'UTC', starts_at AT TIME ZONE 'UTC' + make_interval(mins => duration_minutes)) WITH &&
        ) WHERE (status <> 'cancelled')
      )`);
    await queryRunner.query('CREATE INDEX visits_starts_at_id_idx ON visits.visits (starts_at, id)');
    await queryRunner.query('CREATE INDEX visits_pet_id_starts_at_id_idx ON visits.visits (pet_id, starts_at, id)');
    await queryRunner.query('CREATE INDEX visits_status_starts_at_id_idx ON visits.visits (status, starts_at, id)');
    await queryRunner.query('CREATE INDEX visits_pet_id_status_starts_at_id_idx ON visits.visits (pet_id, status, starts_at, id)');
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
    await queryRunner.query(`
      CREATE TABLE visits.treatments (
        id bigint GENERATED ALWAYS AS IDENTITY CONSTRAINT treatments_pkey PRIMARY KEY,
        visit_id bigint NOT NULL CONSTRAINT treatments_visit_id_fkey REFERENCES visits.visits ON DELETE CASCADE,
        name text NOT NULL CONSTRAINT treatments_name_check CHECK (char_length(name) BETWEEN 1 AND 200)
      )`);
    await queryRunner.query('CREATE INDEX treatments_visit_id_id_idx ON visits.treatments (visit_id, id)');
    await queryRunner.query(`
      CREATE TABLE visits.treatment_idempotency_keys (
        client_id bigint NOT NULL,
        key text COLLATE "C" NOT NULL CONSTRAINT treatment_idempotency_keys_key_check CHECK (key ~ '^[ -~]{1,255}$'),
        treatment_id bigint NOT NULL,
        request jsonb NOT NULL,
        created_at timestamptz NOT NULL DEFAULT now(),
        CONSTRAINT treatment_idempotency_keys_pkey PRIMARY KEY (client_id, key)
      )`);
    await queryRunner.query('CREATE INDEX treatment_idempotency_keys_created_at_idx ON visits.treatment_idempotency_keys (created_at)');
    await queryRunner.query(`
      CREATE TABLE visits.reports (
        visit_id bigint CONSTRAINT reports_pkey PRIMARY KEY CONSTRAINT reports_visit_id_fkey REFERENCES visits.visits ON DELETE CASCADE,
        pdf bytea NOT NULL CONSTRAINT reports_pdf_check CHECK (octet_length(pdf) BETWEEN 1 AND 5242880)
      )`);
    await queryRunner.query('CREATE TABLE visits.days (day text COLLATE "C" CONSTRAINT days_pkey PRIMARY KEY, visits integer NOT NULL)');
  }
}
