import type { Client, QueryResult } from 'pg';
import { CANNOT_CONNECT } from './error-table.js';

/**
 * Settings in the start-up message. They replace those of the role, the database and the server, and PgBouncer keeps them for each of its
 * clients. `pg` adds `client_encoding`.
 */
export const STARTUP_SETTINGS = { DateStyle: 'ISO, MDY', TimeZone: 'UTC', standard_conforming_strings: 'on' };

/** Other settings that change the meaning of values and statements: PostgreSQL's defaults. */
const MEANING: Readonly<Record<string, string>> = {
  array_nulls: 'on',
  bytea_output: 'hex',
  default_transaction_deferrable: 'off',
  default_transaction_isolation: 'read committed',
  exit_on_error: 'off',
  extra_float_digits: '1',
  gin_fuzzy_search_limit: '0',
  IntervalStyle: 'postgres',
  quote_all_identifiers: 'off',
  transform_null_equals: 'off',
  xmlbinary: 'base64',
  xmloption: 'content',
};

/** Timeouts in ms, 0 for none. The role's apply behind a pooler, because other programs may use the same session. */
const TIMEOUTS: Readonly<Record<string, string>> = {
  idle_in_transaction_session_timeout: '0',
  idle_session_timeout: '0',
  lock_timeout: '0',
  statement_timeout: '0',
  transaction_timeout: '0',
};

/** The first major version of PostgreSQL with `transaction_timeout`. */
const HAS_TRANSACTION_TIMEOUT = 17;

/** Settings that lose or change data if they are off, with what they are corrected to. */
const REQUIRED = new Map([
  ['array_nulls', 'on'],
  ['synchronous_commit', 'local'],
]);

/** A property of the database makes correct work impossible. */
export class UnsuitableDatabaseError extends Error {
  override readonly name = 'UnsuitableDatabaseError';
  readonly code = CANNOT_CONNECT;

  constructor(
    readonly problem: string,
    readonly remedy: string,
  ) {
    super(`${problem}: ${remedy}`);
  }
}

export interface NewSession {
  /** As reported at the login. A pooler reports its own. */
  readonly processId: number | null;
  /** Such as `18.4`; empty if unknown. */
  readonly serverVersion: string;
  /** 0 for no limit. */
  readonly statementTimeoutMs: number;
}

interface Session {
  readonly database: string;
  readonly encoding: string;
  /** Those of REQUIRED that are off in sessions that a pooler opens; null without one. */
  readonly off: readonly string[] | null;
}

/**
 * Returns statements for one message that prepare a session. Of these settings, those of the role, the database and the server then have no
 * effect. Only objects of `pg_catalog` are found without their schema, so other objects cannot shadow them; pg_dump does the same.
 */
export function prepareSession({ processId, serverVersion, statementTimeoutMs }: NewSession): string {
  const isDirect = `pg_backend_pid() = ${String(processId ?? 0)}`;
  const timeouts = { ...TIMEOUTS, statement_timeout: String(statementTimeoutMs) };
  return [
    // The role's timeouts may be too short for this message, and a standby rejects the isolation level serializable.
    ...(parseInt(serverVersion) >= HAS_TRANSACTION_TIMEOUT ? ['SET LOCAL transaction_timeout = 0'] : []),
    'SET LOCAL statement_timeout = 0',
    'SET TRANSACTION ISOLATION LEVEL READ COMMITTED',
    "SELECT pg_catalog.set_config('search_path', '', false)",
    setAll(timeouts, isDirect),
    setAll(MEANING, 'true'),
    // Without triggers and foreign keys, the rows would be wrong. Few roles may change this.
    `SELECT set_config('session_replication_role', 'origin', false)
     WHERE current_setting('session_replication_role') = 'replica' AND has_parameter_privilege('session_replication_role', 'SET')`,
    // Stronger values are the operator's choice.
    "SELECT set_config('synchronous_commit', 'local', false) WHERE current_setting('synchronous_commit') = 'off'",
    `SELECT current_database() AS database, current_setting('server_encoding') AS encoding, (
       SELECT json_agg(name) FROM pg_settings
       WHERE NOT ${isDirect} AND name IN (${[...REQUIRED.keys()].map((name) => `'${name}'`).join(', ')}) AND reset_val = 'off'
     ) AS off`,
  ].join('; ');
}

function setAll(settings: Readonly<Record<string, string>>, condition: string): string {
  const values = Object.entries(settings).map(([name, value]) => `('${name}', '${value}')`);
  return `SELECT count(set_config(name, value, false)) FROM (VALUES ${values.join(', ')}) AS setting (name, value)
    WHERE ${condition} AND current_setting(name, true) IS NOT NULL`;
}

/**
 * Checks the results of `prepareSession`. Returns statements that correct each transaction that writes, if the session is not ours alone.
 * @throws UnsuitableDatabaseError
 */
export function checkSession(results: QueryResult | readonly QueryResult[]): string | undefined {
  const { database, encoding, off } = [results].flat().at(-1)?.rows[0] as Session;
  if (encoding !== 'UTF8')
    throw new UnsuitableDatabaseError(
      `the database "${database}" has the encoding ${encoding}, and must have UTF8`,
      "create a database with CREATE DATABASE … ENCODING 'UTF8' LOCALE 'C' TEMPLATE template0, and move the data with pg_dump",
    );
  return off?.map((name) => `SET LOCAL ${name} = ${REQUIRED.get(name) ?? 'on'}`).join('; ');
}

export interface RoleSetting {
  readonly name: string;
  readonly value: string;
  readonly required: string;
}

/**
 * Returns the settings of the role, the database and the server that differ from what `prepareSession` sets. Behind a pooler, they apply to
 * sessions that the pooler opens later.
 */
export async function settingsToCorrect(client: Client): Promise<RoleSetting[]> {
  const required = Object.entries({ ...MEANING, search_path: '""', synchronous_commit: 'on' });
  const { rows } = await client.query<RoleSetting>(
    `SELECT name, reset_val AS value, required FROM pg_settings JOIN unnest($1::text[], $2::text[]) AS setting (name, required) USING (name)
     WHERE reset_val <> required AND (name <> 'synchronous_commit' OR reset_val = 'off') ORDER BY name`,
    [required.map(([name]) => name), required.map(([, value]) => value)],
  );
  return rows;
}

export interface DurabilityRisk {
  /** The settings that are off, and what that means. */
  readonly problem: string;
  readonly remedy: string;
}

/** Returns what the server, the database and the role set that may lose commits; undefined if nothing. */
export async function durabilityRisk(client: Client): Promise<DurabilityRisk | undefined> {
  // `reset_val`, because a session has its own `synchronous_commit`.
  const { rows } = await client.query<{ name: string }>(
    `SELECT name FROM pg_catalog.pg_settings WHERE name IN ('fsync', 'full_page_writes', 'synchronous_commit') AND reset_val = 'off' ORDER BY name`,
  );
  if (rows.length === 0) return undefined;
  const settings = rows.map(({ name }) => `${name} = off`).join(', ');
  return rows.some(({ name }) => name !== 'synchronous_commit')
    ? {
        problem: `the database has ${settings}: a crash of its machine may lose or damage stored data`,
        remedy: 'set fsync, full_page_writes and synchronous_commit to on',
      }
    : {
        problem: `the database has ${settings}: the service sets local for its sessions, but other programs may lose what they commit`,
        remedy: 'set synchronous_commit to on',
      };
}
