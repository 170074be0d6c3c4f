import { grantStatements, type RolePurpose } from '@animal-store/database';
import { Argument, type Command } from 'commander';
import { AS_MIGRATOR, loadPersistence, withDatabase } from './database.js';
import type { Terminal } from './output.js';

const PURPOSES = ['service', 'keys'] as const satisfies readonly RolePurpose[];

export function addGrantsCommand(program: Command, terminal: Terminal): void {
  program
    .command('grants')
    .description(
      'Print or run the SQL that gives a database role the privileges that the role requires. Run the SQL as the owner after each migration.',
    )
    .addArgument(new Argument('<purpose>', 'service: to serve requests; keys: for the commands "keys" and "clients"').choices(PURPOSES))
    .argument('<role>', 'the role, which must exist')
    .option('--apply', 'run the SQL instead of printing it')
    .action(async (purpose: RolePurpose, role: string, { apply }: { readonly apply?: boolean }) => {
      const statements = grantStatements(await loadPersistence(), purpose, role).map((statement) => `${statement};\n`);
      if (!apply) return terminal.stdout(statements.join(''));
      await withDatabase(terminal, AS_MIGRATOR, (database) => database.query(statements.join('')));
      await terminal.stdout(`The role ${role} has the privileges of the purpose ${purpose}.\n`);
    });
}
