import type { DataSource } from 'typeorm';

/** A column. Names are qualified, such as `pets.pets.name`. */
interface Column {
  readonly name: string;
  readonly table: string;
  readonly type: string;
  readonly isRequired: boolean;
  /** What an INSERT that omits the column stores: an expression, or `GENERATED`. */
  readonly default: string | null;
  /** Changes if PostgreSQL rewrites the table. */
  readonly file: string | null;
}

/** A CHECK, a foreign key or an index. */
interface Rule {
  readonly name: string;
  readonly table: string;
  readonly isIndex: boolean;
  /** Whether writes can violate it. */
  readonly isConstraint: boolean;
  readonly isValid: boolean;
  /** Null stands for an expression of an index. */
  readonly columns: readonly (string | null)[];
  readonly definition: string;
  /** Of a CHECK. */
  readonly expression: string | null;
}

export interface Schema {
  readonly columns: readonly Column[];
  readonly rules: readonly Rule[];
}

const TABLE = `format('%I.%I', nspname, relname)`;
const OF_SCHEMA = 'JOIN pg_namespace ON pg_namespace.oid = relnamespace WHERE nspname = $1';
const columnsAt = (numbers: string) => `ARRAY(SELECT ${TABLE} || '.' || quote_ident(attname)
  FROM unnest(${numbers}) AS number LEFT JOIN pg_attribute ON attrelid = pg_class.oid AND attnum = number)`;

/** Parameter: the schema. */
const READ_COLUMNS = `
  SELECT ${TABLE} || '.' || quote_ident(attname) AS name, ${TABLE} AS "table", format_type(atttypid, atttypmod)
      || (SELECT coalesce(' of ' || string_agg(enumlabel, ', ' ORDER BY enumsortorder), '') FROM pg_enum WHERE enumtypid = atttypid) AS type,
    attnotnull AS "isRequired", pg_relation_filenode(pg_class.oid)::text AS file,
    CASE WHEN attidentity <> '' OR attgenerated <> '' THEN 'GENERATED' ELSE pg_get_expr(adbin, adrelid) END AS "default"
  FROM pg_attribute JOIN pg_class ON pg_class.oid = attrelid LEFT JOIN pg_attrdef ON adrelid = attrelid AND adnum = attnum
  ${OF_SCHEMA} AND relkind IN ('r', 'p', 'v') AND attnum > 0 AND NOT attisdropped ORDER BY 1`;

/** Parameter: the schema. An index has the name of its constraint. */
const READ_RULES = `
  SELECT ${TABLE} || '.' || quote_ident(conname) AS name, ${TABLE} AS "table", false AS "isIndex", true AS "isConstraint",
    convalidated AS "isValid", ${columnsAt('conkey')} AS columns, pg_get_expr(conbin, conrelid) AS expression,
    regexp_replace(pg_get_constraintdef(pg_constraint.oid), ' NOT VALID$', '') AS definition
  FROM pg_constraint JOIN pg_class ON pg_class.oid = conrelid ${OF_SCHEMA} AND contype IN ('c', 'f')
  UNION ALL
  SELECT ${TABLE} || '.' || (SELECT quote_ident(index.relname) FROM pg_class AS index WHERE index.oid = indexrelid), ${TABLE}, true, indisunique OR indisexclusion,
    true, ${columnsAt('indkey')}, NULL, pg_get_indexdef(indexrelid)
  FROM pg_index JOIN pg_class ON pg_class.oid = indrelid ${OF_SCHEMA} ORDER BY name`;

/** Returns the columns and rules of every table of the schema. */
export async function readSchema(dataSource: DataSource, schema: string): Promise<Schema> {
  return {
    columns: await dataSource.query<Column[]>(READ_COLUMNS, [schema]),
    rules: await dataSource.query<Rule[]>(READ_RULES, [schema]),
  };
}

export interface Migrated {
  readonly before: Schema;
  readonly after: Schema;
  readonly statements: readonly string[];
  readonly isTransaction: boolean;
}

/** Returns the changes of existing tables that the previous release or old rows can break, or that let its requests wait. */
export async function breakingChanges(dataSource: DataSource, { before, after, statements, isTransaction }: Migrated): Promise<string[]> {
  const old = new Map(before.columns.map((column) => [column.name, column]));
  const current = new Map(after.columns.map((column) => [column.name, column]));
  const files = new Map(before.columns.map(({ table, file }) => [table, file]));
  const changes = new Set<string>();
  const validates = !isTransaction && statements.some((text) => /\bVALIDATE\s+CONSTRAINT\b/i.test(text));

  for (const { name } of before.columns) if (!current.has(name)) changes.add(`${name} is dropped or renamed`);
  for (const column of after.columns.filter(({ table }) => files.has(table))) {
    const { name, table, type, isRequired } = column;
    const previous = old.get(name);
    if (files.get(table) !== column.file) changes.add(`${table} is rewritten, so requests wait`);
    if (!previous) {
      if (isRequired && column.default === null) changes.add(`${name} is new and NOT NULL without a default`);
      continue;
    }
    if (type !== previous.type && !isWider(type, previous.type)) changes.add(`${name} has the type ${type} instead of ${previous.type}`);
    if (previous.default !== null && column.default !== previous.default)
      changes.add(`${name} has ${column.default === null ? 'no default' : `the default ${column.default}`} instead of ${previous.default}`);
    if (!isRequired || previous.isRequired) continue;
    changes.add(`${name} has become NOT NULL`);
    const isChecked = before.rules.some(
      ({ columns, expression, isValid }) => isValid && columns[0] === name && /^\(\w+ IS NOT NULL\)$/.test(expression ?? ''),
    );
    if (!isChecked && !validates) changes.add(`${name} has no validated CHECK that it is NOT NULL, so requests wait for SET NOT NULL`);
  }

  const isIn = (rules: readonly Rule[], rule: Rule) =>
    rules.some(({ name, definition }) => name === rule.name && definition === rule.definition);
  for (const rule of before.rules)
    if (rule.isIndex && rule.columns.every((name) => name === null || current.has(name)) && !isIn(after.rules, rule))
      changes.add(`${rule.name} is dropped or changed`);
  for (const rule of after.rules.filter(({ table }) => files.has(table))) {
    if (isIn(before.rules, rule)) continue;
    const { name, table, columns, isIndex, isConstraint, isValid } = rule;
    const added = columns.map((column) => (old.has(column ?? '') ? undefined : current.get(column ?? '')));
    const isOfNewColumns = added.length > 0 && added.every((column) => column !== undefined);
    if (isConstraint && (!isOfNewColumns || (await rejectsDefaults(dataSource, rule, added))))
      changes.add(`${name} is new, and writes of the previous release can violate it`);
    if (
      isIndex &&
      !statements.some((text) => /\bINDEX\s+CONCURRENTLY\b|\bUSING\s+INDEX\b/i.test(text) && text.includes(name.slice(table.length + 1)))
    )
      changes.add(`${name} is not created CONCURRENTLY, so writes wait`);
    if (!isIndex && isValid && !isOfNewColumns && !validates) changes.add(`${name} is not added as NOT VALID, so requests wait`);
  }
  return [...changes];
}

/** Whether a text of the previous type fits, and PostgreSQL does not read the rows. */
function isWider(type: string, previous: string): boolean {
  const [values, previousValues] = [type, previous].map((text) => new Set(text.split(/ of |, /)));
  if (previousValues && previousValues.size > 1) return values?.isSupersetOf(previousValues) ?? false;
  const [length, previousLength] = [type, previous].map((text) => /^character varying\((\d+)\)$/.exec(text)?.[1]);
  if (previousLength === undefined) return false;
  return length === undefined ? /^(?:text|character varying)$/.test(type) : Number(length) > Number(previousLength);
}

/** Whether a row that the previous release inserts, or an old row, violates a rule of new columns. */
async function rejectsDefaults(dataSource: DataSource, { expression }: Rule, columns: readonly Column[]): Promise<boolean> {
  if (expression === null) return columns.some((column) => column.default !== null);
  const values = columns.map(({ name, table, type, default: value }) => {
    const stored = value === null || value === 'GENERATED' ? 'NULL' : value;
    return `CAST(${stored} AS ${type}) AS ${name.slice(table.length + 1)}`;
  });
  const [row] = await dataSource.query<{ violated: boolean }[]>(
    `SELECT (${expression}) IS FALSE AS violated FROM (SELECT ${values.join()}) AS defaults`,
  );
  return row?.violated === true;
}

const CHANGE = /\b(?:UPDATE\s+(?:ONLY\s+)?[\w."]+(?:\s+(?:AS\s+)?\w+)?\s+SET|DELETE\s+FROM|TRUNCATE|MERGE\s+INTO)\b/i;
/** Only that of DO runs in the migration. */
const BODY = /(?<!\bDO\s+)(\$\w*\$)[^]*?\1/gi;

/** Returns the changes of rows without a range, which lock all their rows until they end, and start again after a failure. */
export function unlimitedChanges(statements: readonly string[]): string[] {
  return statements.filter((text) => CHANGE.test(text.replaceAll(BODY, '')) && !/\bBETWEEN\b/i.test(text));
}
