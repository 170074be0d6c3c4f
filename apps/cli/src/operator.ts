import { userInfo } from 'node:os';
import { CLIENT_NAME_RULE, isClientName, type Operator, redactKeys, UNKNOWN_OPERATOR } from '@animal-store/access-domain';
import { CliError, EXIT_USAGE } from './failure.js';
import type { Terminal } from './terminal.js';

/** Returns OPERATOR or the name of the operating system user. Neither is verified; the audit trail adds the database role. */
export function operatorOf({ env }: Terminal): Operator {
  const given = env['OPERATOR'];
  if (!given) return parseOperator(userName()) ?? UNKNOWN_OPERATOR;
  const operator = parseOperator(given);
  if (operator === undefined) throw new CliError(`OPERATOR ${CLIENT_NAME_RULE}, and must not contain an API key`, EXIT_USAGE);
  return operator;
}

function parseOperator(text: string): Operator | undefined {
  return isClientName(text) && redactKeys(text) === text ? (text as string as Operator) : undefined;
}

/** Returns the name of the operating system user, or its uid if it has no name, as in a container. */
function userName(): string {
  try {
    return userInfo().username;
  } catch {
    return `uid ${String(process.getuid?.() ?? '')}`;
  }
}
