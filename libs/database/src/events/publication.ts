import type { EventDefinition } from '@animal-store/kernel';
import { escapeLiteral } from 'pg';
import type { Table } from '../table.js';

/** The column that publishing statements take in addition to those of the row. */
export const TRACE_PARENT = { name: 'input_trace_parent', type: 'text' };

/** Returns a CTE that stores an event for each row of the FROM items `source`. */
export function publishStatement({ type, aggregateType, aggregate, members }: EventDefinition, table: Table, source: string): string {
  const payload = Object.keys(members).map((member) => {
    const column = member === aggregate ? table.id : table.columns.find(({ property }) => property === member);
    if (!column) throw new Error(`The event ${type} has the member ${member}, but the inserted row has no such column.`);
    return `${escapeLiteral(member)}, ${column.name}`;
  });
  return `, published AS (
      INSERT INTO events.events (aggregatetype, aggregateid, type, payload, traceparent)
      SELECT ${escapeLiteral(aggregateType)}, ${table.id.name}::text, ${escapeLiteral(type)},
        jsonb_build_object(${payload.join(', ')}), ${TRACE_PARENT.name}
      FROM ${source} ORDER BY input_ordinal
    )`;
}
