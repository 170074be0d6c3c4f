import { eventStatus, type ParkedEvent, parkedEvents, retryParkedEvents, type SubscriptionStatus } from '@animal-store/database';
import { Command } from 'commander';
import type { DataSource } from 'typeorm';
import { parseEventId } from './arguments.js';
import { withDatabase, withDataSource } from './database.js';
import { CliError, oneLine } from './failure.js';
import { formatTime, toJson, toTable } from './output.js';
import type { Terminal } from './terminal.js';

interface Options {
  readonly json?: boolean;
  readonly event?: bigint;
}

export function eventsCommand(terminal: Terminal): Command {
  const run = (work: (dataSource: DataSource) => Promise<string>) =>
    withDatabase(terminal, async (database) => {
      terminal.stdout.write(await withDataSource(database, work));
    });
  const subcommand = (name: string, description: string) => new Command(name).description(description).option('--json', 'print JSON');

  return new Command('events')
    .description('Show subscriptions to events, and retry parked events.')
    .addCommand(
      subcommand('list', 'List subscriptions with their lag and the number of their parked events.').action(({ json }: Options) =>
        run(async (dataSource) => {
          const subscriptions = await eventStatus(dataSource);
          return json ? toJson(subscriptions) : showSubscriptions(subscriptions);
        }),
      ),
    )
    .addCommand(
      subcommand('parked', 'List the events that a subscription failed to handle, and those that wait behind them.').action(
        ({ json }: Options) =>
          run(async (dataSource) => {
            const events = await parkedEvents(dataSource);
            return json ? toJson(events) : showParked(events);
          }),
      ),
    )
    .addCommand(
      subcommand('retry', 'Retry parked events, before newer events of the same aggregates.')
        .argument('<subscription>', 'the name of the subscription')
        .option('--event <position>', 'only the aggregate of the parked event at this position', parseEventId)
        .action((subscription: string, { json, event }: Options) =>
          run(async (dataSource) => {
            const retried = await retryParkedEvents(dataSource, subscription, event);
            if (retried === 0) throw new CliError(`the subscription ${subscription} has no such parked event`);
            return json ? toJson({ retried }) : `${String(retried)} parked events are retried.\n`;
          }),
        ),
    );
}

function showSubscriptions(subscriptions: readonly SubscriptionStatus[]): string {
  if (subscriptions.length === 0) return 'No subscriptions.\n';
  return toTable(
    ['SUBSCRIPTION', 'POSITION', 'LAG', 'OLDEST', 'FAILURES', 'PARKED'],
    subscriptions.map(({ name, position, lag, lagSeconds, attempts, parked }) => [
      name,
      String(position),
      String(lag),
      lag === 0 ? '-' : `${String(Math.round(lagSeconds))} s`,
      String(attempts),
      String(parked),
    ]),
  );
}

function showParked(events: readonly ParkedEvent[]): string {
  if (events.length === 0) return 'No parked events.\n';
  return toTable(
    ['POSITION', 'SUBSCRIPTION', 'TYPE', 'AGGREGATE', 'OCCURRED', 'PARKED', 'ERROR'],
    events.map(({ position, subscription, type, aggregateId, occurredAt, parkedAt, error }) => [
      String(position),
      subscription,
      type,
      aggregateId,
      formatTime(occurredAt),
      formatTime(parkedAt),
      oneLine(error),
    ]),
  );
}
