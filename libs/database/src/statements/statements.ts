import { MAX_PAGE_SIZE } from '@animal-store/kernel';
import { escapeLiteral } from 'pg';
import type { EntityMetadata } from 'typeorm';
import type { IdempotencyKeyEntity } from './idempotency-key.entity.js';
import { type Publication, publishStatement, TRACE_PARENT } from './events/publication.js';
import { PreparedStatement } from './prepared-statement.js';
import { type Column, type Columns, qualifiedName, quoted, type Table } from './table.js';

/**
 * The statements of the hot path. Their parameters are arrays, so that one execution serves many calls. A call that runs alone has its
 * own statements (`one`), because PostgreSQL executes them faster.
 *
 * `(SELECT $1)` around a parameter of a read hides the number of values from the planner. Otherwise the planner would prefer custom
 * plans for a few values and plan each execution again, which takes as long as executing it.
 *
 * `sharded` is for tables that Citus distributes (ADR 19). Citus finds the shard of a row only if the parameter is not hidden.
 */

const names = (columns: readonly Pick<Column, 'name'>[]): string => columns.map(({ name }) => name).join(', ');

const arrays = (columns: readonly Pick<Column, 'type'>[], from: number): string =>
  columns.map(({ type }, index) => `$${String(from + index)}::${type}[]`).join(', ');

const hiddenArrays = (types: readonly string[]): string =>
  types.map((type, index) => `(SELECT $${String(index + 1)}::${type}[])`).join(', ');

/** Parameters: the identifiers. */
export function findStatement(table: Table, sharded: boolean): PreparedStatement<object> {
  const ids = sharded ? '$1::bigint[]' : '(SELECT $1::bigint[])::bigint[]';
  return new PreparedStatement(
    `find ${table.label}`,
    `SELECT ${names([table.id, ...table.columns])} FROM ${table.name} WHERE ${table.id.name} = ANY (${ids})`,
    table.toRow,
  );
}

/** Parameter: the identifier. */
export function findOneStatement(table: Table): PreparedStatement<object> {
  return new PreparedStatement(
    `find one ${table.label}`,
    `SELECT ${names([table.id, ...table.columns])} FROM ${table.name} WHERE ${table.id.name} = $1`,
    table.toRow,
  );
}

/** Parameters: all columns except the identifier. */
export function insertOneStatement({ label, name, id, columns }: Table): PreparedStatement<bigint> {
  return new PreparedStatement(
    `insert one ${label}`,
    `INSERT INTO ${name} (${names(columns)}) VALUES (${columns.map((_, index) => `$${String(index + 1)}`).join(', ')}) RETURNING ${id.name}`,
    ([text]: Columns) => BigInt(text as string),
  );
}

/** Parameters: all columns except the identifier, and with an event TRACE_PARENT. Returns the identifiers in the order of the values. */
export function insertStatement(table: Table, event?: Publication): PreparedStatement<bigint> {
  const { label, name, id, idSequence, columns } = table;
  const input = event ? [...columns, TRACE_PARENT] : columns;
  return new PreparedStatement(
    `${event ? 'publish' : 'insert'} ${label}`,
    `
    -- Assigns the identifiers before the INSERT, because the order of RETURNING is not guaranteed. MATERIALIZED: evaluated once.
    WITH numbered AS MATERIALIZED (
      SELECT nextval(${escapeLiteral(idSequence)}) AS ${id.name}, given.*
      FROM unnest(${arrays(input, 1)}) WITH ORDINALITY AS given (${names(input)}, input_ordinal)
    ), inserted AS (
      INSERT INTO ${name} (${names([id, ...columns])}) OVERRIDING SYSTEM VALUE
      SELECT ${names([id, ...columns])} FROM numbered
    )${event ? publishStatement(event, table, 'numbered') : ''}
    SELECT ${id.name} FROM numbered ORDER BY input_ordinal`,
    ([text]: Columns) => BigInt(text as string),
  );
}

export interface Inserted {
  readonly index: number;
  readonly id: bigint;
}

/**
 * Parameters: clients, keys, all columns except the identifier, and with an event TRACE_PARENT. Inserts rows and keys in one transaction.
 * Returns no row for a key that exists. A concurrent insert of the same key waits on the unique index until the first one commits or fails.
 */
export function insertOnceStatement(table: Table, keys: KeyTable, event?: Publication): PreparedStatement<Inserted> {
  const { label, name, id, idSequence, columns } = table;
  const input = event ? [...columns, TRACE_PARENT] : columns;
  const request = columns.map(({ property, name: column }) => `${escapeLiteral(property)}, ${column}`).join(', ');
  return new PreparedStatement(
    `${event ? 'publish' : 'insert'} once ${label}`,
    `
    WITH numbered AS MATERIALIZED (
      SELECT nextval(${escapeLiteral(idSequence)}) AS ${id.name}, given.*
      FROM unnest($1::bigint[], $2::text[], ${arrays(input, 3)})
        WITH ORDINALITY AS given (input_client, input_key, ${names(input)}, input_ordinal)
    ), recorded (recorded_id) AS (
      INSERT INTO ${keys.name} (${keys.clientId}, ${keys.key}, ${keys.rowId}, ${keys.request})
      SELECT input_client, input_key, ${id.name}, jsonb_build_object(${request}) FROM numbered
      -- The same order in every process prevents deadlocks between concurrent inserts of the same keys.
      ORDER BY input_client, input_key COLLATE "C"
      ON CONFLICT DO NOTHING
      RETURNING ${keys.rowId}
    ), inserted AS (
      INSERT INTO ${name} (${names([id, ...columns])}) OVERRIDING SYSTEM VALUE
      SELECT ${names([id, ...columns])} FROM numbered JOIN recorded ON recorded_id = ${id.name}
    )${event ? publishStatement(event, table, `numbered JOIN recorded ON recorded_id = ${id.name}`) : ''}
    SELECT input_ordinal, ${id.name} FROM numbered JOIN recorded ON recorded_id = ${id.name}`,
    ([ordinal, text]: Columns) => ({ index: Number(ordinal) - 1, id: BigInt(text as string) }),
  );
}

export interface Recorded extends Inserted {
  readonly row: Readonly<Record<string, unknown>>;
  /** Properties without a recorded value, because the table did not have their columns yet. */
  readonly missing: readonly string[];
}

/** Parameters: clients and keys. Returns the recorded values of the first request for each key, in any order. */
export function findRecordedStatement(table: Table, keys: KeyTable, sharded: boolean): PreparedStatement<Recorded> {
  const request = `record.${keys.request}`;
  const columns = table.columns.map(({ property, type }) => `(${request} ->> ${escapeLiteral(property)})::${type}`);
  const members = table.columns.map(({ property }) => escapeLiteral(property)).join(', ');
  // OFFSET 0 prevents a plan that scans the whole table. It is omitted if sharded: Citus cannot push it down, and shards are smaller.
  const offset = sharded ? '' : ' OFFSET 0';
  return new PreparedStatement(
    `find by key ${table.label}`,
    `
    SELECT requested.ordinal, record.${keys.rowId},
      array_to_json(ARRAY (SELECT member FROM unnest(ARRAY[${members}]) AS member WHERE NOT ${request} ? member)), ${columns.join(', ')}
    FROM unnest(${hiddenArrays(['bigint', 'text'])}) WITH ORDINALITY AS requested (client_id, key, ordinal)
    CROSS JOIN LATERAL (
      SELECT * FROM ${keys.name} WHERE ${keys.clientId} = requested.client_id AND ${keys.key} = requested.key${offset}
    ) AS record`,
    ([ordinal, id, missing, ...rest]: Columns) => ({
      index: Number(ordinal) - 1,
      id: BigInt(id as string),
      missing: JSON.parse(missing as string) as readonly string[],
      row: table.read({}, rest, 0) as Recorded['row'],
    }),
  );
}

/** Parameters: the age in hours and the maximum number of keys. */
export function deleteExpiredKeysStatement(keys: KeyTable): string {
  return `
    DELETE FROM ${keys.name} WHERE (${keys.clientId}, ${keys.key}) IN (
      SELECT ${keys.clientId}, ${keys.key} FROM ${keys.name}
      WHERE ${keys.createdAt} < now() - make_interval(hours => $1) ORDER BY ${keys.createdAt} LIMIT $2
    )`;
}

export interface PageText {
  /** The items as a JSON array. */
  readonly items: string;
  readonly next: bigint | undefined;
}

/**
 * Parameters: for each page, the values of the filters, the lowest identifier, and the page size. Returns one row per page, in the order
 * of the pages. If more items follow, the SQL also returns the next one, which `toRow` removes. If sharded, supports one page only, because
 * Citus cannot push down a LIMIT per page. Selects rows in which `nulls` are NULL.
 *
 * PostgreSQL writes the JSON exactly as clients receive it. That takes a tenth of the time of parsing and serialising rows in Node.js.
 */
export function listStatement(
  table: Table,
  filters: readonly Column[],
  sharded: boolean,
  nulls: readonly Column[] = [],
): PreparedStatement<PageText> {
  const { id, columns, label, name } = table;
  const all = [id, ...columns];
  const open = `{"id":${id.json.open}`;
  const close = `${columns.at(-1)?.json.close ?? ''}}`;
  const json = columns.reduce(
    (before, { property, json: { open: opening, value } }, index) =>
      `${before} || ${escapeLiteral(`${columns[index - 1]?.json.close ?? ''},${JSON.stringify(property)}:${opening}`)} || ${value}`,
    id.json.value,
  );
  /** Cannot occur within a value, because JSON escapes its quotes. Neither can `open`. */
  const between = `${close},${open}`;

  const filtered = columns.filter((column) => filters.includes(column) || nulls.includes(column));
  const order = names([...filtered, id]);
  const types = [...filters.map(({ type }) => type), 'bigint', 'integer'];
  const given = sharded
    ? types.map((type, index) => `($${String(index + 1)}::${type}[])[1]`)
    : [...filters.map((_, index) => `page.filter${String(index)}`), 'page.first', 'page.size'];
  const [values, first, size] = [given.slice(0, -2).join(', '), given.at(-2) as string, given.at(-1) as string];
  // Only the index on the filters and the identifier has this order. With `filter = …`, the planner could scan the primary key for a
  // rare value. The second comparison ends the index scan after the last matching row.
  const rowsOfPage = [
    ...nulls.map((column) => `${column.name} IS NULL`),
    filters.length === 0
      ? `${id.name} >= ${first}`
      : `(${names([...filters, id])}) >= (${values}, ${first}) AND (${names(filters)}) <= (${values})`,
  ].join(' AND ');
  const rows = (limit: string) => `SELECT ${names(all)} FROM ${name} WHERE ${rowsOfPage} ORDER BY ${order} LIMIT ${limit}`;
  const pages = `unnest(${hiddenArrays(types)}) WITH ORDINALITY AS page (${given.map((column) => column.replace('page.', '')).join(', ')}, ordinal)`;
  const from = sharded ? '' : `${pages} CROSS JOIN LATERAL `;

  return new PreparedStatement(
    `list ${label}${filtered.length === 0 ? '' : ` by ${filtered.map((column) => `${column.property}${nulls.includes(column) ? '=null' : ''}`).join()}`}`,
    `
    SELECT list.json, list.length > ${size}
    FROM ${from}(
      SELECT string_agg(${json}, ${escapeLiteral(between)} ORDER BY ${order}) AS json, count(*) AS length
      FROM (${
        // A literal bounds the cost of the plan. For an unknown LIMIT, PostgreSQL assumes a tenth of the table and would use JIT
        // compilation for each execution, which takes a hundred times as long as the page. The outer ORDER BY prevents another sort.
        sharded ? rows(`${size} + 1`) : `SELECT * FROM (${rows(String(MAX_PAGE_SIZE + 1))}) AS longest ORDER BY ${order} LIMIT ${size} + 1`
      }) AS item
    ) AS list${sharded ? '' : ' ORDER BY page.ordinal'}`,
    ([text, isLonger]: Columns) => {
      if (text === null || text === undefined) return { items: '[]', next: undefined };
      if (isLonger !== 't') return { items: `[${open}${text}${close}]`, next: undefined };
      const items = open + text.slice(0, text.lastIndexOf(between));
      const lastItem = items.slice(items.lastIndexOf(open) + open.length);
      return { items: `[${items}${close}]`, next: BigInt(/^-?\d+/.exec(lastItem)?.[0] as string) };
    },
  );
}

/** The table of an `IdempotencyKeyEntity`: its names, quoted for SQL. */
export type KeyTable = Readonly<Record<'name' | 'clientId' | 'key' | 'rowId' | 'request' | 'createdAt', string>>;

export function keyTableOf(metadata: EntityMetadata): KeyTable {
  const column = (property: keyof IdempotencyKeyEntity): string => {
    const found = metadata.findColumnWithPropertyName(property);
    if (!found) throw new Error(`${metadata.name} must have a column for the property ${property}.`);
    return quoted(found.databaseName);
  };
  return {
    name: qualifiedName(metadata),
    clientId: column('clientId'),
    key: column('key'),
    rowId: column('rowId'),
    request: column('request'),
    createdAt: column('createdAt'),
  };
}
