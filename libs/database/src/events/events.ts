import type { DomainEvent } from '@animal-store/kernel';
import type { EntityManager } from 'typeorm';
import { Database } from '../database.js';
import { CreateEvents1763683620000 } from './1763683620000-create-events.js';
import type { Persistence } from '../persistence.js';
import { isPublishing } from '../statements/publication.js';

/** The subscriptions, and a row for each event that one of them has not handled yet. */
export const eventsPersistence: Persistence = {
  schema: 'events',
  sharded: false,
  entities: [],
  migrations: [CreateEvents1763683620000],
};

/** Stores events in the transaction of `manager`. Call it after the aggregate's row was written: its lock orders them like the writes. */
export async function appendEvents(manager: EntityManager, ...events: readonly DomainEvent[]): Promise<void> {
  if (!manager.queryRunner?.isTransactionActive) throw new Error('appendEvents requires the manager of a transaction.');
  if (!isPublishing(Database.of(manager).settings)) return;
  for (const { definition, aggregateId, payload } of events)
    await manager.query(
      `INSERT INTO events.deliveries (subscription, aggregate_type, aggregate_id, type, payload)
       SELECT name, $1, $2, $3, $4::jsonb FROM events.subscriptions WHERE $3 = ANY (types)`,
      [definition.aggregateType, aggregateId, definition.type, payload.text],
    );
}
