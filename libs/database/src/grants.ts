import { MIGRATIONS_TABLE } from './data-source.js';
import type { Persistence, Privileges } from './persistence.js';
import { quoted } from './table.js';

/** Types are PostgreSQL's own, whatever path the owner's session has. */
const NO_SEARCH_PATH = "SET LOCAL search_path = ''";

export type RolePurpose = keyof Privileges;

/**
 * Returns the statements that give a role exactly what its purpose requires. Repeating them after a migration covers new tables. They are
 * one transaction, so a running service loses nothing meanwhile.
 */
export function grantStatements(persistence: readonly Persistence[], purpose: RolePurpose, role: string): string[] {
  const to = quoted(role);
  const general = purpose === 'service' ? [`GRANT USAGE ON SCHEMA public TO ${to}`, `GRANT SELECT ON ${MIGRATIONS_TABLE} TO ${to}`] : [];
  const ofContexts = persistence.flatMap(({ schema, privileges = allRows(schema) }) => {
    const granted = privileges[purpose] ?? [];
    if (granted.length === 0) return [];
    return [
      `REVOKE ALL ON ALL TABLES IN SCHEMA ${quoted(schema)} FROM ${to}`,
      `REVOKE ALL ON ALL SEQUENCES IN SCHEMA ${quoted(schema)} FROM ${to}`,
      `GRANT USAGE ON SCHEMA ${quoted(schema)} TO ${to}`,
      ...granted.map((privilege) => `GRANT ${privilege} TO ${to}`),
    ];
  });
  return ['BEGIN', NO_SEARCH_PATH, ...general, ...ofContexts, 'COMMIT'];
}

function allRows(schema: string): Privileges {
  const all = quoted(schema);
  return { service: [`SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA ${all}`, `USAGE ON ALL SEQUENCES IN SCHEMA ${all}`] };
}
