import { type Database, migrationStatus, migrateUp } from '@animal-store/database';
import type { Command } from 'commander';
import { AS_MIGRATOR, type DatabaseAddress, withDatabase, withDataSource } from './database.js';
import { jsonCommand, type JsonOption, type Terminal, toJson, toTable } from './output.js';

export function addMigrateCommand(program: Command, terminal: Terminal): void {
  const migrate = program.command('migrate').description('Manage the database schema.');
  const action = (work: (dataSource: Database, options: JsonOption) => Promise<string>) => async (options: JsonOption) => {
    const run = (database: DatabaseAddress) => withDataSource(database, (dataSource) => work(dataSource, options));
    await terminal.stdout(await withDatabase(terminal, AS_MIGRATOR, run));
  };

  jsonCommand(migrate, 'up', 'Apply pending migrations.').action(
    action(async (dataSource, { json }) => {
      const applied = await migrateUp(dataSource, {
        onDistributed: (table) =>
          terminal.stderr(
            table === undefined
              ? 'CITUS is on, but the database lacks the extension citus: no table is distributed\n'
              : `${table} is distributed\n`,
          ),
      });
      if (json) return toJson({ applied });
      return applied.length === 0 ? 'The database is up to date.\n' : applied.map((name) => `applied ${name}\n`).join('');
    }),
  );

  jsonCommand(migrate, 'status', 'List the migrations and whether they are applied.').action(
    action(async (dataSource, { json }) => {
      const migrations = await migrationStatus(dataSource);
      if (json) return toJson({ migrations });
      return toTable('migrations', migrations, {
        MIGRATION: ({ name }) => name,
        STATE: ({ applied }) => (applied ? 'applied' : 'pending'),
      });
    }),
  );
}
