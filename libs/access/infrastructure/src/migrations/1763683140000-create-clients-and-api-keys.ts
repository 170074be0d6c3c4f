import { ForwardMigration } from '@animal-store/database';
import type { QueryRunner } from 'typeorm';

export class CreateClientsAndApiKeys1763683140000 extends ForwardMigration {
  override async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query('CREATE SCHEMA IF NOT EXISTS access');
    // "C" compares bytes and needs no locale. The characters are those that the domain calls not printable.
    await queryRunner.query(String.raw`
      CREATE TABLE access.clients (
        id bigint GENERATED ALWAYS AS IDENTITY CONSTRAINT clients_pkey PRIMARY KEY,
        name text COLLATE "C" NOT NULL CONSTRAINT clients_name_key UNIQUE CONSTRAINT clients_name_check CHECK (
          char_length(name) BETWEEN 1 AND 100
          AND name !~ '^ | $|  '
          AND name !~ '[\u0001-\u001f\u007f-\u00a0\u00ad\u034f\u061c\u115f\u1160\u1680\u17b4\u17b5\u180b-\u180f\u2000-\u200f\u2028-\u202f\u205f-\u206f\u2800\u3000\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffb\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff]'
          AND name IS NFC NORMALIZED
        ),
        rate_limit integer CONSTRAINT clients_rate_limit_check CHECK (rate_limit BETWEEN 0 AND 1000000000),
        disabled_at timestamptz(3)
      )`);
    await queryRunner.query(`
      CREATE FUNCTION access.are_scopes(scopes text[]) RETURNS boolean LANGUAGE sql IMMUTABLE
      RETURN (
        SELECT count(*) > 0 AND count(*) = count(DISTINCT scope) AND bool_and(char_length(scope) <= 100 AND scope ~ '^[a-z][a-z-]*:[a-z][a-z-]*$')
        FROM unnest(scopes) AS scope
      )`);
    // A key may end when it is made: a rotation without overlap.
    await queryRunner.query(`
      CREATE TABLE access.api_keys (
        id bigint GENERATED ALWAYS AS IDENTITY CONSTRAINT api_keys_pkey PRIMARY KEY,
        client_id bigint NOT NULL CONSTRAINT api_keys_client_id_fkey REFERENCES access.clients,
        hash bytea NOT NULL CONSTRAINT api_keys_hash_key UNIQUE CONSTRAINT api_keys_hash_check CHECK (octet_length(hash) = 32),
        prefix text COLLATE "C" NOT NULL
          CONSTRAINT api_keys_prefix_check CHECK (prefix ~ '^ast_[a-z][a-z0-9]{0,19}_[0-9A-Za-z]{6}$'),
        scopes text[] COLLATE "C" NOT NULL CONSTRAINT api_keys_scopes_check CHECK (access.are_scopes(scopes)),
        created_at timestamptz(3) NOT NULL,
        expires_at timestamptz(3) CONSTRAINT api_keys_expires_at_check CHECK (expires_at >= created_at),
        revoked_at timestamptz(3) CONSTRAINT api_keys_revoked_at_check CHECK (revoked_at >= created_at),
        last_used_at timestamptz(3)
      )`);
    await queryRunner.query('CREATE INDEX api_keys_client_id_idx ON access.api_keys (client_id)');
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
}
