import { types } from 'pg';
import type { EntityMetadata } from 'typeorm';

/** What PostgreSQL answers for a row: each column as text. */
export type Columns = readonly (string | null)[];

interface ColumnType {
  readonly read: (text: string) => unknown;
  /** SQL that writes the column as JSON, the same as JSON.stringify writes what `read` gives. */
  readonly json: (column: string) => string;
}

const asText: ColumnType = { read: (text) => text, json: (column) => `to_json(${column})` };
const asNumber: ColumnType = { read: Number, json: (column) => column };

/** By the names that TypeORM and PostgreSQL both use. */
const TYPES: Readonly<Record<string, ColumnType>> = {
  bigint: { read: BigInt, json: (column) => column },
  integer: asNumber,
  smallint: asNumber,
  text: asText,
  'character varying': asText,
  uuid: asText,
  boolean: { read: (text) => text === 't', json: (column) => column },
  'timestamp with time zone': {
    read: types.getTypeParser(types.builtins.TIMESTAMPTZ) as (text: string) => Date,
    json: (column) => `to_json(to_char(${column} AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'))`,
  },
};

/** An enumeration of these needs no escaping in JSON. */
const PLAIN_WORD = /^[A-Za-z0-9 _-]*$/;

export interface Column {
  /** In the entity, and in JSON. */
  readonly property: string;
  /** Quoted for SQL. */
  readonly name: string;
  readonly type: string;
  readonly read: (text: string | null) => unknown;
  /** The JSON of a value is `open`, what the SQL in `value` gives, and `close`. */
  readonly json: { readonly open: string; readonly value: string; readonly close: string };
}

/** A table as its entity declares it: the one source of names and types for every statement that is made for it. */
export class Table {
  /** Quoted for SQL. */
  readonly name: string;
  /** `schema.table`, for the names of statements. */
  readonly label: string;
  /** PostgreSQL's name for the sequence of an identity column. */
  readonly idSequence: string;
  readonly id: Column;
  /** All but the identifier, in the order of the entity. */
  readonly columns: readonly Column[];

  /** @throws Error when the entity has a column that statements over many rows cannot carry */
  constructor(metadata: EntityMetadata) {
    this.name = qualifiedName(metadata);
    this.label = metadata.tablePath;
    const columns = metadata.columns.map((column) => columnOf(column, metadata));
    const id = columns.find(({ property }) => property === 'id');
    if (id?.type !== 'bigint' || metadata.primaryColumns.length !== 1)
      throw new Error(`${metadata.name} needs a primary key id of bigint.`);
    this.id = id;
    this.columns = columns.filter((column) => column !== id);
    this.idSequence = qualifiedName({ ...metadata, tableName: `${metadata.tableName}_id_seq` });
  }

  /** Reads the identifier and all other columns, in this order. */
  readonly toRow = (texts: Columns): object => {
    const row: Record<string, unknown> = { id: this.id.read(texts[0] as string) };
    return this.read(row, texts, 1);
  };

  /** Reads the columns without the identifier from the given place on. */
  read(row: Record<string, unknown>, texts: Columns, from: number): object {
    let index = from;
    for (const { property, read } of this.columns) row[property] = read(texts[index++] as string | null);
    return row;
  }
}

/** Quoted for SQL. */
export function qualifiedName({ schema = 'public', tableName }: Pick<EntityMetadata, 'schema' | 'tableName'>): string {
  return `${quoted(schema)}.${quoted(tableName)}`;
}

export function quoted(identifier: string): string {
  return `"${identifier.replaceAll('"', '""')}"`;
}

function columnOf(column: EntityMetadata['columns'][number], { name: entity, dataSource }: EntityMetadata): Column {
  const type = dataSource.driver.normalizeType(column);
  const known = TYPES[type];
  if (!known || column.isArray) throw new Error(`${entity}.${column.propertyName}: BatchedRepository knows no columns of type ${type}.`);
  const name = quoted(column.databaseName);
  const isPlain = !column.isNullable && column.enum?.every((word) => PLAIN_WORD.test(String(word)));
  return {
    property: column.propertyName,
    name,
    type,
    read: column.isNullable ? (text) => (text === null ? null : known.read(text)) : (known.read as Column['read']),
    json: isPlain
      ? { open: '"', value: name, close: '"' }
      : { open: '', value: column.isNullable ? `coalesce(${known.json(name)}::text, 'null')` : known.json(name), close: '' },
  };
}
