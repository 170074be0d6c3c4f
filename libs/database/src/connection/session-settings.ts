import { type Client, escapeIdentifier } from 'pg';

/** What reading and writing depend on, whatever the server sets. Without a schema, only objects of `pg_catalog` are found. */
const SETTINGS: Readonly<Record<string, string>> = {
  DateStyle: 'ISO, MDY',
  IntervalStyle: 'postgres',
  TimeZone: 'UTC',
  array_nulls: 'on',
  bytea_output: 'hex',
  default_transaction_isolation: 'read committed',
  exit_on_error: 'off',
  extra_float_digits: '1',
  idle_in_transaction_session_timeout: '0',
  idle_session_timeout: '0',
  lock_timeout: '0',
  search_path: 'pg_catalog',
  standard_conforming_strings: 'on',
};

/** Few roles may set these, so they are only checked. */
const CHECKED: Readonly<Record<string, string>> = { server_encoding: 'UTF8', session_replication_role: 'origin' };

export interface SessionOptions {
  /** The server's statement timeout in ms, 0 for none. By default, that of the role applies. */
  readonly statementTimeoutMs?: number | undefined;
  /** Whether the session may be one of a standby. */
  readonly isReplica?: boolean;
}

export function startupSettings({ statementTimeoutMs }: SessionOptions): Record<string, string> {
  return { ...SETTINGS, ...(statementTimeoutMs !== undefined && { statement_timeout: String(statementTimeoutMs) }) };
}

/**
 * Checks that a new session has the settings, which a pooler may have left out. Of `synchronous_commit`, only `off` is changed, and not in a
 * pooler's session: other values are the operator's choice. @throws Error with the statements to run
 * @param processId as reported at the login: a pooler reports its own
 */
export async function checkSession(client: Client, processId: number | null, options: SessionOptions): Promise<void> {
  const required: Readonly<Record<string, string>> = { ...startupSettings(options), ...CHECKED };
  const names = [...Object.keys(required), 'synchronous_commit'].map((name) => `'${name}'`);
  const results = await client.query<{ role: string; is_standby: boolean; settings: Readonly<Record<string, string>> }>(`
    SELECT pg_catalog.set_config('synchronous_commit', 'local', false) WHERE pg_catalog.current_setting('synchronous_commit') = 'off'
      AND pg_catalog.pg_backend_pid() = ${String(processId ?? 0)};
    SELECT session_user AS role, pg_catalog.pg_is_in_recovery() AS is_standby,
      (SELECT pg_catalog.json_object_agg(name, setting) FROM pg_catalog.pg_settings WHERE name IN (${names.join(', ')})) AS settings
  `);
  // `pg` returns an array for several statements.
  const { role = '', is_standby: isStandby, settings = {} } = [results].flat().at(-1)?.rows[0] ?? {};
  if (isStandby && !options.isReplica) throw new Error('the server is a standby, which is read-only');
  const { server_encoding: encoding } = settings;
  if (encoding !== 'UTF8') throw new Error(`the database has the encoding ${String(encoding)}, and must have UTF8`);
  const wrong = Object.entries(required).filter(([name, value]) => settings[name] !== value);
  if (settings['synchronous_commit'] === 'off') wrong.push(['synchronous_commit', 'on']);
  if (wrong.length === 0) return;
  const found = wrong.map(([name]) => `${name} = '${String(settings[name])}'`).join(', ');
  const statements = wrong.map(([name, value]) => `ALTER ROLE ${escapeIdentifier(role)} SET ${name} = '${value}';`).join(' ');
  throw new Error(`the session has ${found}: run ${statements} and restart the pooler`);
}

/** Returns what the server sets that may lose commits; undefined if nothing. */
export async function durabilityRisk(client: Client): Promise<string | undefined> {
  const { rows } = await client.query<{ name: string }>(
    `SELECT name FROM pg_catalog.pg_settings WHERE name IN ('fsync', 'full_page_writes') AND setting = 'off' ORDER BY name`,
  );
  if (rows.length === 0) return undefined;
  const settings = rows.map(({ name }) => `${name} = off`).join(', ');
  return `the database has ${settings}: a crash of its machine may lose or damage stored data`;
}
