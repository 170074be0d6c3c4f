import { grantStatements, type RolePurpose } from '@animal-store/database';
import { Argument, type Command } from 'commander';
import { parseRole } from './arguments.js';
import { AS_MIGRATOR, type DatabaseAddress, loadPersistence, withDatabase, withDataSource } from './database.js';
import type { Terminal } from './output.js';

const PURPOSES = ['service', 'keys'] as const satisfies readonly RolePurpose[];

export function addGrantsCommand(program: Command, terminal: Terminal): void {
  const description =
    'Print or run the SQL that gives a database role the privileges that the role requires. Run the SQL as the owner after each migration.';
  program
    .command('grants')
    .description(description)
    .addArgument(new Argument('<purpose>', 'service: to serve requests; keys: for the commands "keys" and "clients"').choices(PURPOSES))
    .argument('<role>', 'the role, which must exist', parseRole)
    .option('--apply', 'run the SQL instead of printing it')
    .action(async (purpose: RolePurpose, role: string, { apply }: { readonly apply?: boolean }) => {
      const statements = grantStatements(await loadPersistence(), purpose, role).map((statement) => `${statement};\n`);
      if (!apply) return terminal.stdout(statements.join(''));
      const run = (database: DatabaseAddress) => withDataSource(database, (dataSource) => dataSource.query(statements.join('')));
      await withDatabase(terminal, AS_MIGRATOR, run);
      await terminal.stdout(`The role ${role} has the privileges of the purpose ${purpose}.\n`);
    });
}
