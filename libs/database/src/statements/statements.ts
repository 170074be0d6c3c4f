import { escapeLiteral } from 'pg';
import { type Publication, publishStatement, TRACE_PARENT } from './publication.js';
import { PreparedStatement } from './prepared-statement.js';
import type { Columns } from '../connection/statement.js';
import { hiddenArrays, type Sharding } from './sharding.js';
import { type Column, names, type Table } from './table.js';

/**
 * The statements of the hot path. Their parameters are arrays, so that one execution serves many calls. A call that runs alone has its
 * own statements (`one`), because PostgreSQL executes them faster.
 */

const arrays = (columns: readonly Pick<Column, 'type'>[], from: number): string =>
  columns.map(({ type }, index) => `$${String(from + index)}::${type}[]`).join(', ');

/** Parameters: the identifiers. */
export function findStatement(table: Table, { ids }: Sharding): PreparedStatement<object> {
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

/** The table of an `IdempotencyKeyEntity`: its names, quoted for SQL. */
export type KeyTable = Readonly<Record<'name' | 'clientId' | 'key' | 'rowId' | 'request' | 'createdAt', string>>;

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
export function findRecordedStatement(table: Table, keys: KeyTable, { endOfLookup }: Sharding): PreparedStatement<Recorded> {
  const request = `record.${keys.request}`;
  const columns = table.columns.map(({ property, type }) => `(${request} ->> ${escapeLiteral(property)})::${type}`);
  const members = table.columns.map(({ property }) => escapeLiteral(property)).join(', ');
  return new PreparedStatement(
    `find by key ${table.label}`,
    `
    SELECT requested.ordinal, record.${keys.rowId},
      array_to_json(ARRAY (SELECT member FROM unnest(ARRAY[${members}]) AS member WHERE NOT ${request} ? member)), ${columns.join(', ')}
    FROM unnest(${hiddenArrays(['bigint', 'text'])}) WITH ORDINALITY AS requested (client_id, key, ordinal)
    CROSS JOIN LATERAL (
      SELECT * FROM ${keys.name} WHERE ${keys.clientId} = requested.client_id AND ${keys.key} = requested.key${endOfLookup}
    ) AS record`,
    ([ordinal, id, missing, ...rest]: Columns) => ({
      index: Number(ordinal) - 1,
      id: BigInt(id as string),
      missing: JSON.parse(missing as string) as readonly string[],
      row: table.read({}, rest, 0) as Recorded['row'],
    }),
  );
}
