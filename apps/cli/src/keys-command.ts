import { DEFAULT_OVERLAP_MS, type ListedApiKey } from '@animal-store/access-application';
import type { ApiKey, ApiKeySecret } from '@animal-store/access-domain';
import { type Access, openAccess } from '@animal-store/access-infrastructure';
import { Command, Option } from 'commander';
import { parseClientName, parseDuration, parseEnvironment, parseLifetime, parseScopes } from './arguments.js';
import { knownScopes } from './contexts.js';
import { databaseUrl, migrateIfLocal, withDatabase } from './database.js';
import { CliError, EXIT_USAGE } from './failure.js';
import { toJson, toTable, toText } from './output.js';
import type { Terminal } from './terminal.js';

interface CreateOptions {
  readonly client: string;
  readonly scope?: readonly string[];
  readonly expiresIn?: number;
  readonly environment?: string;
  readonly ifNone?: boolean;
  readonly json?: boolean;
}

interface ListOptions {
  readonly client?: string;
  readonly expiresWithin?: number;
  readonly json?: boolean;
}

interface RotateOptions {
  readonly overlap: number;
  readonly json?: boolean;
}

interface RevokeOptions {
  readonly json?: boolean;
}

export function keysCommand(terminal: Terminal): Command {
  const { stdout } = terminal;
  const withAccess = (work: (access: Access) => Promise<string>, prepare = false) =>
    withDatabase(terminal, async (database) => {
      if (prepare) await migrateIfLocal(database);
      const access = await openAccess(database.url);
      try {
        stdout.write(await work(access));
      } finally {
        await access.close();
      }
    });

  return new Command('keys')
    .description('API keys and the clients that hold them.')
    .addCommand(
      new Command('create')
        .description('Make an API key and show it, this once.')
        .requiredOption('--client <name>', 'who will hold it; a new name makes a new client', parseClientName)
        .option('--scope <scopes>', 'what it allows, such as pets:read, separated by commas (default: everything)', parseScopes)
        .option('--expires-in <duration>', 'how long it lives, such as 90d (default: until it is revoked)', parseLifetime)
        .option(
          '--environment <name>',
          'part of the key (default: ENVIRONMENT, or else production, without DATABASE_URL local)',
          parseEnvironment,
        )
        .option('--if-none', 'make one only when the client has no active key')
        .option('--json', 'print JSON')
        .action(async ({ client, scope, expiresIn, environment, ifNone, json }: CreateOptions) => {
          const input = {
            clientName: client,
            scopes: await checkScopes(scope),
            environment: environment ?? (terminal.env['ENVIRONMENT'] || (databaseUrl(terminal) === undefined ? 'local' : 'production')),
            lifetimeMs: expiresIn,
          };
          await withAccess(async ({ createApiKey }) => {
            const created = await createApiKey.execute({ ...input, ifNone: ifNone ?? false });
            if (!created) {
              return json ? toJson({ created: false, client }) : `The client ${client} has an active key already; none was made.\n`;
            }
            return json ? toJson({ created: true, ...newKeyView(created.key, created.secret) }) : showNewKey(created.key, created.secret);
          }, true);
        }),
    )
    .addCommand(
      new Command('list')
        .description('List the keys, never their secrets.')
        .option('--client <name>', 'only those of this client')
        .option('--expires-within <duration>', 'only active ones that expire within this time, such as 30d', parseDuration)
        .option('--json', 'print JSON')
        .action(({ client, expiresWithin, json }: ListOptions) =>
          withAccess(async ({ listApiKeys }) => {
            const keys = await listApiKeys.execute({ clientName: client, expiresWithinMs: expiresWithin });
            return json ? toJson(keys.map(({ key, state }) => ({ ...keyView(key), state }))) : showKeys(keys);
          }),
        ),
    )
    .addCommand(
      new Command('rotate')
        .description('Give the client of a key another one with the same scopes, and let the old one expire after an overlap.')
        .argument('<key>', 'its identifier, its visible prefix, or the whole key')
        .addOption(
          new Option('--overlap <duration>', 'how long the old key lives on; 0s ends it at once')
            .argParser(parseDuration)
            .default(DEFAULT_OVERLAP_MS, '24h'),
        )
        .option('--json', 'print JSON')
        .action((reference: string, { overlap, json }: RotateOptions) =>
          withAccess(async ({ rotateApiKey }) => {
            const { key, secret, retired } = await rotateApiKey.execute(reference, overlap);
            if (json) return toJson({ ...newKeyView(key, secret), retired: keyView(retired) });
            return `${showNewKey(key, secret)}Key ${nameOf(retired)} expires ${expiryOf(retired)}.\n`;
          }),
        ),
    )
    .addCommand(
      new Command('revoke')
        .description('End a key now; every process of the service refuses it within five seconds.')
        .argument('<key>', 'its identifier, its visible prefix, or the whole key')
        .option('--json', 'print JSON')
        .action((reference: string, { json }: RevokeOptions) =>
          withAccess(async ({ revokeApiKey }) => {
            const key = await revokeApiKey.execute(reference);
            if (json) return toJson(keyView(key));
            return `Key ${nameOf(key)} of the client ${key.client.name} is revoked since ${key.revokedAt ? toText(key.revokedAt) : '-'}.\n`;
          }),
        ),
    );
}

/** A scope that no context has would make a key that nothing accepts. */
async function checkScopes(wanted: readonly string[] | undefined): Promise<readonly string[]> {
  const known = await knownScopes();
  const unknown = wanted?.filter((scope) => !known.includes(scope)) ?? [];
  if (unknown.length === 0) return wanted ?? known;
  throw new CliError(`no operation knows the scope ${unknown.join(', ')}; there are ${known.join(', ')}`, EXIT_USAGE);
}

function keyView(key: ApiKey) {
  return {
    id: key.id,
    prefix: key.prefix,
    client: key.client.name,
    scopes: key.scopes,
    createdAt: key.createdAt,
    expiresAt: key.expiresAt ?? null,
    revokedAt: key.revokedAt ?? null,
    lastUsedAt: key.lastUsedAt ?? null,
  };
}

function newKeyView(key: ApiKey, secret: ApiKeySecret) {
  const { id, prefix, client, scopes, createdAt, expiresAt } = keyView(key);
  return { id, key: secret, prefix, client, scopes, createdAt, expiresAt };
}

function showNewKey(key: ApiKey, secret: ApiKeySecret): string {
  return `Key ${String(key.id)} of the client ${key.client.name}, scopes ${key.scopes.join(' ')}, expires ${expiryOf(key)}:

${secret}

It is shown this once; only its SHA-256 is kept.
`;
}

function showKeys(keys: readonly ListedApiKey[]): string {
  if (keys.length === 0) return 'No keys.\n';
  const time = (date: Date | undefined) => (date ? toText(date) : '-');
  return toTable(
    ['ID', 'PREFIX', 'CLIENT', 'SCOPES', 'STATE', 'CREATED', 'EXPIRES', 'REVOKED', 'LAST USED'],
    keys.map(({ key, state }) => [
      String(key.id),
      key.prefix,
      key.client.name,
      key.scopes.join(' '),
      state,
      time(key.createdAt),
      time(key.expiresAt),
      time(key.revokedAt),
      time(key.lastUsedAt),
    ]),
  );
}

function nameOf(key: ApiKey): string {
  return `${String(key.id)} (${key.prefix})`;
}

function expiryOf(key: ApiKey): string {
  return key.expiresAt ? toText(key.expiresAt) : 'never';
}
