import { escapeIdentifier, escapeLiteral } from 'pg';
import { MIGRATIONS_TABLE } from '../database.js';
import type { Persistence, Privileges } from '../persistence.js';

export type RolePurpose = keyof Privileges;

/**
 * Returns a transaction that grants a role the privileges of its purpose, and revokes all others in the schemas of all contexts. Run it again
 * after a migration. It fails for owners, superusers, members of these, roles of PostgreSQL, and names that are not a role, such as PUBLIC.
 */
export function grantStatements(persistence: readonly Persistence[], purpose: RolePurpose, role: string): string[] {
  const to = escapeIdentifier(role);
  const general = purpose === 'service' ? [`GRANT USAGE ON SCHEMA public TO ${to}`, `GRANT SELECT ON ${MIGRATIONS_TABLE} TO ${to}`] : [];
  const ofContexts = persistence.flatMap(({ schema, privileges = allRows(schema) }) => {
    const name = escapeIdentifier(schema);
    const granted = privileges[purpose] ?? [];
    return [
      ...['TABLES', 'SEQUENCES', 'ROUTINES'].map((kind) => `REVOKE ALL ON ALL ${kind} IN SCHEMA ${name} FROM ${to}`),
      `REVOKE ALL ON SCHEMA ${name} FROM ${to}`,
      ...(granted.length > 0 ? [`GRANT USAGE ON SCHEMA ${name} TO ${to}`] : []),
      ...granted.map((privilege) => `GRANT ${privilege} TO ${to}`),
    ];
  });
  const checks = [`SET LOCAL animal_store.role = ${escapeLiteral(role)}`, rejectOwners(persistence.map(({ schema }) => schema))];
  return [
    'BEGIN',
    // So that type names refer to PostgreSQL's types.
    "SET LOCAL search_path = ''",
    // Two transactions cannot grant privileges on one table at once. The key is arbitrary but must be unique.
    'SELECT pg_advisory_xact_lock(7302947561038215)',
    ...checks,
    `REVOKE ALL ON ${MIGRATIONS_TABLE} FROM ${to}`,
    ...general,
    ...ofContexts,
    'COMMIT',
  ];
}

/** Returns a block that fails if the statements would revoke the rights of an owner, or would not limit the rights of the role. */
function rejectOwners(schemas: readonly string[]): string {
  return `DO $$
DECLARE
  target pg_roles;
BEGIN
  SELECT * INTO target FROM pg_roles WHERE rolname = current_setting('animal_store.role');
  IF NOT FOUND THEN
    RAISE undefined_object USING MESSAGE = format('role "%s" does not exist', current_setting('animal_store.role'));
  END IF;
  IF target.rolname ~ '^pg_' OR EXISTS (SELECT FROM pg_roles WHERE pg_has_role(target.oid, oid, 'MEMBER') AND (rolsuper OR oid IN (
      SELECT datdba FROM pg_database WHERE datname = current_database()
      UNION SELECT relowner FROM pg_class WHERE oid = to_regclass('${MIGRATIONS_TABLE}')
      UNION SELECT unnest(ARRAY[nspowner, relowner]) FROM pg_namespace LEFT JOIN pg_class ON relnamespace = pg_namespace.oid
        WHERE nspname IN (${schemas.map(escapeLiteral).join(', ')}) UNION SELECT oid FROM pg_roles WHERE rolname ~ '^pg_.*_(all_data|server_.*)$'))) THEN
    RAISE 'the role % is, or is a member of, a superuser, an owner of the database or its tables, or a role of PostgreSQL: use another role', target.rolname;
  END IF;
END $$`;
}

function allRows(schema: string): Privileges {
  const all = escapeIdentifier(schema);
  return { service: [`SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA ${all}`, `USAGE ON ALL SEQUENCES IN SCHEMA ${all}`] };
}
