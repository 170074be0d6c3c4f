import { migrationStatus, migrateUp } from '@animal-store/database';
import type { Command } from 'commander';
import { AS_MIGRATOR, withDatabase } from './database.js';
import { jsonCommand, type JsonOption, type Terminal, toList } from './output.js';

export function addMigrateCommand(program: Command, terminal: Terminal): void {
  const migrate = program.command('migrate').description('Manage the database schema.');

  migrate
    .command('up')
    .description('Apply pending migrations.')
    .action(async () => {
      const onDistributed = (table: string | undefined) =>
        terminal.stderr(
          table === undefined
            ? 'CITUS is on, but the database lacks the extension citus: no table is distributed\n'
            : `${table} is distributed\n`,
        );
      const applied = await withDatabase(terminal, AS_MIGRATOR, (database) => migrateUp(database, { onDistributed }));
      await terminal.stdout(applied.length === 0 ? 'The database is up to date.\n' : applied.map((name) => `applied ${name}\n`).join(''));
    });

  jsonCommand(migrate, 'status', 'List the migrations and whether they are applied.').action(async (options: JsonOption) => {
    const migrations = await withDatabase(terminal, AS_MIGRATOR, migrationStatus);
    await terminal.stdout(toList('migrations', migrations, options));
  });
}
