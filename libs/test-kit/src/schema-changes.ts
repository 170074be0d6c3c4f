import type { DataSource, MigrationInterface, QueryRunner } from 'typeorm';

export interface ColumnShape {
  /** Schema, table and column, such as `pets.pets.name`. */
  readonly name: string;
  readonly table: string;
  readonly type: string;
  readonly isRequired: boolean;
  /** Whether an INSERT may omit the column even if it is NOT NULL. */
  readonly hasDefault: boolean;
}

/** Returns the columns of every table of the schema. */
export function readColumns(dataSource: DataSource, schema: string): Promise<ColumnShape[]> {
  return dataSource.query<ColumnShape[]>(
    `SELECT format('%I.%I.%I', nspname, relname, attname) AS name, format('%I.%I', nspname, relname) AS "table",
       format_type(atttypid, atttypmod) AS type, attnotnull AS "isRequired", atthasdef OR attidentity <> '' AS "hasDefault"
     FROM pg_attribute JOIN pg_class ON pg_class.oid = attrelid JOIN pg_namespace ON pg_namespace.oid = relnamespace
     WHERE nspname = $1 AND relkind IN ('r', 'p', 'v') AND attnum > 0 AND NOT attisdropped ORDER BY 1`,
    [schema],
  );
}

/** Returns the changes that would break the previous release. Additions are allowed, and drops of the columns in `droppedColumns`. */
export function breakingSchemaChanges(
  before: readonly ColumnShape[],
  after: readonly ColumnShape[],
  droppedColumns: readonly string[] = [],
): string[] {
  const tables = new Set(before.map(({ table }) => table));
  const old = new Map(before.map((column) => [column.name, column]));
  const names = new Set(after.map(({ name }) => name));
  return [
    ...before.filter(({ name }) => !names.has(name) && !droppedColumns.includes(name)).map(({ name }) => `${name} is dropped or renamed`),
    ...after.flatMap(({ name, table, type, isRequired, hasDefault }) => {
      const previous = old.get(name);
      if (!previous) return tables.has(table) && isRequired && !hasDefault ? [`${name} is new and NOT NULL without a default`] : [];
      return [
        ...(previous.type === type ? [] : [`${name} has the type ${type} instead of ${previous.type}`]),
        ...(isRequired && !previous.isRequired ? [`${name} has become NOT NULL`] : []),
        ...(previous.hasDefault && !hasDefault ? [`${name} has lost its default`] : []),
      ];
    }),
  ];
}

/** Returns the UPDATE and DELETE statements without a range, which lock all their rows until they end, and start again after a failure. */
export async function unlimitedChanges(migration: MigrationInterface): Promise<string[]> {
  const statements: string[] = [];
  const recorder = { query: (text: string) => Promise.resolve((statements.push(text), [])) };
  await migration.up(recorder as unknown as QueryRunner);
  return statements.filter((text) => /^\s*(?:WITH\b[^]*\b)?(?:UPDATE|DELETE\s+FROM)\s/i.test(text) && !/\bBETWEEN\b/i.test(text));
}
