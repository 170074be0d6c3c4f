import type { EventDefinition } from '@animal-store/kernel';
import { escapeLiteral } from 'pg';
import type { Columns } from '../connection/statement.js';
import { PreparedStatement } from './prepared-statement.js';
import { publishStatement } from './publication.js';
import { hiddenArrays, type Sharding } from './sharding.js';
import { type Column, names, type Table } from './table.js';

/** The table of an `IdempotencyKeyEntity`: its name and that of its only column with a name of its own, quoted for SQL. */
export type KeyTable = Readonly<Record<'name' | 'rowId', string>>;

/** The member of a record with the stored row, if a trigger changed the values of the request. No property has this name. */
export const STORED = '';

/**
 * Parameters: all columns except the identifier, or arrays of them. Inserts rows without keys, events and unique values, for half of the price
 * of `insertStatement`, and returns them in the order of the arrays. PostgreSQL executes `one`, for a row that is alone, faster than `many`.
 */
export function simpleInsertStatements({ label, name, id, columns, toRow }: Table, { setsLockTimeout }: Sharding) {
  const types = columns.map(({ type }) => type);
  const insert = (input: string) =>
    `INSERT INTO ${name} (${names(columns)}) SELECT ${input} WHERE ${setsLockTimeout} RETURNING ${names([id, ...columns])}`;
  const one = insert(types.map((type, index) => `$${String(index + 1)}::${type}`).join(', '));
  const many = `
    WITH stored AS (${insert(`* FROM unnest(${hiddenArrays(types)}) AS input (${names(columns)})`)})
    SELECT * FROM stored
    -- The division fails, and nothing is stored, if a trigger rejected a row: the calls of the others would be unknown.
    WHERE 1 / ((SELECT count(*) FROM stored) = cardinality($1))::integer = 1`;
  return { one: new PreparedStatement(`insert one ${label}`, one, toRow), many: new PreparedStatement(`insert ${label}`, many, toRow) };
}

export interface Stored {
  readonly index: number;
  readonly row: object;
}

interface InsertOptions {
  readonly event?: EventDefinition | undefined;
  readonly keys?: KeyTable | undefined;
  /** If given, skips rows whose unique values exist, instead of failing. The rows are inserted in the order of these columns. */
  readonly unique?: readonly Column[] | undefined;
}

/**
 * Parameters: with keys, arrays of clients and keys; arrays of all columns except the identifier. Inserts rows, keys and events in one
 * transaction, and returns the stored rows. Skips calls whose keys exist, and rows that a trigger rejects. Fails with a violation of the primary
 * key of `keys` if another transaction records a key in the meantime. The service logs the statement with `LOG_SQL=true`.
 */
export function insertStatement(table: Table, sharding: Sharding, { event, keys, unique }: InsertOptions): PreparedStatement<Stored> {
  const { name, id, columns } = table;
  const input = [...(keys ? KEY_COLUMNS : []), ...columns];
  const all = names([id, ...columns]);
  const record = keys && `, input_client, input_key, ${recordOf(table)} AS input_record`;
  const recorded =
    keys &&
    `, recorded AS (
      INSERT INTO ${keys.name} (client_id, key, ${keys.rowId}, request)
      SELECT input_client, input_key, ${id.name}, input_record FROM matched
      -- The same order in every process prevents deadlocks between concurrent inserts of the same keys.
      ORDER BY input_client, input_key COLLATE "C"
    )`;
  const text = `
    WITH given AS MATERIALIZED (
      -- Assigns the identifiers before the INSERT, which otherwise would not say which call a row is from.
      SELECT nextval(${escapeLiteral(table.idSequence)}) AS ${id.name}, input.*
      FROM unnest(${hiddenArrays(input.map(({ type }) => type))}) WITH ORDINALITY AS input (${names(input)}, input_ordinal)
      WHERE ${sharding.setsLockTimeout}${keys ? sharding.unlessRecorded(keys) : ''}
    ), stored AS (
      -- Each row waits for a transaction with the same unique values. In the order of these values, two processes cannot wait for each other.
      INSERT INTO ${name} (${all}) OVERRIDING SYSTEM VALUE
      SELECT ${all} FROM given${unique ? ` ORDER BY ${names(unique)} ON CONFLICT DO NOTHING` : ''}
      RETURNING ${all}
    ), matched AS (
      -- The cast fails, and nothing is stored, if a trigger changed an identifier: its call would be unknown.
      SELECT coalesce(input_ordinal, ('A trigger must not change the identifier ' || stored.${id.name})::bigint) AS input_ordinal, stored.*${record ?? ''}
      FROM stored LEFT JOIN given ON given.${id.name} = stored.${id.name}
    )${recorded ?? ''}${event ? `, published AS (${publishStatement(event, table)})` : ''}
    SELECT input_ordinal, ${all} FROM matched`;
  const label = `${event ? 'publish' : 'insert'} ${unique ? 'unique ' : ''}${keys ? 'once ' : ''}${table.label}`;
  return new PreparedStatement(label, text, (texts: Columns) => ({ index: Number(texts[0]) - 1, row: table.toRow(texts, 1) }));
}

const KEY_COLUMNS = [
  { name: 'input_client', type: 'bigint' },
  { name: 'input_key', type: 'text' },
];

/** Returns the values of the request as JSON, with the stored row if a trigger changed them. */
function recordOf({ columns }: Table): string {
  const jsonOf = (source: string) =>
    `jsonb_build_object(${columns.map(({ property, name }) => `${escapeLiteral(property)}, ${source}.${name}`).join(', ')})`;
  const rowOf = (source: string) => `ROW (${columns.map(({ name }) => `${source}.${name}`).join(', ')})`;
  return `CASE WHEN ${rowOf('given')} IS NOT DISTINCT FROM ${rowOf('stored')} THEN ${jsonOf('given')}
        ELSE ${jsonOf('given')} || jsonb_build_object(${escapeLiteral(STORED)}, ${jsonOf('stored')}) END`;
}

export interface Recorded {
  readonly index: number;
  readonly id: bigint;
  /** The values of the first request, by property. Undefined for a column that the table did not have yet. */
  readonly request: Readonly<Record<string, unknown>>;
}

/** Parameters: clients and keys. Returns the record of each key that exists, in any order. */
export function findRecordedStatement(table: Table, keys: KeyTable, { endOfLookup }: Sharding): PreparedStatement<Recorded> {
  return new PreparedStatement(
    `find by key ${table.label}`,
    `
    SELECT requested.ordinal, record.${keys.rowId}, record.request
    FROM unnest(${hiddenArrays(['bigint', 'text'])}) WITH ORDINALITY AS requested (client_id, key, ordinal)
    CROSS JOIN LATERAL (
      SELECT * FROM ${keys.name} AS stored WHERE stored.client_id = requested.client_id AND stored.key = requested.key${endOfLookup}
    ) AS record`,
    ([ordinal, id, request]: Columns) => ({
      index: Number(ordinal) - 1,
      id: BigInt(id as string),
      request: table.parse(request as string) as Recorded['request'],
    }),
  );
}
