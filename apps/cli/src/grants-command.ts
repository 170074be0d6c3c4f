import { grantStatements, type RolePurpose } from '@animal-store/database';
import { Argument, Command } from 'commander';
import { parseClientName } from './arguments.js';
import { loadPersistence } from './contexts.js';
import type { Terminal } from './terminal.js';

const PURPOSES = ['service', 'keys'] as const satisfies readonly RolePurpose[];

export function grantsCommand(terminal: Terminal): Command {
  return new Command('grants')
    .description('Print the SQL that gives a database role the privileges it requires. Run it as the owner after each migration.')
    .addArgument(new Argument('<purpose>', 'service: to serve requests; keys: for the commands "keys" and "clients"').choices(PURPOSES))
    .argument('<role>', 'the role, which must exist', parseClientName)
    .action(async (purpose: RolePurpose, role: string) => {
      const statements = grantStatements(await loadPersistence(), purpose, role);
      terminal.stdout.write(statements.map((statement) => `${statement};\n`).join(''));
    });
}
