import { userInfo } from 'node:os';
import { CLIENT_NAME_RULE, isClientName, normalizeName, type Operator, redactKeys, UNKNOWN_OPERATOR } from '@animal-store/access-domain';
import { connectAccessUseCases, type ConnectedAccessUseCases } from '@animal-store/access-infrastructure';
import { AS_KEYS, migrateIfLocal, withDatabase } from './database.js';
import { CliError, EXIT_USAGE, reasonOf } from './failure.js';
import type { Terminal } from './terminal.js';

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
      if (text !== undefined) terminal.stdout.write(text);
    } finally {
      await access.close();
    }
  });
}

/**
 * Prints a new key before it is committed, so that there is no key that nobody has seen. `issue` calls `deliver` in the transaction.
 * @throws CliError if the key cannot be printed, or if it was printed and the commit failed
 */
export async function printNewKey<Issued, Result>(
  { keyOutput }: Terminal,
  show: (issued: Issued) => string,
  issue: (deliver: (issued: Issued) => void) => Promise<Result>,
): Promise<Result> {
  const printed: Issued[] = [];
  const deliver = (issued: Issued) => {
    try {
      if (keyOutput.isDiscarded) throw new Error('standard output is closed or /dev/null');
      keyOutput.write(show(issued));
    } catch (error) {
      throw new CliError(`the new key cannot be printed, so nothing was changed: ${reasonOf(error)}`);
    }
    printed.push(issued);
  };
  try {
    return await issue(deliver);
  } catch (error) {
    if (printed.length === 0) throw error;
    throw new CliError(`the printed key may not exist, see "keys list": ${reasonOf(error)}`);
  }
}

/** Returns OPERATOR or the name of the operating system user. Neither is verified; the audit trail adds the database role. */
function operatorOf({ env }: Terminal): Operator {
  const given = env['OPERATOR'] || undefined;
  const name = normalizeName(given ?? userName());
  if (isClientName(name) && redactKeys(name) === name) return name as string as Operator;
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
