import { escapeIdentifier, escapeLiteral } from 'pg';
import type { EntityMetadata } from 'typeorm';
import type { Columns } from '../connection/statement.js';
import { parseTime } from '../connection/value-types.js';

interface ColumnType {
  readonly read: (text: string) => unknown;
  /** Returns SQL that writes the column as JSON. It equals JSON.stringify of `read`, except for a bigint and a time outside RFC 3339. */
  readonly json: (column: string) => string;
  /** Parses the JSON value. By default, it is the value from `read`. `source` is the text of a number. */
  readonly parse?: (value: unknown, source: string) => unknown;
}

const asText: ColumnType = { read: (text) => text, json: (column) => `to_json(${column})` };
const asNumber: ColumnType = { read: Number, json: (column) => column };

/** Supported column types by the name that TypeORM and PostgreSQL use. */
const TYPES: Readonly<Record<string, ColumnType>> = {
  bigint: { read: BigInt, json: (column) => column, parse: (_value, source) => BigInt(source) },
  integer: asNumber,
  smallint: asNumber,
  text: asText,
  'character varying': asText,
  uuid: asText,
  boolean: { read: (text) => text === 't', json: (column) => column },
  'timestamp with time zone': {
    read: parseTime,
    // RFC 3339 has the years 1 to 9999. `to_char` returns NULL for infinity, which means "not set", and omits BC.
    json: (column) =>
      `to_json(CASE WHEN ${column} >= '0001-01-01Z' AND ${column} < '10000-01-01Z' THEN to_char(${column} AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') ELSE ${column}::text END)`,
    parse: (text) => parseTime(text as string),
  },
};

export interface Column {
  /** The name in the entity and in JSON. */
  readonly property: string;
  /** Quoted for SQL. */
  readonly name: string;
  readonly type: string;
  readonly isNullable: boolean;
  readonly read: (text: string | null) => unknown;
  /** SQL that writes `,"property":value` as JSON. */
  readonly jsonMember: string;
}

/** Names and column types of an entity's table, from which its statements are built. */
export class Table {
  /** Quoted for SQL. */
  readonly name: string;
  /** `schema.table`, for the names of statements. */
  readonly label: string;
  readonly idSequence: string;
  readonly id: Column;
  /** All columns except the identifier, in the order of the entity. */
  readonly columns: readonly Column[];
  private readonly parsers: ReadonlyMap<string, ColumnType['parse']>;

  /** @throws Error that names the property if the entity has something that is not supported */
  constructor(metadata: EntityMetadata) {
    for (const [what, propertiesOf] of Object.entries(UNSUPPORTED))
      for (const property of propertiesOf(metadata))
        throw new Error(`${metadata.name}.${String(property)}: BatchedRepository does not support ${what}.`);
    this.name = qualifiedName(metadata);
    this.label = metadata.tablePath;
    const columns = metadata.columns.map((column) => columnOf(column, metadata));
    const id = columns.find(({ property }) => property === 'id');
    const [primary, ...others] = metadata.primaryColumns;
    if (id?.type !== 'bigint' || others.length > 0 || (primary?.generationStrategy as string | undefined) !== 'identity')
      throw new Error(`${metadata.name} must have the primary key id of type bigint, generated as an identity.`);
    this.id = id;
    this.columns = columns.filter((column) => column !== id);
    this.parsers = new Map(columns.map(({ property, type }) => [property, TYPES[type]?.parse]));
    this.idSequence = qualifiedName({ ...metadata, tableName: `${metadata.tableName}_${primary?.databaseName ?? ''}_seq` });
  }

  /** Reads the identifier and `columns`, in this order, from an index on. */
  readonly toRow = (texts: Columns, first = 0): object => {
    let index = first;
    const row: Record<string, unknown> = { id: this.id.read(texts[index++] as string) };
    for (const { property, read } of this.columns) row[property] = read(texts[index++] as string | null);
    return row;
  };

  /** Parses the JSON of one or several rows. Their values equal those from `toRow`. */
  readonly parse = (text: string): unknown =>
    JSON.parse(text, (property, value: unknown, context?: { readonly source?: string }) => {
      const parse = typeof value === 'object' ? undefined : this.parsers.get(property);
      return parse ? parse(value, context?.source ?? '') : value;
    });
}

type ColumnMetadata = EntityMetadata['columns'][number];

/** What TypeORM's own repository honours, and BatchedRepository does not, with the properties that have it. */
const UNSUPPORTED: Readonly<Record<string, (metadata: EntityMetadata) => readonly (string | undefined)[]>> = {
  'eager or lazy relations': ({ relations }) =>
    relations.filter(({ isEager, isLazy }) => isEager || isLazy).map(({ propertyPath }) => propertyPath),
  'identifiers of relations': ({ relationIds }) => relationIds.map(({ propertyName }) => propertyName),
  'relations that are stored with it': ({ relations }) =>
    relations.filter((one) => one.isCascadeInsert || one.isCascadeUpdate || one.isManyToManyOwner).map(({ propertyPath }) => propertyPath),
  'soft deletion': columnsWith((column) => column.isDeleteDate),
  'embedded columns': columnsWith((column) => column.embeddedMetadata),
  inheritance: columnsWith((column) => column.isDiscriminator),
  'a transformer': columnsWith((column) => column.transformer),
  'generated columns': columnsWith((column) => column.generatedType ?? column.asExpression),
  'generated values': columnsWith((column) => column.isGenerated && !column.isPrimary),
  'values that TypeORM sets': columnsWith(({ isVersion, isCreateDate, isUpdateDate }) => isVersion || isCreateDate || isUpdateDate),
  'columns that are not inserted or selected': columnsWith((column) => !column.isInsert || !column.isSelect),
  'lists and objects as text': columnsWith(({ type }) => type === 'simple-array' || type === 'simple-json'),
  defaults: columnsWith((column) => column.default !== undefined),
  'relations without a column of their own': columnsWith((column) => column.isVirtual),
  trees: ({ treeType }) => (treeType ? [treeType] : []),
  listeners: ({ listeners }) => listeners.map(({ propertyName }) => propertyName),
  'an order of the entity': ({ orderBy }) => Object.keys(orderBy ?? {}),
  // PostgreSQL shortens it in the name of the sequence of the identifier.
  'a name of more than 56 bytes': ({ tableName }) => (Buffer.byteLength(tableName) > 56 ? [tableName] : []),
  'anything but tables': ({ tableType }) => (tableType === 'regular' ? [] : [tableType]),
};

function columnsWith(applies: (column: ColumnMetadata) => unknown): (metadata: EntityMetadata) => readonly string[] {
  return ({ columns }) => columns.filter(applies).map(({ propertyPath }) => propertyPath);
}

export function qualifiedName({ schema = 'public', tableName }: Pick<EntityMetadata, 'schema' | 'tableName'>): string {
  return `${escapeIdentifier(schema)}.${escapeIdentifier(tableName)}`;
}

export function names(columns: readonly Pick<Column, 'name'>[]): string {
  return columns.map(({ name }) => name).join(', ');
}

function columnOf(column: ColumnMetadata, { name: entity, dataSource }: EntityMetadata): Column {
  const type = dataSource.driver.normalizeType(column);
  const columnType = TYPES[type];
  const hint = type === 'numeric' ? '; store money as a bigint of its smallest unit' : '';
  if (!columnType || column.isArray)
    throw new Error(`${entity}.${column.propertyName}: BatchedRepository does not support columns of type ${type}${hint}.`);
  // A Date has milliseconds. A column with microseconds would never equal the value that was read from it.
  if (type === 'timestamp with time zone' && column.precision !== 3)
    throw new Error(`${entity}.${column.propertyName} must have \`precision: 3\`, and the type timestamptz(3) in its migration.`);
  const name = escapeIdentifier(column.databaseName);
  const member = (value: string) => escapeLiteral(`,${JSON.stringify(column.propertyName)}:${value}`);
  const json = columnType.json(name);
  const anyValue = `${member('')} || ${column.isNullable ? `coalesce((${json})::text, 'null')` : json}`;
  // Comparing with a few words, and writing the whole member for each, costs less than escaping.
  const words = columnType === asText ? (column.enum ?? []).map(String) : [];
  const cases = words.map((word) => ` WHEN ${escapeLiteral(word)} THEN ${member(JSON.stringify(word))}`);
  return {
    property: column.propertyName,
    name,
    type,
    isNullable: column.isNullable,
    read: column.isNullable ? (text) => (text === null ? null : columnType.read(text)) : (columnType.read as Column['read']),
    jsonMember: cases.length > 0 ? `CASE ${name}${cases.join('')} ELSE ${anyValue} END` : anyValue,
  };
}

const WORD = /"(?:[^"]|"")+"|\w+/g;

/** Returns the columns of unique and exclusion constraints, then `id`; undefined if there are none, or ON CONFLICT lacks support. */
export function uniqueColumnsOf({ uniques, indices, exclusions }: EntityMetadata, table: Table): readonly Column[] | undefined {
  const indexes = indices.filter(({ isUnique }) => isUnique);
  const constraints = [...uniques, ...exclusions];
  if (constraints.length + indexes.length === 0 || constraints.some(({ deferrable }) => deferrable !== undefined)) return undefined;
  const names = [
    ...[...uniques, ...indexes].flatMap(({ columns }) => columns.map(({ databaseName }) => escapeIdentifier(databaseName))),
    ...exclusions
      .flatMap(({ expression }) => expression.match(WORD) ?? [])
      .map((word) => (word.startsWith('"') ? word : escapeIdentifier(word))),
  ];
  const columns = names.flatMap((name) => table.columns.find((column) => column.name === name) ?? []);
  return [...new Set([...columns, table.id])];
}
