import { eventStatus, forgetSubscription, parkedEvents, retryParkedEvents } from '@animal-store/database';
import type { Command } from 'commander';
import type { DataSource } from 'typeorm';
import { parseEventId } from './arguments.js';
import { AS_SERVICE, withDatabase, withDataSource } from './database.js';
import { CliError, oneLine } from './failure.js';
import { type Columns, addCommand, formatTime, jsonCommand, type JsonOption, toJson, toTable } from './output.js';
import type { Terminal } from './terminal.js';

interface Options extends JsonOption {
  readonly event?: bigint;
  readonly type?: string;
}

export function addEventsCommand(program: Command, terminal: Terminal): void {
  const events = addCommand(program, 'events', 'Show subscriptions to events, and retry parked events.', 'list');
  const run = async (work: (dataSource: DataSource) => Promise<string>) => {
    terminal.stdout.write(await withDatabase(terminal, AS_SERVICE, (database) => withDataSource(database, work)));
  };
  const list = <Row>(
    name: string,
    description: string,
    items: string,
    read: (dataSource: DataSource) => Promise<Row[]>,
    columns: Columns<Row>,
  ) =>
    jsonCommand(events, name, description).action(({ json }: JsonOption) =>
      run(async (dataSource) => {
        const rows = await read(dataSource);
        return json ? toJson(rows) : toTable(terminal.stdout, items, rows, columns);
      }),
    );

  list('list', 'List subscriptions with their lag and the number of their parked events.', 'subscriptions', eventStatus, {
    SUBSCRIPTION: ({ name }) => name,
    LAG: ({ lag }) => String(lag),
    OLDEST: ({ lag, lagSeconds }) => (lag === 0 ? '-' : `${String(Math.round(lagSeconds))} s`),
    FAILURES: ({ attempts }) => String(attempts),
    PARKED: ({ parked }) => String(parked),
  });

  list(
    'parked',
    'List the events that a subscription failed to handle, and the later events of the same aggregates.',
    'parked events',
    parkedEvents,
    {
      POSITION: ({ position }) => String(position),
      SUBSCRIPTION: ({ subscription }) => subscription,
      TYPE: ({ type }) => type,
      AGGREGATE: ({ aggregateId }) => aggregateId,
      OCCURRED: ({ occurredAt }) => formatTime(occurredAt),
      PARKED: ({ parkedAt }) => formatTime(parkedAt),
      ERROR: ({ error }) => oneLine(error),
    },
  );

  jsonCommand(events, 'retry', 'Retry parked events, before newer events of the same aggregates.', 'pets-follow-orders')
    .argument('<subscription>', 'the name of the subscription')
    .option('--event <position>', 'retry only the events of the same aggregate as the event at this position', parseEventId)
    .action((subscription: string, { json, event }: Options) =>
      run(async (dataSource) => {
        const retried = await retryParkedEvents(dataSource, subscription, event);
        if (retried === 0) throw new CliError(`the subscription ${subscription} has no such parked event`);
        return json ? toJson({ retried }) : `${String(retried)} parked events are retried.\n`;
      }),
    );

  jsonCommand(
    events,
    'forget',
    'Remove a subscription that no release has any more, or remove one type of events from a subscription. The events are not handled.',
    'pets-follow-orders',
  )
    .argument('<subscription>', 'the name of the subscription')
    .option('--type <type>', 'remove only this type of events, including the parked events of this type')
    .action((subscription: string, { json, type }: Options) =>
      run(async (dataSource) => {
        const name = type === undefined ? `subscription ${subscription}` : `type ${type} in the subscription ${subscription}`;
        if (!(await forgetSubscription(dataSource, subscription, type))) throw new CliError(`there is no ${name}`);
        return json ? toJson({ forgotten: { subscription, ...(type !== undefined && { type }) } }) : `The ${name} is forgotten.\n`;
      }),
    );
}
