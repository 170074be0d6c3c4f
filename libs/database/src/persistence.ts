import type { DataSourceOptions } from 'typeorm';

type ListItem<T> = T extends readonly (infer Item)[] ? Item : never;
type Migration = Extract<ListItem<NonNullable<DataSourceOptions['migrations']>>, Function>;
type Entity = Extract<ListItem<NonNullable<DataSourceOptions['entities']>>, Function>;

/** What a context keeps in PostgreSQL: the schema that it alone owns, and what TypeORM has to know of it. */
export interface Persistence {
  readonly schema: string;
  readonly entities: readonly Entity[];
  /** In the order they are applied; a class name ends in its timestamp in ms (13 digits). */
  readonly migrations: readonly Migration[];
}
