import { userInfo } from 'node:os';
import { CLIENT_NAME_RULE, isClientName, normalizeName, redactKeys } from '@animal-store/access-domain';
import { type AccessUseCases, createAccessUseCases } from '@animal-store/access-infrastructure';
import { migrateUp } from '@animal-store/database';
import { AS_KEYS, withDatabase } from './database.js';
import { CliError, EXIT_USAGE } from './failure.js';
import type { Terminal } from './output.js';

/** Runs `work` on clients and keys, and prints the text that it returns, if any. The local database is migrated first. */
export async function withAccess(
  terminal: Terminal,
  work: (access: AccessUseCases, isLocal: boolean) => Promise<string | undefined>,
): Promise<void> {
  const operator = operatorOf(terminal);
  const text = await withDatabase(terminal, AS_KEYS, async (database, isLocal) => {
    if (isLocal) await migrateUp(database);
    return work(createAccessUseCases(database, undefined, operator), isLocal);
  });
  if (text !== undefined) await terminal.stdout(text);
}

/** Returns OPERATOR or the name of the operating system user. Neither is verified; the audit trail adds the database role. */
function operatorOf({ env: { OPERATOR } }: Terminal): string | undefined {
  const name = normalizeName(OPERATOR || userName());
  if (isClientName(name) && redactKeys(name) === name) return name;
  if (!OPERATOR) return undefined;
  throw new CliError(`OPERATOR ${CLIENT_NAME_RULE}, and must not contain an API key`, EXIT_USAGE);
}

/** Returns an empty text if the user has no name, as in a container. */
function userName(): string {
  try {
    return userInfo().username;
  } catch {
    return '';
  }
}
