import { type Database, eventStatus, forgetSubscription, parkedEvents, retryParkedEvents } from '@animal-store/database';
import type { Command } from 'commander';
import { AS_SERVICE, withDatabase } from './database.js';
import { CliError } from './failure.js';
import { jsonCommand, type JsonOption, type Terminal, toList } from './output.js';

export function addEventsCommand(program: Command, terminal: Terminal): void {
  const events = program.command('events').description('Show subscriptions to events, and retry parked events.');
  const run = async (work: (database: Database) => Promise<string>) => terminal.stdout(await withDatabase(terminal, AS_SERVICE, work));

  jsonCommand(events, 'list', 'List subscriptions with their lag and the number of their parked events.').action((options: JsonOption) =>
    run(async (database) => toList('subscriptions', await eventStatus(database), options)),
  );

  jsonCommand(
    events,
    'parked',
    'List the events that a subscription failed to handle, and the later events of the same aggregates.',
  ).action((options: JsonOption) => run(async (database) => toList('parked events', await parkedEvents(database), options)));

  events
    .command('retry')
    .description('Retry parked events, before newer events of the same aggregates.')
    .argument('<subscription>', 'the name of the subscription')
    .action((subscription: string) =>
      run(async (database) => {
        const retried = await retryParkedEvents(database, subscription);
        if (retried === 0) throw new CliError(`the subscription ${subscription} has no parked event`);
        return `${String(retried)} parked events are retried.\n`;
      }),
    );

  events
    .command('forget')
    .description('Remove a subscription that no release has any more. Its events are not handled.')
    .argument('<subscription>', 'the name of the subscription')
    .action((subscription: string) =>
      run(async (database) => {
        if (!(await forgetSubscription(database, subscription))) throw new CliError(`there is no subscription ${subscription}`);
        return `The subscription ${subscription} is forgotten.\n`;
      }),
    );
}
