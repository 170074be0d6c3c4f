import type { EntitySchema, MigrationInterface } from 'typeorm';

/** Privileges of PostgreSQL roles, in the syntax between GRANT and TO. */
export interface Privileges {
  readonly service: readonly string[];
  /** Privileges for managing API keys with the command line. */
  readonly keys?: readonly string[];
}

/** Lists of an entity that `BatchedRepository.page` reads. */
export interface List {
  readonly entity: new () => object;
  /** Each combination of properties that may filter the list, also the empty one. */
  readonly filters: readonly (readonly string[])[];
  /** The property that orders the list. By default, the identifier orders it. */
  readonly orderBy?: string;
}

/** A context's schema in PostgreSQL, with its entities and migrations. */
export interface Persistence {
  readonly schema: string;
  readonly entities: readonly ((new () => object) | EntitySchema)[];
  /** In the order of their timestamps. A class name ends in its timestamp in ms (13 digits). */
  readonly migrations: readonly (new () => MigrationInterface)[];
  /** Set to false to keep the tables on one server when Citus distributes others (ADR 19). */
  readonly sharded?: boolean;
  /** Entities of a sharded context whose tables stay on one server, for example because a column is unique. */
  readonly unsharded?: readonly (new () => object)[];
  /** If an entity has lists, it has no others. Each needs an index on its filters in the entity's order, `orderBy` and `id`. */
  readonly lists?: readonly List[];
  /** By default, the service may read and write the rows of all tables in the schema. */
  readonly privileges?: Privileges;
}

/** A class with `@EventSubscription`. */
export type EventHandler = new (...dependencies: never[]) => object;

export interface Reaction {
  readonly type: string;
  readonly handle: (handler: object, payload: string) => Promise<unknown>;
  readonly isIgnored?: boolean;
}

/** Handles the events of its types, in order per aggregate, and each exactly once in effect. */
export interface Subscription {
  /** Unique in the deployment. It identifies the stored deliveries, so it never changes. */
  readonly name: string;
  readonly handler: EventHandler;
  readonly reactions: readonly Reaction[];
}

/** What a deployment has, in any of its processes. */
export interface Deployment {
  readonly persistence: readonly Persistence[];
  /** Only events of the types of these subscriptions are stored. */
  readonly subscriptions?: readonly Subscription[];
  /** Whether `migrateUp` distributes the tables of `sharded` contexts with Citus, if its extension exists (ADR 19). */
  readonly citus?: boolean;
}
