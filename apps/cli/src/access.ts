import { userInfo } from 'node:os';
import { type ApiKey, CLIENT_NAME_RULE, isClientName, normalizeName, redactKeys, UNKNOWN_OPERATOR } from '@animal-store/access-domain';
import { connectAccessUseCases, type ConnectedAccessUseCases } from '@animal-store/access-infrastructure';
import { AS_KEYS, migrateIfLocal, withDatabase } from './database.js';
import { CliError, EXIT_USAGE, reasonOf } from './failure.js';
import type { Terminal } from './output.js';

/** Runs `work` on clients and keys, and prints its result, if any. `migrate` migrates the local database first. */
export async function withAccessUseCases(
  terminal: Terminal,
  work: (access: ConnectedAccessUseCases) => Promise<string | undefined>,
  { migrate = false } = {},
): Promise<void> {
  const operator = operatorOf(terminal);
  await withDatabase(terminal, AS_KEYS, async (database) => {
    if (migrate) await migrateIfLocal(database);
    const access = await connectAccessUseCases(database.url, operator);
    try {
      const text = await work(access);
      if (text !== undefined) await terminal.stdout(text);
    } finally {
      await access.close();
    }
  });
}

/** @throws CliError if the key cannot be printed: it is stored, but nobody has seen it */
export async function printNewKey({ stdout, isDiscarded }: Terminal, { id }: ApiKey, text: string): Promise<void> {
  try {
    if (isDiscarded) throw new Error('standard output is closed or /dev/null');
    await stdout(text);
  } catch (error) {
    throw new CliError(`key ${String(id)} was created and cannot be printed, so revoke it: ${reasonOf(error)}`);
  }
}

/** Returns OPERATOR or the name of the operating system user. Neither is verified; the audit trail adds the database role. */
function operatorOf({ env }: Terminal): string {
  const given = env['OPERATOR'] || undefined;
  const name = normalizeName(given ?? userName());
  if (isClientName(name) && redactKeys(name) === name) return name;
  if (given === undefined) return UNKNOWN_OPERATOR;
  throw new CliError(`OPERATOR ${CLIENT_NAME_RULE}, and must not contain an API key`, EXIT_USAGE);
}

/** Returns the name of the operating system user, or its uid if it has no name, as in a container. */
function userName(): string {
  try {
    return userInfo().username;
  } catch {
    return `uid ${String(process.getuid?.() ?? '')}`;
  }
}
