import type { EventDefinition } from '@animal-store/kernel';
import { isSpanContextValid, trace } from '@opentelemetry/api';
import { escapeLiteral } from 'pg';
import type { Persistence, Subscription } from '../persistence.js';
import type { Table } from './table.js';

/** The column that publishing statements take in addition to those of the row. */
export const TRACE_PARENT = { name: 'input_trace_parent', type: 'text' };

/** An event that is stored if a subscription handles it. */
export interface Publication {
  readonly definition: EventDefinition;
  /** Whether the event is stored, in SQL. */
  readonly condition: string;
}

export interface PublicationSettings {
  readonly subscriptions?: readonly Subscription[];
  readonly persistence: readonly Persistence[];
  readonly citus?: boolean;
}

/** Returns undefined if no release can have a subscription to the event: on Citus, and without the tables of the log. */
export function publicationOf(
  { subscriptions = [], persistence, citus }: PublicationSettings,
  definition: EventDefinition,
): Publication | undefined {
  const { type } = definition;
  const reactions = subscriptions.flatMap((subscription) => subscription.reactions);
  if (reactions.some((reaction) => reaction.type === type && !reaction.isIgnored)) return { definition, condition: 'true' };
  if (citus || !persistence.some(({ schema }) => schema === 'events')) return undefined;
  return { definition, condition: `EXISTS (SELECT FROM events.subscriptions WHERE ${escapeLiteral(type)} = ANY (types))` };
}

/** Returns an INSERT of an event for each row of `stored`. */
export function publishStatement({ definition, condition }: Publication, table: Table): string {
  const { type, aggregateType, aggregate, members } = definition;
  const payload = Object.keys(members).map((member) => {
    const column = member === aggregate ? table.id : table.columns.find(({ property }) => property === member);
    if (!column) throw new Error(`The event ${type} has the member ${member}, but the inserted row has no such column.`);
    return `${escapeLiteral(member)}, stored.${column.name}`;
  });
  return `
      INSERT INTO events.events (aggregatetype, aggregateid, type, payload, traceparent)
      SELECT ${escapeLiteral(aggregateType)}, stored.${table.id.name}::text, ${escapeLiteral(type)},
        jsonb_build_object(${payload.join(', ')}), ${TRACE_PARENT.name}
      FROM stored JOIN given ON given.${table.id.name} = stored.${table.id.name} WHERE ${condition} ORDER BY input_ordinal`;
}

/** Returns the active span as a `traceparent` (W3C Trace Context), or undefined without tracing. */
export function activeTraceParent(): string | undefined {
  const span = trace.getActiveSpan()?.spanContext();
  if (!span || !isSpanContextValid(span)) return undefined;
  return `00-${span.traceId}-${span.spanId}-${span.traceFlags.toString(16).padStart(2, '0')}`;
}
