import type { DomainEvent, EventDefinition } from '@animal-store/kernel';
import type { EntityManager } from 'typeorm';
import { Database } from '../database.js';
import { CreateEvents1763683620000 } from './1763683620000-create-events.js';
import type { Persistence, Reaction, Subscription } from '../persistence.js';
import { isPublishing } from '../statements/publication.js';

/** The subscriptions, and a row for each event that one of them has not handled yet. */
export const eventsPersistence: Persistence = {
  schema: 'events',
  sharded: false,
  entities: [],
  migrations: [CreateEvents1763683620000],
};

/**
 * Stores events for their subscriptions in the transaction of `manager`. Call it after the row of the aggregate was written: the row's lock
 * then gives the events of concurrent transactions the same order as their writes.
 */
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

/**
 * Reacts to an event. `create` returns the use case with adapters on `manager`, so that its writes commit together with the end of
 * the delivery.
 */
export function on<Payload extends object>(
  event: EventDefinition<Payload>,
  create: (manager: EntityManager) => { execute(event: Payload): Promise<unknown> },
): Reaction {
  return { type: event.type, handle: async (manager, payload) => create(manager).execute(event.parse(payload)) };
}

/** Replaces a reaction in the release that removes it. The release after that one no longer needs it. */
export function ignore({ type }: EventDefinition): Reaction {
  return { type, handle: () => Promise.resolve(), isIgnored: true };
}

/** Declares a subscription. Events whose order matters, such as `placed` and `cancelled`, belong in the same one. */
export function subscribe(name: string, ...reactions: Reaction[]): Subscription {
  return { name, reactions };
}
