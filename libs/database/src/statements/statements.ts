import { escapeLiteral } from 'pg';
import { type Publication, publishStatement, TRACE_PARENT } from './publication.js';
import { PreparedStatement } from './prepared-statement.js';
import type { Columns } from '../connection/statement.js';
import { hiddenArrays, type Sharding } from './sharding.js';
import { type Column, names, quoted, type Table } from './table.js';

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
  const { name, id, columns } = table;
  const inserted = keys ? `numbered JOIN recorded ON recorded_id = ${id.name}` : 'numbered';
  const recorded = keys
    ? `, recorded (recorded_id) AS (${recordSql(table, keys, 'numbered')} ON CONFLICT DO NOTHING RETURNING ${keys.rowId})`
    : '';
  return `${numberedSql(table, event, keys)}${recorded}, inserted AS (
      INSERT INTO ${name} (${names([id, ...columns])}) OVERRIDING SYSTEM VALUE
      SELECT ${names([id, ...columns])} FROM ${inserted}
    )${event ? publishStatement(event, table, inserted) : ''}`;
}

function numberedSql({ id, idSequence, columns }: Table, event: Publication | undefined, keys?: KeyTable, condition = ''): string {
  const ofKeys = keys
    ? [
        { name: 'input_client', type: 'bigint' },
        { name: 'input_key', type: 'text' },
      ]
    : [];
  const input = [...ofKeys, ...columns, ...(event ? [TRACE_PARENT] : [])];
  return `
    -- Assigns the identifiers before the INSERT, because the order of RETURNING is not guaranteed. MATERIALIZED: evaluated once.
    WITH numbered AS MATERIALIZED (
      SELECT nextval(${escapeLiteral(idSequence)}) AS ${id.name}, given.*
      FROM unnest(${arrays(input)}) WITH ORDINALITY AS given (${names(input)}, input_ordinal)${condition}
    )`;
}

function recordSql({ id, columns }: Table, keys: KeyTable, rows: string): string {
  const request = columns.map(({ property, name }) => `${escapeLiteral(property)}, ${name}`).join(', ');
  return `
      INSERT INTO ${keys.name} (${keys.clientId}, ${keys.key}, ${keys.rowId}, ${keys.request})
      SELECT input_client, input_key, ${id.name}, jsonb_build_object(${request}) FROM ${rows}
      -- The same order in every process prevents deadlocks between concurrent inserts of the same keys.
      ORDER BY input_client, input_key COLLATE "C"`;
}

export interface MaybeInserted {
  readonly index: number;
  /** Undefined if the values of the row are not unique. */
  readonly id: bigint | undefined;
}

/**
 * For a table with unique values. Parameters like `insertStatement`, or with keys `insertOnceStatement`. Inserts all rows except those that
 * violate the constraint, by default any, and returns no row for a key that exists. Throws a violation of the primary key of `keys` if another transaction has inserted
 * a key in the meantime.
 *
 * Each row waits for a transaction with the same values before it is inserted. As the rows are in the order of these values, two processes
 * cannot wait for each other. That is also true for ranges that do not overlap within a batch, ordered by their start.
 */
export function insertUniqueStatement(
  table: Table,
  order: readonly Column[],
  constraint: string | undefined,
  event: Publication | undefined,
  keys?: KeyTable,
): PreparedStatement<MaybeInserted> {
  const { name, id, columns } = table;
  const target = constraint === undefined ? '' : ` ON CONSTRAINT ${quoted(constraint)}`;
  const inserted = `numbered JOIN inserted ON inserted_id = ${id.name}`;
  // OFFSET 0 prevents a plan that scans the whole table.
  const isNew =
    keys && ` WHERE NOT EXISTS (SELECT FROM ${keys.name} WHERE ${keys.clientId} = input_client AND ${keys.key} = input_key OFFSET 0)`;
  return new PreparedStatement(
    `${event ? 'publish' : 'insert'} unique ${keys ? 'once ' : ''}${table.label}`,
    `${numberedSql(table, event, keys, isNew)}, inserted (inserted_id) AS (
      INSERT INTO ${name} (${names([id, ...columns])}) OVERRIDING SYSTEM VALUE
      SELECT ${names([id, ...columns])} FROM numbered ORDER BY ${names(order)}
      ON CONFLICT${target} DO NOTHING
      RETURNING ${id.name}
    )${keys ? `, recorded AS (${recordSql(table, keys, inserted)})` : ''}${event ? publishStatement(event, table, inserted) : ''}
    SELECT input_ordinal, inserted_id FROM numbered LEFT JOIN inserted ON inserted_id = ${id.name}`,
    ([ordinal, text]: Columns) => ({ index: Number(ordinal) - 1, id: text === null || text === undefined ? undefined : BigInt(text) }),
  );
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
