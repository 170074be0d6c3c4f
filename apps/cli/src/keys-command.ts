import type { ApiKey, ApiKeySecret, AuditEvent } from '@animal-store/access-domain';
import type { Command } from 'commander';
import { withAccess } from './access.js';
import { integerParser, parseClientName, parseDuration, parseId, parseScopes } from './arguments.js';
import { loadScopes } from './database.js';
import { CliError, EXIT_USAGE, reasonOf } from './failure.js';
import { formatTime, jsonCommand, type JsonOption, type Terminal, toJson, toList } from './output.js';

interface CreateOptions extends JsonOption {
  readonly client: string;
  readonly scope?: readonly string[];
  readonly expiresIn?: number;
  readonly ifNone?: boolean;
}

const MAX_AUDIT_LIMIT = 10_000;

export function addKeysCommand(program: Command, terminal: Terminal): void {
  const keys = program.command('keys').description('Manage API keys.');

  jsonCommand(keys, 'create', 'Create an API key for ENVIRONMENT, and print the key. The key cannot be shown again.')
    .requiredOption('--client <name>', 'name of the client that owns the key; created if it does not exist', parseClientName)
    .option('--scope <scopes>', 'scopes of the key, such as pets:read, separated by commas (default: all scopes)', parseScopes)
    .option('--expires-in <duration>', 'lifetime of the key, such as 90d (default: never expires)', parseDuration)
    .option('--if-none', 'create a key only if the client has no active key')
    .action(async ({ client, scope, expiresIn, ifNone, json }: CreateOptions) => {
      const scopes = await checkScopes(scope);
      await withAccess(terminal, async ({ manageApiKeys }, isLocal) => {
        const existing = ifNone ? await manageApiKeys.list(client) : [];
        if (existing.some(({ state }) => state === 'active' || state === 'disabled'))
          return json ? toJson({ created: false, client }) : `The client ${client} already has an active key; no key was created.\n`;
        const environment = terminal.env['ENVIRONMENT']?.trim() || (isLocal ? 'local' : 'production');
        const { key, secret } = await manageApiKeys.create({ clientName: client, scopes, environment, lifetimeMs: expiresIn });
        await printNewKey(terminal, key, json ? toJson({ created: true, ...viewOf(key), key: secret }) : describeNewKey(key, secret));
        return undefined;
      });
    });

  jsonCommand(keys, 'list', 'List keys, without their secrets.')
    .option('--client <name>', 'only keys of this client')
    .action(({ client, ...options }: JsonOption & { client?: string }) =>
      withAccess(terminal, async ({ manageApiKeys }) => {
        const found = await manageApiKeys.list(client);
        const views = found.map(({ key, state }) => ({ ...viewOf(key), state }));
        return toList('keys', views, options);
      }),
    );

  jsonCommand(keys, 'rotate', 'Replace a key by a new one with the same client and scopes. The old key expires after an overlap.')
    .argument('<id>', 'id of the key', parseId)
    .option('--overlap <duration>', 'how long the old key remains valid; with 0s, it expires immediately (default: 24h)', parseDuration)
    .action((id: bigint, { overlap, json }: JsonOption & { overlap?: number }) =>
      withAccess(terminal, async ({ manageApiKeys }) => {
        const { key, secret, retired } = await manageApiKeys.rotate(id, overlap);
        const text = json
          ? toJson({ ...viewOf(key), key: secret, retired: viewOf(retired) })
          : `${describeNewKey(key, secret)}Key ${String(retired.id)} (${retired.prefix}) expires ${expiryOf(retired)}.\n`;
        await printNewKey(terminal, key, text);
        return undefined;
      }),
    );

  keys
    .command('revoke')
    .description('Revoke a key. All processes of the service reject it within five seconds.')
    .argument('<id>', 'id of the key', parseId)
    .action((id: bigint) =>
      withAccess(terminal, async ({ manageApiKeys }) => {
        const { client, prefix } = await manageApiKeys.revoke(id);
        return `Key ${String(id)} (${prefix}) of the client ${client.name} is revoked.\n`;
      }),
    );

  jsonCommand(keys, 'audit', 'List changes to keys and clients and who made them, newest first.')
    .option('--limit <n>', 'maximum number of changes (default: 50)', integerParser(1, MAX_AUDIT_LIMIT))
    .action(({ limit, ...options }: JsonOption & { limit?: number }) =>
      withAccess(terminal, async ({ manageApiKeys }) => {
        const events = await manageApiKeys.listAudit(limit);
        return toList('changes', events.map(viewOfEvent), options);
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

/** @throws CliError if the key cannot be printed: it is stored, but nobody has seen it */
async function printNewKey({ stdout }: Terminal, { id }: ApiKey, text: string): Promise<void> {
  try {
    await stdout(text);
  } catch (error) {
    throw new CliError(`key ${String(id)} was created and cannot be printed, so revoke it: ${reasonOf(error)}`);
  }
}

function describeNewKey(key: ApiKey, secret: ApiKeySecret): string {
  const note = key.client.disabledAt ? '\nThe client is disabled: the key is rejected until the client is enabled.\n' : '';
  return `Key ${String(key.id)} of the client ${key.client.name}, scopes ${key.scopes.join(' ')}, expires ${expiryOf(key)}:

${secret}

Store it now: it cannot be shown again. Only its SHA-256 hash is stored.
${note}`;
}

function expiryOf({ expiresAt }: ApiKey): string {
  return expiresAt ? formatTime(expiresAt) : 'never';
}

function viewOf({ id, prefix, client, scopes, createdAt, expiresAt, revokedAt, lastUsedAt }: ApiKey) {
  return { id, prefix, client: client.name, scopes, createdAt, expiresAt, revokedAt, lastUsedAt };
}

function viewOfEvent({ id, occurredAt, operator, databaseRole, action, clientId, clientName, keyId, keyPrefix, details }: AuditEvent) {
  return { id, occurredAt, operator, databaseRole, action, clientId, client: clientName, keyId, keyPrefix, details };
}
