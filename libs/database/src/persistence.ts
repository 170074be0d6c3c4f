import type { EntitySchema, MigrationInterface } from 'typeorm';

/** What a context keeps in PostgreSQL: the schema that it alone owns, and what TypeORM has to know of it. */
export interface Persistence {
  readonly schema: string;
  readonly entities: readonly ((new () => object) | EntitySchema)[];
  /** In the order they are applied; a class name ends in its timestamp in ms (13 digits). */
  readonly migrations: readonly (new () => MigrationInterface)[];
}
