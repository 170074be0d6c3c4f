import type { EntitySchema, MigrationInterface } from 'typeorm';

/** What a role of PostgreSQL may do: as in GRANT, between GRANT and TO. */
export interface Privileges {
  readonly service: readonly string[];
  /** For the command line's management of keys. */
  readonly keys?: readonly string[];
}

/** What a context keeps in PostgreSQL: the schema that it alone owns, and what TypeORM has to know of it. */
export interface Persistence {
  readonly schema: string;
  readonly entities: readonly ((new () => object) | EntitySchema)[];
  /** In the order they are applied; a class name ends in its timestamp in ms (13 digits). */
  readonly migrations: readonly (new () => MigrationInterface)[];
  /** False keeps the tables on one server although Citus distributes others: they are small, or have constraints across rows (ADR 56). */
  readonly sharded?: boolean;
  /** By default, the service may read and write the rows of all tables of the schema. */
  readonly privileges?: Privileges;
}
