import { type Database, type MigrateOptions, migrationStatus, migrateUp } from '@animal-store/database';
import type { Command } from 'commander';
import { parseDuration } from './arguments.js';
import { AS_MIGRATOR, type DatabaseAddress, withDatabase, withDataSource } from './database.js';
import { jsonCommand, type JsonOption, type Terminal, toJson, toTable } from './output.js';

interface Options extends JsonOption {
  readonly wait?: number;
}

export function addMigrateCommand(program: Command, terminal: Terminal): void {
  const migrate = program.command('migrate').description('Manage the database schema.');
  const action = (work: (dataSource: Database, options: Options) => Promise<string>) => async (options: Options) => {
    const run = (database: DatabaseAddress) => withDataSource(database, (dataSource) => work(dataSource, options));
    await terminal.stdout(await withDatabase(terminal, AS_MIGRATOR, run));
  };

  jsonCommand(migrate, 'up', 'Apply pending migrations.')
    .option('--wait <duration>', 'how long to wait for another process that is migrating (default: 5m)', parseDuration)
    .action(
      action(async (dataSource, { json, wait }) => {
        const options: MigrateOptions = {
          ...(wait !== undefined && { timeoutMs: wait }),
          onWaiting: () => terminal.stderr('waiting for another process that is migrating the database\n'),
          onProgress: (line) => terminal.stderr(`${line}\n`),
          onDistributed: (table) =>
            terminal.stderr(
              table === undefined
                ? 'CITUS is on, but the database lacks the extension citus: no table is distributed\n'
                : `${table} is distributed\n`,
            ),
        };
        const applied = await migrateUp(dataSource, options);
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
