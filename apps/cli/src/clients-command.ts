import { type Client, MAX_RATE_LIMIT } from '@animal-store/access-domain';
import type { AccessUseCases } from '@animal-store/access-infrastructure';
import type { Command } from 'commander';
import { withAccess } from './access.js';
import { integerParser } from './arguments.js';
import { jsonCommand, type JsonOption, type Terminal, toList } from './output.js';

const parseLimit = integerParser(0, MAX_RATE_LIMIT);

export function addClientsCommand(program: Command, terminal: Terminal): void {
  const clients = program.command('clients').description('Manage clients, which own the API keys.');
  const ofClient = (name: string, description: string) =>
    clients.command(name).description(description).argument('<name>', 'the name of the client');
  /** Prints what the database has stored. */
  const change = (work: (clients: AccessUseCases['manageClients']) => Promise<Client>, describe = describeState) =>
    withAccess(terminal, async ({ manageClients }) => {
      const client = await work(manageClients);
      return `The client ${client.name} ${describe(client)}.\n`;
    });

  jsonCommand(clients, 'list', 'List all clients.').action((options: JsonOption) =>
    withAccess(terminal, async ({ manageClients }) => {
      const found = await manageClients.list();
      const views = found.map(({ id, name, rateLimit, disabledAt }) => ({ id, name, rateLimit, disabledAt }));
      return toList('clients', views, options);
    }),
  );

  ofClient('disable', 'Disable a client. All processes of the service reject its keys within five seconds.').action((name: string) =>
    change((manage) => manage.disable(name)),
  );

  ofClient('enable', 'Enable a disabled client, so that its keys are accepted again.').action((name: string) =>
    change((manage) => manage.enable(name)),
  );

  ofClient('set-rate-limit', 'Set the rate limit of a client.')
    .argument('<limit>', 'requests per minute; 0 for no limit, "default" for RATE_LIMIT', (text) =>
      text === 'default' ? null : parseLimit(text),
    )
    .action((name: string, limit: number | null) =>
      change(
        (manage) => manage.setRateLimit(name, limit),
        ({ rateLimit }) => `has the rate limit ${String(rateLimit ?? 'default')}`,
      ),
    );
}

const describeState = ({ disabledAt }: Client): string => (disabledAt ? 'is disabled' : 'is enabled');
