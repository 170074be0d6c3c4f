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

const arrays = (columns: readonly Pick<Column, 'type'>[]): string =>
  columns.map(({ type }, index) => `$${String(index + 1)}::${type}[]`).join(', ');

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

/** The table of an `IdempotencyKeyEntity`: its names, quoted for SQL. */
export type KeyTable = Readonly<Record<'name' | 'clientId' | 'key' | 'rowId' | 'request' | 'createdAt', string>>;

export interface Inserted {
  readonly index: number;
  readonly id: bigint;
}

/** Parameters: all columns except the identifier, and with an event TRACE_PARENT. Returns the identifiers in the order of the values. */
export function insertStatement(table: Table, event?: Publication): PreparedStatement<bigint> {
  return new PreparedStatement(
    `${event ? 'publish' : 'insert'} ${table.label}`,
    `${insertSql(table, event)} SELECT ${table.id.name} FROM numbered ORDER BY input_ordinal`,
    ([text]: Columns) => BigInt(text as string),
  );
}

/**
 * Parameters: clients, keys, all columns except the identifier, and with an event TRACE_PARENT. Inserts rows and keys in one transaction.
 * Returns no row for a key that exists. A concurrent insert of the same key waits on the unique index until the first one commits or fails.
 */
export function insertOnceStatement(table: Table, keys: KeyTable, event?: Publication): PreparedStatement<Inserted> {
  return new PreparedStatement(
    `${event ? 'publish' : 'insert'} once ${table.label}`,
    `${insertSql(table, event, keys)} SELECT input_ordinal, ${table.id.name} FROM numbered JOIN recorded ON recorded_id = ${table.id.name}`,
    ([ordinal, text]: Columns) => ({ index: Number(ordinal) - 1, id: BigInt(text as string) }),
  );
}

/** Returns the CTEs that insert the rows of `numbered`; with keys, those that have a row in `recorded`. */
function insertSql(table: Table, event: Publication | undefined, keys?: KeyTable): string {
  const { name, id, idSequence, columns } = table;
  const ofKeys = keys
    ? [
        { name: 'input_client', type: 'bigint' },
        { name: 'input_key', type: 'text' },
      ]
    : [];
  const input = [...ofKeys, ...columns, ...(event ? [TRACE_PARENT] : [])];
  const inserted = keys ? `numbered JOIN recorded ON recorded_id = ${id.name}` : 'numbered';
  return `
    -- Assigns the identifiers before the INSERT, because the order of RETURNING is not guaranteed. MATERIALIZED: evaluated once.
    WITH numbered AS MATERIALIZED (
      SELECT nextval(${escapeLiteral(idSequence)}) AS ${id.name}, given.*
      FROM unnest(${arrays(input)}) WITH ORDINALITY AS given (${names(input)}, input_ordinal)
    )${keys ? recordSql(table, keys) : ''}, inserted AS (
      INSERT INTO ${name} (${names([id, ...columns])}) OVERRIDING SYSTEM VALUE
      SELECT ${names([id, ...columns])} FROM ${inserted}
    )${event ? publishStatement(event, table, inserted) : ''}`;
}

function recordSql({ id, columns }: Table, keys: KeyTable): string {
  const request = columns.map(({ property, name }) => `${escapeLiteral(property)}, ${name}`).join(', ');
  return `, recorded (recorded_id) AS (
      INSERT INTO ${keys.name} (${keys.clientId}, ${keys.key}, ${keys.rowId}, ${keys.request})
      SELECT input_client, input_key, ${id.name}, jsonb_build_object(${request}) FROM numbered
      -- The same order in every process prevents deadlocks between concurrent inserts of the same keys.
      ORDER BY input_client, input_key COLLATE "C"
      ON CONFLICT DO NOTHING
      RETURNING ${keys.rowId}
    )`;
}

export interface Recorded extends Inserted {
  /** The values of the first request, by property. Undefined for a column that the table did not have yet. */
  readonly row: Readonly<Record<string, unknown>>;
}

/** Parameters: clients and keys. Returns the recorded values of the first request for each key, in any order. */
export function findRecordedStatement(table: Table, keys: KeyTable, { endOfLookup }: Sharding): PreparedStatement<Recorded> {
  return new PreparedStatement(
    `find by key ${table.label}`,
    `
    SELECT requested.ordinal, record.${keys.rowId}, record.${keys.request}
    FROM unnest(${hiddenArrays(['bigint', 'text'])}) WITH ORDINALITY AS requested (client_id, key, ordinal)
    CROSS JOIN LATERAL (
      SELECT * FROM ${keys.name} WHERE ${keys.clientId} = requested.client_id AND ${keys.key} = requested.key${endOfLookup}
    ) AS record`,
    ([ordinal, id, request]: Columns) => ({
      index: Number(ordinal) - 1,
      id: BigInt(id as string),
      row: table.parse(request as string) as Recorded['row'],
    }),
  );
}
