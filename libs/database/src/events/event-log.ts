import { type DomainEvent, type EventDefinition } from '@animal-store/kernel';
import { isSpanContextValid, trace } from '@opentelemetry/api';
import type { EntityManager } from 'typeorm';
import { Database } from '../database.js';
import { CreateEvents1763683620000 } from '../migrations/1763683620000-create-events.js';
import type { Persistence } from '../persistence.js';

/** The log of events, and the positions of the subscriptions. */
export const eventsPersistence: Persistence = {
  schema: 'events',
  sharded: false,
  entities: [],
  migrations: [CreateEvents1763683620000],
};

/** Whether any subscription of the deployment handles the event. Others are not stored. */
export function isSubscribed(manager: EntityManager, { type }: EventDefinition): boolean {
  const { subscriptions = [] } = Database.of(manager).settings;
  return subscriptions.some(({ reactions }) => reactions.some((reaction) => reaction.type === type));
}

/**
 * Stores events in the transaction of `manager`. Call it after the row of the aggregate was written: the row's lock then gives the events of
 * concurrent transactions the same order as their writes.
 */
export async function appendEvents(manager: EntityManager, ...events: readonly DomainEvent[]): Promise<void> {
  if (!manager.queryRunner?.isTransactionActive) throw new Error('appendEvents requires the manager of a transaction.');
  for (const { definition, aggregateId, payload } of events) {
    if (!isSubscribed(manager, definition)) continue;
    await manager.query('INSERT INTO events.events (aggregatetype, aggregateid, type, payload, traceparent) VALUES ($1, $2, $3, $4, $5)', [
      definition.aggregateType,
      aggregateId,
      definition.type,
      payload.text,
      activeTraceParent(),
    ]);
  }
}

/** Returns the active span as a `traceparent` (W3C Trace Context), or undefined without tracing. */
export function activeTraceParent(): string | undefined {
  const span = trace.getActiveSpan()?.spanContext();
  if (!span || !isSpanContextValid(span)) return undefined;
  return `00-${span.traceId}-${span.spanId}-${span.traceFlags.toString(16).padStart(2, '0')}`;
}

/** Creates the subscriptions that do not exist yet, at the end of the log. Call it before the process publishes. */
export async function registerSubscriptions(database: Database): Promise<void> {
  for (const { name, reactions } of database.settings.subscriptions ?? []) {
    await database.query(
      `INSERT INTO events.subscriptions (name, types, position)
       SELECT $1::text, $2::text[], coalesce(max(position), 0) FROM events.events
       ON CONFLICT (name) DO UPDATE SET types = excluded.types WHERE subscriptions.types <> excluded.types`,
      [name, reactions.map(({ type }) => type)],
    );
  }
}
