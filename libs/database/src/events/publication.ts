import type { EventDefinition } from '@animal-store/kernel';
import { escapeLiteral } from 'pg';
import type { Table } from '../table.js';

/** The parts of a statement that stores an event for each row that it inserts. */
export interface Publication {
  /** First word of the statement's name. */
  readonly verb: string;
  /** An array of `traceparent` values, with the column that it becomes. */
  readonly parameter: (index: number) => string;
  readonly column: string;
  /** @param source the FROM items with the inserted rows */
  readonly statement: (table: Table, source: string) => string;
}

export const NO_PUBLICATION: Publication = { verb: 'insert', parameter: () => '', column: '', statement: () => '' };

export function publicationOf(event: EventDefinition): Publication {
  return {
    verb: 'publish',
    parameter: (index) => `, $${String(index)}::text[]`,
    column: ', input_trace_parent',
    statement: (table, source) => `, published AS (
      INSERT INTO events.events (aggregatetype, aggregateid, type, payload, traceparent)
      SELECT ${escapeLiteral(event.aggregateType)}, ${table.id.name}::text, ${escapeLiteral(event.type)},
        jsonb_build_object(${membersOf(event, table).join(', ')}), input_trace_parent
      FROM ${source} ORDER BY input_ordinal
    )`,
  };
}

function membersOf({ type, aggregate, members }: EventDefinition, { id, columns }: Table): string[] {
  return Object.keys(members).map((member) => {
    const column = member === aggregate ? id : columns.find(({ property }) => property === member);
    if (!column) throw new Error(`The event ${type} has the member ${member}, but the inserted row has no such column.`);
    return `${escapeLiteral(member)}, ${column.name}`;
  });
}
