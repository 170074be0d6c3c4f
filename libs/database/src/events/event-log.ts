import { type DomainEvent, type EventDefinition } from '@animal-store/kernel';
import { isSpanContextValid, trace } from '@opentelemetry/api';
import type { DataSource, EntityManager } from 'typeorm';
import { subscriptionsOf } from '../data-source.js';
import { CreateEvents1763683620000 } from '../migrations/1763683620000-create-events.js';
import type { Persistence } from '../persistence.js';
import { typesOf } from './subscription.js';

/** The log of events, and the positions of the subscriptions. */
export const eventsPersistence: Persistence = {
  schema: 'events',
  sharded: false,
  entities: [],
  migrations: [CreateEvents1763683620000],
};

/** Whether any subscription of the deployment handles the event. Others are not stored. */
export function isSubscribed(dataSource: DataSource, { type }: EventDefinition): boolean {
  return subscriptionsOf(dataSource).some((subscription) => typesOf(subscription).includes(type));
}

/**
 * Stores events in the transaction of `manager`. Call it after the row of the aggregate was written: the row's lock then gives the events of
 * concurrent transactions the same order as their writes.
 */
export async function appendEvents(manager: EntityManager, ...events: readonly DomainEvent[]): Promise<void> {
  if (!manager.queryRunner?.isTransactionActive) throw new Error('appendEvents requires the manager of a transaction.');
  const stored = events.filter(({ definition }) => isSubscribed(manager.dataSource, definition));
  if (stored.length === 0) return;
  await manager.query(
    `INSERT INTO events.events (aggregatetype, aggregateid, type, payload, traceparent)
     SELECT given.*, $5 FROM unnest($1::text[], $2::text[], $3::text[], $4::jsonb[]) AS given`,
    [
      stored.map(({ definition }) => definition.aggregateType),
      stored.map(({ aggregateId }) => aggregateId),
      stored.map(({ definition }) => definition.type),
      stored.map(({ payload }) => payload.text),
      activeTraceParent(),
    ],
  );
}

/** Returns the active span as a `traceparent` (W3C Trace Context), or undefined without tracing. */
export function activeTraceParent(): string | undefined {
  const span = trace.getActiveSpan()?.spanContext();
  if (!span || !isSpanContextValid(span)) return undefined;
  return `00-${span.traceId}-${span.spanId}-${span.traceFlags.toString(16).padStart(2, '0')}`;
}

/** Creates the subscriptions that do not exist yet, at the end of the log. Call it before the process publishes. */
export async function registerSubscriptions(dataSource: DataSource): Promise<void> {
  for (const subscription of subscriptionsOf(dataSource)) {
    await dataSource.query(
      `INSERT INTO events.subscriptions (name, types, position)
       SELECT $1::text, $2::text[], coalesce(max(position), 0) FROM events.events
       ON CONFLICT (name) DO UPDATE SET types = excluded.types WHERE subscriptions.types <> excluded.types`,
      [subscription.name, typesOf(subscription)],
    );
  }
}
