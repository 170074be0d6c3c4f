import { eventStatus, forgetSubscription, parkedEvents, retryParkedEvents } from '@animal-store/database';
import type { Command } from 'commander';
import type { DataSource } from 'typeorm';
import { parseId } from './arguments.js';
import { AS_SERVICE, withDatabase, withDataSource } from './database.js';
import { CliError, oneLine } from './failure.js';
import { type Columns, formatTime, jsonCommand, type JsonOption, type Terminal, toJson, toTable } from './output.js';

export function addEventsCommand(program: Command, terminal: Terminal): void {
  const events = program.command('events').description('Show subscriptions to events, and retry parked events.');
  const run = async (work: (dataSource: DataSource) => Promise<string>) => {
    await terminal.stdout(await withDatabase(terminal, AS_SERVICE, (database) => withDataSource(database, work)));
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
        return json ? toJson(rows) : toTable(items, rows, columns);
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

  events
    .command('retry')
    .description('Retry parked events, before newer events of the same aggregates.')
    .argument('<subscription>', 'the name of the subscription')
    .option('--event <position>', 'retry only the events of the same aggregate as the event at this position', parseId)
    .action((subscription: string, { event }: { readonly event?: bigint }) =>
      run(async (dataSource) => {
        const retried = await retryParkedEvents(dataSource, subscription, event);
        if (retried === 0) throw new CliError(`the subscription ${subscription} has no such parked event`);
        return `${String(retried)} parked events are retried.\n`;
      }),
    );

  events
    .command('forget')
    .description(
      'Remove a subscription that no release has any more, or remove one type of events from a subscription. The events are not handled.',
    )
    .argument('<subscription>', 'the name of the subscription')
    .option('--type <type>', 'remove only this type of events, including the parked events of this type')
    .action((subscription: string, { type }: { readonly type?: string }) =>
      run(async (dataSource) => {
        const name = type === undefined ? `subscription ${subscription}` : `type ${type} in the subscription ${subscription}`;
        if (!(await forgetSubscription(dataSource, subscription, type))) throw new CliError(`there is no ${name}`);
        return `The ${name} is forgotten.\n`;
      }),
    );
}
