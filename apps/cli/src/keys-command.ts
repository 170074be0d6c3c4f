import type { ListedApiKey } from '@animal-store/access-application';
import type { ApiKey, ApiKeySecret, AuditEvent } from '@animal-store/access-domain';
import type { Command } from 'commander';
import { printNewKey, withAccessUseCases } from './access.js';
import { integerParser, parseClientName, parseDuration, parseEnvironment, parseId, parseLifetime, parseScopes } from './arguments.js';
import { AS_KEYS, databaseUrl, loadScopes } from './database.js';
import { CliError, EXIT_USAGE } from './failure.js';
import { formatTime, jsonCommand, type JsonOption, type Terminal, toJson, toTable } from './output.js';

interface CreateOptions extends JsonOption {
  readonly client: string;
  readonly scope?: readonly string[];
  readonly expiresIn?: number;
  readonly environment?: string;
  readonly ifNone?: boolean;
}

const MAX_AUDIT_LIMIT = 10_000;

export function addKeysCommand(program: Command, terminal: Terminal): void {
  const keys = program.command('keys').description('Manage API keys.');

  jsonCommand(keys, 'create', 'Create an API key and print the key. The key cannot be shown again.')
    .requiredOption('--client <name>', 'name of the client that owns the key; created if it does not exist', parseClientName)
    .option('--scope <scopes>', 'scopes of the key, such as pets:read, separated by commas (default: all scopes)', parseScopes)
    .option('--expires-in <duration>', 'lifetime of the key, such as 90d (default: never expires)', parseLifetime)
    .option(
      '--environment <name>',
      'name of the environment, which the key contains (default: ENVIRONMENT if it is set, local if DATABASE_URL is not set, otherwise production)',
      parseEnvironment,
    )
    .option(
      '--rate-limit <n>',
      'requests per minute of the client with all its keys; 0 for no limit (default: unchanged, or RATE_LIMIT for a new client)',
    )
    .option('--if-none', 'create a key only if the client has no active key')
    .action(async ({ client, scope, expiresIn, environment, ifNone, json }: CreateOptions) => {
      const input = {
        clientName: client,
        scopes: await checkScopes(scope),
        environment:
          environment ??
          (terminal.env['ENVIRONMENT']?.trim() || (databaseUrl(terminal, AS_KEYS.variables) === undefined ? 'local' : 'production')),
        lifetimeMs: expiresIn,
      };
      await withAccessUseCases(
        terminal,
        async ({ manageApiKeys }) => {
          const keys = ifNone ? await manageApiKeys.list(client) : [];
          if (keys.some(({ state }) => state === 'active' || state === 'disabled'))
            return json ? toJson({ created: false, client }) : `The client ${client} already has an active key; no key was created.\n`;
          const { key, secret } = await manageApiKeys.create(input);
          await printNewKey(terminal, key, json ? toJson({ created: true, ...keyView(key), key: secret }) : showNewKey(key, secret));
          return undefined;
        },
        { migrate: true },
      );
    });

  jsonCommand(keys, 'list', 'List keys, without their secrets.')
    .option('--client <name>', 'only keys of this client')
    .action(({ client, json }: JsonOption & { client?: string }) =>
      withAccessUseCases(terminal, async ({ manageApiKeys }) => {
        const keys = await manageApiKeys.list(client);
        return json ? toJson(keys.map(({ key, state }) => ({ ...keyView(key), state }))) : showKeys(keys);
      }),
    );

  jsonCommand(keys, 'rotate', 'Replace a key by a new one with the same client and scopes. The old key expires after an overlap.')
    .argument('<id>', 'id of the key', parseId)
    .option('--overlap <duration>', 'how long the old key remains valid; with 0s, it expires immediately (default: 24h)', parseDuration)
    .action((id: bigint, { overlap, json }: JsonOption & { overlap?: number }) =>
      withAccessUseCases(terminal, async ({ manageApiKeys }) => {
        const { key, secret, retired } = await manageApiKeys.rotate(id, overlap);
        const text = json
          ? toJson({ ...keyView(key), key: secret, retired: keyView(retired) })
          : `${showNewKey(key, secret)}Key ${nameOf(retired)} expires ${expiryOf(retired)}.\n`;
        await printNewKey(terminal, key, text);
        return undefined;
      }),
    );

  jsonCommand(keys, 'revoke', 'Revoke a key. All processes of the service reject it within five seconds.')
    .argument('<id>', 'id of the key', parseId)
    .action((id: bigint, { json }: JsonOption) =>
      withAccessUseCases(terminal, async ({ manageApiKeys }) => {
        const key = await manageApiKeys.revoke(id);
        if (json) return toJson(keyView(key));
        return `Key ${nameOf(key)} of the client ${key.client.name} was revoked at ${formatTime(key.revokedAt)}.\n`;
      }),
    );

  jsonCommand(keys, 'audit', 'List changes to keys and clients and who made them, newest first.')
    .option('--limit <n>', 'maximum number of changes (default: 50)', integerParser(1, MAX_AUDIT_LIMIT))
    .action(({ limit, json }: JsonOption & { limit?: number }) =>
      withAccessUseCases(terminal, async ({ manageApiKeys }) => {
        const events = await manageApiKeys.listAudit(limit);
        return json ? toJson(events.map(eventView)) : showEvents(events);
      }),
    );
}

/** Returns the scopes of a new key, by default all. Throws for a scope that no context has. */
async function checkScopes(requested: readonly string[] | undefined): Promise<readonly string[]> {
  const known = await loadScopes();
  const unknown = requested?.filter((scope) => !known.includes(scope)) ?? [];
  if (unknown.length === 0) return requested ?? known;
  throw new CliError(`unknown scope ${unknown.join(', ')}; the known scopes are ${known.join(', ')}`, EXIT_USAGE);
}

function keyView({ id, prefix, client, scopes, createdAt, expiresAt, revokedAt, lastUsedAt }: ApiKey) {
  return { id, prefix, client: client.name, scopes, createdAt, expiresAt, revokedAt, lastUsedAt };
}

function showNewKey(key: ApiKey, secret: ApiKeySecret): string {
  const note = key.client.disabledAt ? '\nThe client is disabled: the key is rejected until the client is enabled.\n' : '';
  return `Key ${String(key.id)} of the client ${key.client.name}, scopes ${key.scopes.join(' ')}, expires ${expiryOf(key)}:

${secret}

Store it now: it cannot be shown again. Only its SHA-256 hash is stored.
${note}`;
}

function showKeys(keys: readonly ListedApiKey[]): string {
  return toTable('keys', keys, {
    ID: ({ key }) => String(key.id),
    PREFIX: ({ key }) => key.prefix,
    CLIENT: ({ key }) => key.client.name,
    STATE: ({ state }) => state,
    EXPIRES: ({ key }) => formatTime(key.expiresAt),
    'LAST USED': ({ key }) => formatTime(key.lastUsedAt),
    SCOPES: ({ key }) => key.scopes.join(' '),
  });
}

function eventView({ id, occurredAt, operator, databaseRole, action, clientId, clientName, keyId, keyPrefix, details }: AuditEvent) {
  return { id, occurredAt, operator, databaseRole, action, clientId, client: clientName, keyId, keyPrefix, details };
}

function showEvents(events: readonly AuditEvent[]): string {
  return toTable('changes', events, {
    ID: ({ id }) => String(id),
    TIME: ({ occurredAt }) => formatTime(occurredAt),
    OPERATOR: ({ operator }) => operator,
    'DATABASE ROLE': ({ databaseRole }) => databaseRole,
    ACTION: ({ action }) => action,
    CLIENT: ({ clientName }) => clientName,
    KEY: ({ keyId, keyPrefix }) => (keyId === null ? '-' : `${String(keyId)} (${keyPrefix ?? ''})`),
    DETAILS: ({ details }) =>
      Object.entries(details)
        .map(([name, value]) => `${name}=${String(value)}`)
        .join(' ') || '-',
  });
}

function nameOf(key: ApiKey): string {
  return `${String(key.id)} (${key.prefix})`;
}

function expiryOf(key: ApiKey): string {
  return key.expiresAt ? formatTime(key.expiresAt) : 'never';
}
