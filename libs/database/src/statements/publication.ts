import type { EventDefinition } from '@animal-store/kernel';
import { escapeLiteral } from 'pg';
import type { DataSource } from 'typeorm';
import type { Deployment } from '../persistence.js';
import type { Table } from './table.js';

/** Whether a release can have a subscription: not on Citus, and not without the tables of events. */
export function isPublishing({ persistence, citus = false }: Deployment): boolean {
  return !citus && persistence.some(({ schema }) => schema === 'events');
}

/** Adds new subscriptions and types. Only `ignores` removes types: another release may handle them. Call it before publishing. */
export async function registerSubscriptions(database: DataSource & { readonly settings: Deployment }): Promise<void> {
  for (const { name, reactions } of database.settings.subscriptions ?? []) {
    const typesOf = (isIgnored: boolean) => reactions.filter((each) => (each.isIgnored ?? false) === isIgnored).map(({ type }) => type);
    await database.query(
      `INSERT INTO events.subscriptions AS stored (name, types) VALUES ($1, $2)
       ON CONFLICT (name) DO UPDATE SET types = ARRAY(SELECT unnest(stored.types) UNION SELECT unnest(excluded.types) EXCEPT SELECT unnest($3::text[]))
       WHERE NOT stored.types @> excluded.types OR stored.types && $3::text[]`,
      [name, typesOf(false), typesOf(true)],
    );
  }
}

/** Returns an INSERT of an event for each subscription and each row of `matched`. */
export function publishStatement({ type, aggregateType, aggregate, members }: EventDefinition, table: Table): string {
  const payload = Object.keys(members).map((member) => {
    const column = member === aggregate ? table.id : table.columns.find(({ property }) => property === member);
    if (!column) throw new Error(`The event ${type} has the member ${member}, but the inserted row has no such column.`);
    return `${escapeLiteral(member)}, matched.${column.name}`;
  });
  return `
      INSERT INTO events.deliveries (subscription, aggregate_type, aggregate_id, type, payload)
      SELECT subscribed.name, ${escapeLiteral(aggregateType)}, ${table.id.name}::text, ${escapeLiteral(type)},
        jsonb_build_object(${payload.join(', ')})
      FROM matched CROSS JOIN (SELECT name FROM events.subscriptions WHERE ${escapeLiteral(type)} = ANY (types)) AS subscribed
      ORDER BY input_ordinal`;
}
