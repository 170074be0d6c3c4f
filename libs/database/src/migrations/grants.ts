import { MIGRATIONS_TABLE } from '../database.js';
import type { Persistence, Privileges } from '../persistence.js';
import { quoted } from '../statements/table.js';

/** Ensures that type names refer to PostgreSQL's types, whatever the session's `search_path` is. */
const NO_SEARCH_PATH = "SET LOCAL search_path = ''";

export type RolePurpose = keyof Privileges;

/**
 * Returns the statements that grant a role the privileges of its purpose, and revoke all others in the schemas of all contexts. Run them
 * again after a migration to include new tables. They form one transaction, so a running service does not lose privileges in between.
 */
export function grantStatements(persistence: readonly Persistence[], purpose: RolePurpose, role: string): string[] {
  const to = quoted(role);
  const general = purpose === 'service' ? [`GRANT USAGE ON SCHEMA public TO ${to}`, `GRANT SELECT ON ${MIGRATIONS_TABLE} TO ${to}`] : [];
  const ofContexts = persistence.flatMap(({ schema, privileges = allRows(schema) }) => {
    const name = quoted(schema);
    const granted = privileges[purpose] ?? [];
    return [
      ...['TABLES', 'SEQUENCES', 'ROUTINES'].map((kind) => `REVOKE ALL ON ALL ${kind} IN SCHEMA ${name} FROM ${to}`),
      `REVOKE ALL ON SCHEMA ${name} FROM ${to}`,
      ...(granted.length > 0 ? [`GRANT USAGE ON SCHEMA ${name} TO ${to}`] : []),
      ...granted.map((privilege) => `GRANT ${privilege} TO ${to}`),
    ];
  });
  return ['BEGIN', NO_SEARCH_PATH, `REVOKE ALL ON ${MIGRATIONS_TABLE} FROM ${to}`, ...general, ...ofContexts, 'COMMIT'];
}

function allRows(schema: string): Privileges {
  const all = quoted(schema);
  return { service: [`SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA ${all}`, `USAGE ON ALL SEQUENCES IN SCHEMA ${all}`] };
}
