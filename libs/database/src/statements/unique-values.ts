import { DatabaseError } from 'pg';
import type { EntityMetadata } from 'typeorm';
import { type Column, quoted, type Table } from './table.js';

export const UNIQUE_VIOLATION = '23505';
const EXCLUSION_VIOLATION = '23P01';

/** A unique or exclusion constraint that the entity declares: `@Unique`, `@Index` with `unique`, or `@Exclusion`. */
export interface UniqueValues {
  readonly constraint: string;
  readonly isExclusion: boolean;
  /** Whether it is only an index, which ON CONFLICT ON CONSTRAINT does not accept. */
  readonly isIndex: boolean;
  /** In the order of the constraint. */
  readonly columns: readonly Column[];
}

const WORD = /"(?:[^"]|"")+"|\w+/g;

/** Returns none if a constraint is deferrable, because INSERT … ON CONFLICT supports only immediate ones. */
export function uniqueValuesOf({ uniques, indices, exclusions }: EntityMetadata, table: Table): UniqueValues[] {
  const indexes = indices.filter(({ isUnique }) => isUnique);
  if ([...uniques, ...exclusions].some(({ deferrable }) => deferrable !== undefined)) return [];
  const columnsOf = (names: readonly string[]) =>
    [...new Set(names)].flatMap((name) => table.columns.find((one) => one.name === name) ?? []);
  return [
    ...[...uniques, ...indexes].map((unique) => ({
      constraint: unique.name,
      isExclusion: false,
      isIndex: 'isUnique' in unique,
      columns: columnsOf(unique.columns.map(({ databaseName }) => quoted(databaseName))),
    })),
    ...exclusions.map(({ name, expression }) => ({
      constraint: name,
      isExclusion: true,
      isIndex: false,
      columns: columnsOf((expression.match(WORD) ?? []).map((word) => (word.startsWith('"') ? word : quoted(word)))),
    })),
  ];
}

/** Returns the error of PostgreSQL for a row that violates the constraint. */
export function violationOf({ constraint, isExclusion }: Pick<UniqueValues, 'constraint' | 'isExclusion'>): DatabaseError {
  const message = isExclusion
    ? `conflicting key value violates exclusion constraint "${constraint}"`
    : `duplicate key value violates unique constraint "${constraint}"`;
  return Object.assign(new DatabaseError(message, message.length, 'error'), {
    code: isExclusion ? EXCLUSION_VIOLATION : UNIQUE_VIOLATION,
    constraint,
  });
}
