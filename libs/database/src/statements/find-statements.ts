import type { Columns } from '../connection/statement.js';
import type { KeyTable } from './insert-statements.js';
import { PreparedStatement } from './prepared-statement.js';
import { hiddenArrays, type Sharding } from './sharding.js';
import { names, type Table } from './table.js';

/** Parameters: the identifiers. */
export function findStatement(table: Table, { ids }: Sharding): PreparedStatement<object> {
  return new PreparedStatement(
    `find ${table.label}`,
    `SELECT ${names([table.id, ...table.columns])} FROM ${table.name} WHERE ${table.id.name} = ANY (${ids})`,
    table.toRow,
  );
}

/** Parameter: the identifier. A call that runs alone has its own statement, because PostgreSQL executes it faster. */
export function findOneStatement(table: Table): PreparedStatement<object> {
  return new PreparedStatement(
    `find one ${table.label}`,
    `SELECT ${names([table.id, ...table.columns])} FROM ${table.name} WHERE ${table.id.name} = $1`,
    table.toRow,
  );
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
    SELECT requested.ordinal, record.${keys.rowId}, record.${keys.request}
    FROM unnest(${hiddenArrays(['bigint', 'text'])}) WITH ORDINALITY AS requested (client_id, key, ordinal)
    CROSS JOIN LATERAL (
      SELECT * FROM ${keys.name} WHERE ${keys.clientId} = requested.client_id AND ${keys.key} = requested.key${endOfLookup}
    ) AS record`,
    ([ordinal, id, request]: Columns) => ({
      index: Number(ordinal) - 1,
      id: BigInt(id as string),
      request: table.parse(request as string) as Recorded['request'],
    }),
  );
}
