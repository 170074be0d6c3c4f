import type { Client } from 'pg';
import { grantStatements, type RolePurpose } from './grants.js';
import type { Persistence } from '../persistence.js';

const GRANT =
  /^GRANT (.+) ON (?:(SCHEMA|TABLE|SEQUENCE|FUNCTION|ALL TABLES IN SCHEMA|ALL SEQUENCES IN SCHEMA) )?((?:"[^"]*"|[\w$.])+(?:\(.*\))?) TO ""$/;
const PRIVILEGE = /([A-Z]+)(?: \(([^)]+)\))?/g;
const IDENTIFIER = /"((?:[^"]|"")+)"|([\w$]+)/g;

/** A privilege on a schema, or on one or all tables, sequences or functions of a schema. */
interface RequiredPrivilege {
  /** As in a GRANT statement: `INSERT (name) ON pets.pets`. */
  readonly label: string;
  readonly kind: 'schema' | 'table' | 'sequence' | 'function';
  readonly schema: string;
  /** Undefined for all objects of the schema. */
  readonly object: string | undefined;
  readonly privilege: string;
  readonly column: string | undefined;
}

/** Reads only catalogues that every role may read. Objects that do not exist have no row. */
const MISSING = `
  SELECT label FROM jsonb_to_recordset($1::jsonb)
    AS required (label text, kind text, schema text, object text, privilege text, "column" text)
  JOIN pg_namespace ON nspname = schema
  LEFT JOIN pg_class ON relnamespace = pg_namespace.oid AND (object IS NULL OR relname = object)
    AND relkind = ANY (CASE kind WHEN 'table' THEN '{r,p,v,m,f}' WHEN 'sequence' THEN '{S}' ELSE '{}' END::"char"[])
  LEFT JOIN pg_attribute ON attrelid = pg_class.oid AND attname = "column"
  LEFT JOIN pg_proc ON kind = 'function' AND pronamespace = pg_namespace.oid AND proname = object
  WHERE NOT CASE
    WHEN kind = 'schema' THEN has_schema_privilege(pg_namespace.oid, privilege)
    WHEN kind = 'sequence' THEN has_sequence_privilege(pg_class.oid, privilege)
    WHEN kind = 'function' THEN has_function_privilege(pg_proc.oid, privilege)
    WHEN "column" IS NULL THEN has_table_privilege(pg_class.oid, privilege)
    ELSE has_column_privilege(pg_class.oid, attnum, privilege)
  END`;

/**
 * Returns the privileges for the purpose that the role of the connection lacks, in the syntax between GRANT and TO. Ignores objects that
 * do not exist.
 */
export async function missingPrivileges(client: Client, persistence: readonly Persistence[], purpose: RolePurpose): Promise<string[]> {
  const required = requiredPrivileges(persistence, purpose);
  const { rows } = await client.query<{ label: string }>(MISSING, [JSON.stringify(required)]);
  const missing = new Set(rows.map(({ label }) => label));
  return [...new Set(required.map(({ label }) => label))].filter((label) => missing.has(label));
}

function requiredPrivileges(persistence: readonly Persistence[], purpose: RolePurpose): RequiredPrivilege[] {
  const grants = grantStatements(persistence, purpose, '').filter((statement) => statement.startsWith('GRANT '));
  return grants.flatMap(parseGrant);
}

function parseGrant(statement: string): RequiredPrivilege[] {
  const [, privileges, scope, target] = GRANT.exec(statement) ?? [];
  if (privileges === undefined || target === undefined) throw new Error(`Unsupported syntax of privileges: ${statement}`);
  const [schema = '', object] = Array.from(target.matchAll(IDENTIFIER), ([, quoted, plain]) => quoted?.replaceAll('""', '"') ?? plain);
  const on = scope === undefined ? target : `${scope} ${target}`;
  return [...privileges.matchAll(PRIVILEGE)].flatMap(([text, privilege = '', columns]) =>
    (columns?.split(/, ?/) ?? [undefined]).map((column) => ({
      ...{ label: `${text} ON ${on}`, kind: kindOf(scope) },
      ...{ schema, object, privilege, column },
    })),
  );
}

function kindOf(scope: string | undefined): RequiredPrivilege['kind'] {
  if (scope === 'SCHEMA') return 'schema';
  if (scope?.includes('SEQUENCE')) return 'sequence';
  return scope === 'FUNCTION' ? 'function' : 'table';
}
