import type { DomainEvent } from '@animal-store/kernel';
import type { EntityManager } from 'typeorm';
import { Database } from '../database.js';
import { CreateEvents1763683620000 } from './1763683620000-create-events.js';
import type { Persistence } from '../persistence.js';
import { activeTraceParent, publicationOf } from '../statements/publication.js';

/** The log of events, and the positions of the subscriptions. */
export const eventsPersistence: Persistence = {
  schema: 'events',
  sharded: false,
  entities: [],
  migrations: [CreateEvents1763683620000],
};

/**
 * Stores events in the transaction of `manager`. Call it after the row of the aggregate was written: the row's lock then gives the events of
 * concurrent transactions the same order as their writes.
 */
export async function appendEvents(manager: EntityManager, ...events: readonly DomainEvent[]): Promise<void> {
  if (!manager.queryRunner?.isTransactionActive) throw new Error('appendEvents requires the manager of a transaction.');
  for (const { definition, aggregateId, payload } of events) {
    const publication = publicationOf(Database.of(manager).settings, definition);
    if (!publication) continue;
    await manager.query(
      `INSERT INTO events.events (aggregatetype, aggregateid, type, payload, traceparent)
       SELECT $1, $2, $3, $4::jsonb, $5 WHERE ${publication.condition}`,
      [definition.aggregateType, aggregateId, definition.type, payload.text, activeTraceParent()],
    );
  }
}

/**
 * Creates the subscriptions that do not exist yet, at the end of the log, and adds new types to the others. Types are only removed by
 * `ignore`, because another release may handle them. Call it before the process publishes.
 */
export async function registerSubscriptions(database: Database): Promise<void> {
  for (const { name, reactions } of database.settings.subscriptions ?? []) {
    const typesOf = (isIgnored: boolean) => reactions.filter((each) => (each.isIgnored ?? false) === isIgnored).map(({ type }) => type);
    await database.query(
      `INSERT INTO events.subscriptions AS stored (name, types, position)
       SELECT $1::text, $2::text[], coalesce(max(position), 0) FROM events.events
       ON CONFLICT (name) DO UPDATE SET types = ARRAY(SELECT unnest(stored.types) UNION SELECT unnest(excluded.types) EXCEPT SELECT unnest($3::text[]))
       WHERE NOT stored.types @> excluded.types OR stored.types && $3::text[]`,
      [name, typesOf(false), typesOf(true)],
    );
  }
}
