import type { EntityMetadata } from 'typeorm';
import { type Column, quoted, type Table } from './table.js';

const WORD = /"(?:[^"]|"")+"|\w+/g;

/** The columns of the unique and exclusion constraints that an entity declares: `@Unique`, `@Index` with `unique`, or `@Exclusion`. */
export interface UniqueColumns {
  /** In the order of the constraints, then the identifier. */
  readonly columns: readonly Column[];
  readonly hasExclusion: boolean;
}

/** Returns undefined without such a constraint, or if one is deferrable: INSERT … ON CONFLICT supports only immediate ones. */
export function uniqueColumnsOf({ uniques, indices, exclusions }: EntityMetadata, table: Table): UniqueColumns | undefined {
  const indexes = indices.filter(({ isUnique }) => isUnique);
  const constraints = [...uniques, ...exclusions];
  if (constraints.length + indexes.length === 0 || constraints.some(({ deferrable }) => deferrable !== undefined)) return undefined;
  const names = [
    ...[...uniques, ...indexes].flatMap(({ columns }) => columns.map(({ databaseName }) => quoted(databaseName))),
    ...exclusions.flatMap(({ expression }) => expression.match(WORD) ?? []).map((word) => (word.startsWith('"') ? word : quoted(word))),
  ];
  const columns = names.flatMap((name) => table.columns.find((column) => column.name === name) ?? []);
  return { columns: [...new Set([...columns, table.id])], hasExclusion: exclusions.length > 0 };
}
