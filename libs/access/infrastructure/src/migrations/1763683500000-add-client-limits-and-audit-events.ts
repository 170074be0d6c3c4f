import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Adds nullable columns and a table. Processes of earlier releases keep working, but do not reject the keys of disabled clients. */
export class AddClientLimitsAndAuditEvents1763683500000 implements MigrationInterface {
  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`
      ALTER TABLE access.clients
        ADD COLUMN rate_limit integer CONSTRAINT clients_rate_limit_check CHECK (rate_limit BETWEEN 0 AND 1000000000),
        ADD COLUMN disabled_at timestamptz(3)`);
    // No foreign keys, because an event must not change if its client or key changes or is deleted. json keeps the order of members.
    await queryRunner.query(`
      CREATE TABLE access.audit_events (
        id bigint GENERATED ALWAYS AS IDENTITY CONSTRAINT audit_events_pkey PRIMARY KEY,
        occurred_at timestamptz NOT NULL DEFAULT clock_timestamp(),
        database_role text NOT NULL DEFAULT current_user,
        operator text NOT NULL CONSTRAINT audit_events_operator_check CHECK (char_length(operator) BETWEEN 1 AND 100),
        action text COLLATE "C" NOT NULL CONSTRAINT audit_events_action_check
          CHECK (action IN ('create', 'rotate', 'revoke', 'disable', 'enable', 'set-rate-limit')),
        client_id bigint NOT NULL,
        client_name text NOT NULL,
        key_id bigint,
        key_prefix text,
        details json NOT NULL
      )`);
    await queryRunner.query('CREATE INDEX audit_events_occurred_at_id_idx ON access.audit_events (occurred_at, id)');
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query('DROP TABLE access.audit_events');
    await queryRunner.query('ALTER TABLE access.clients DROP COLUMN disabled_at, DROP COLUMN rate_limit');
  }
}
