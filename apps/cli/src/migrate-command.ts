import { migrateDown, migrateUp, migrationStatus } from '@animal-store/database';
import { Command } from 'commander';
import { type Database, withDatabase, withDataSource } from './database.js';
import { toJson, toTable } from './output.js';
import type { Terminal } from './terminal.js';

/** Migrations may have to go round a pooler. */
const MIGRATION_VARIABLES = ['MIGRATION_DATABASE_URL', 'DATABASE_URL'];

interface Options {
  readonly json?: boolean;
}

export function migrateCommand(terminal: Terminal): Command {
  const { stdout } = terminal;
  const action = (work: (database: Database, options: Options) => Promise<string>) => (options: Options) =>
    withDatabase(
      terminal,
      async (database) => {
        stdout.write(await work(database, options));
      },
      MIGRATION_VARIABLES,
    );
  const subcommand = (name: string, description: string) => new Command(name).description(description).option('--json', 'print JSON');

  return new Command('migrate')
    .description('The schema of the database.')
    .addCommand(
      subcommand('up', 'Apply the migrations that are pending.').action(
        action(async (database, { json }) => {
          const applied = await withDataSource(database, migrateUp);
          if (json) return toJson({ applied });
          return applied.length === 0 ? 'The database is up to date.\n' : applied.map((name) => `applied ${name}\n`).join('');
        }),
      ),
    )
    .addCommand(
      subcommand('down', 'Take back the newest migration, with the data that it holds.').action(
        action(async (database, { json }) => {
          const undone = await withDataSource(database, migrateDown);
          if (json) return toJson({ undone: undone ?? null });
          return undone === undefined ? 'No migration is applied.\n' : `took back ${undone}\n`;
        }),
      ),
    )
    .addCommand(
      subcommand('status', 'List the migrations and whether they are applied.').action(
        action(async (database, { json }) => {
          const migrations = await withDataSource(database, migrationStatus);
          if (json) return toJson({ migrations });
          return toTable(
            ['MIGRATION', 'STATE'],
            migrations.map(({ name, applied }) => [name, applied ? 'applied' : 'pending']),
          );
        }),
      ),
    );
}
