import type { Client } from '@animal-store/access-domain';
import type { ConnectedAccessUseCases } from '@animal-store/access-infrastructure';
import { Argument, type Command } from 'commander';
import { withAccessUseCases } from './access.js';
import { parseRateLimitOrDefault } from './arguments.js';
import { addCommand, formatTime, jsonCommand, type JsonOption, toJson, toTable } from './output.js';
import type { Terminal } from './terminal.js';

export function addClientsCommand(program: Command, terminal: Terminal): void {
  const clients = addCommand(program, 'clients', 'Manage clients, which own the API keys.', 'list');
  const ofClient = (name: string, description: string, example = 'my-app') =>
    jsonCommand(clients, name, description, example).argument('<name>', 'the name of the client');
  const change = (work: (access: ConnectedAccessUseCases) => Promise<Client>, { json }: JsonOption, text: string) =>
    withAccessUseCases(terminal, async (access) => {
      const client = await work(access);
      return json ? toJson(clientView(client)) : `The client ${client.name} ${text}\n`;
    });

  jsonCommand(clients, 'list', 'List all clients.').action(({ json }: JsonOption) =>
    withAccessUseCases(terminal, async ({ manageClients }) => {
      const found = await manageClients.list();
      return json ? toJson(found.map(clientView)) : showClients(terminal, found);
    }),
  );

  ofClient('disable', 'Disable a client. All processes of the service reject its keys within five seconds.').action(
    (name: string, options: JsonOption) => change(({ manageClients }) => manageClients.disable(name), options, 'is disabled.'),
  );

  ofClient('enable', 'Enable a disabled client, so that its keys are accepted again.').action((name: string, options: JsonOption) =>
    change(({ manageClients }) => manageClients.enable(name), options, 'is enabled.'),
  );

  ofClient('set-rate-limit', 'Set the rate limit of a client.', 'my-app 600')
    .addArgument(
      new Argument('<limit>', 'requests per minute; 0 for no limit, "default" for RATE_LIMIT').argParser(parseRateLimitOrDefault),
    )
    .action((name: string, limit: number | 'default', options: JsonOption) => {
      const rateLimit = limit === 'default' ? undefined : limit;
      return change(({ manageClients }) => manageClients.setRateLimit(name, rateLimit), options, `${describeLimit(rateLimit)}.`);
    });
}

function clientView({ id, name, rateLimit, disabledAt }: Client) {
  return { id, name, state: stateOf(disabledAt), rateLimit, disabledAt };
}

function showClients({ stdout }: Terminal, clients: readonly Client[]): string {
  return toTable(stdout, 'clients', clients, {
    ID: ({ id }) => String(id),
    NAME: ({ name }) => name,
    STATE: ({ disabledAt }) => stateOf(disabledAt),
    'RATE LIMIT': ({ rateLimit }) => String(rateLimit ?? 'default'),
    DISABLED: ({ disabledAt }) => formatTime(disabledAt),
  });
}

function stateOf(disabledAt: Date | undefined): 'enabled' | 'disabled' {
  return disabledAt ? 'disabled' : 'enabled';
}

function describeLimit(rateLimit: number | undefined): string {
  if (rateLimit === undefined) return 'has the default rate limit';
  return rateLimit === 0 ? 'has no rate limit' : `may send ${String(rateLimit)} requests per minute`;
}
