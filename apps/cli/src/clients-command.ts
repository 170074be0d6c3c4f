import type { Client } from '@animal-store/access-domain';
import type { ConnectedAccessUseCases } from '@animal-store/access-infrastructure';
import type { Command } from 'commander';
import { withAccessUseCases } from './access.js';
import { parseRateLimit } from './arguments.js';
import { formatTime, jsonCommand, type JsonOption, type Terminal, toJson, toTable } from './output.js';

export function addClientsCommand(program: Command, terminal: Terminal): void {
  const clients = program.command('clients').description('Manage clients, which own the API keys.');
  const ofClient = (name: string, description: string) =>
    clients.command(name).description(description).argument('<name>', 'the name of the client');
  const change = (work: (access: ConnectedAccessUseCases) => Promise<Client>, text: string) =>
    withAccessUseCases(terminal, async (access) => `The client ${(await work(access)).name} ${text}\n`);

  jsonCommand(clients, 'list', 'List all clients.').action(({ json }: JsonOption) =>
    withAccessUseCases(terminal, async ({ manageClients }) => {
      const found = await manageClients.list();
      return json ? toJson(found.map(clientView)) : showClients(found);
    }),
  );

  ofClient('disable', 'Disable a client. All processes of the service reject its keys within five seconds.').action((name: string) =>
    change(({ manageClients }) => manageClients.disable(name), 'is disabled.'),
  );

  ofClient('enable', 'Enable a disabled client, so that its keys are accepted again.').action((name: string) =>
    change(({ manageClients }) => manageClients.enable(name), 'is enabled.'),
  );

  ofClient('set-rate-limit', 'Set the rate limit of a client.')
    .argument('<limit>', 'requests per minute; 0 for no limit, "default" for RATE_LIMIT', parseRateLimit)
    .action((name: string, limit: number | 'default') => {
      const rateLimit = limit === 'default' ? null : limit;
      return change(({ manageClients }) => manageClients.setRateLimit(name, rateLimit), `${describeLimit(rateLimit)}.`);
    });
}

function clientView({ id, name, rateLimit, disabledAt }: Client) {
  return { id, name, state: stateOf(disabledAt), rateLimit, disabledAt };
}

function showClients(clients: readonly Client[]): string {
  return toTable('clients', clients, {
    ID: ({ id }) => String(id),
    NAME: ({ name }) => name,
    STATE: ({ disabledAt }) => stateOf(disabledAt),
    'RATE LIMIT': ({ rateLimit }) => String(rateLimit ?? 'default'),
    DISABLED: ({ disabledAt }) => formatTime(disabledAt),
  });
}

function stateOf(disabledAt: Date | null): 'enabled' | 'disabled' {
  return disabledAt ? 'disabled' : 'enabled';
}

function describeLimit(rateLimit: number | null): string {
  if (rateLimit === null) return 'has the default rate limit';
  return rateLimit === 0 ? 'has no rate limit' : `may send ${String(rateLimit)} requests per minute`;
}
