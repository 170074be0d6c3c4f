import { migrateDown, type MigrateOptions, migrationStatus, migrationToUndo, migrateUp } from '@animal-store/database';
import { Command, Option } from 'commander';
import type { DataSource } from 'typeorm';
import { parseDuration } from './arguments.js';
import { type Database, withDatabase, withDataSource } from './database.js';
import { CliError, EXIT_USAGE } from './failure.js';
import { toJson, toTable } from './output.js';
import type { Terminal } from './terminal.js';

/** MIGRATION_DATABASE_URL lets migrations bypass a connection pooler. */
const MIGRATION_VARIABLES = ['MIGRATION_DATABASE_URL', 'DATABASE_URL'];

interface Options {
  readonly json?: boolean;
  readonly wait?: number;
  readonly yes?: boolean;
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
  const waiting = ({ wait }: Options): MigrateOptions => ({
    ...(wait !== undefined && { timeoutMs: wait }),
    onWaiting: () => void terminal.stderr.write('waiting for another process that is migrating the database\n'),
    onDistributed: (table) => {
      terminal.stderr.write(
        table === undefined
          ? 'CITUS is on, but the database lacks the extension citus: no table is distributed\n'
          : `${table} is distributed\n`,
      );
    },
  });
  const waitOption = () =>
    new Option('--wait <duration>', 'how long to wait for another process that is migrating (default: 5m)').argParser(parseDuration);
  const subcommand = (name: string, description: string) => new Command(name).description(description).option('--json', 'print JSON');

  return new Command('migrate')
    .description('The schema of the database.')
    .addCommand(
      subcommand('up', 'Apply the migrations that are pending.')
        .addOption(waitOption())
        .action(
          action(async (database, options) => {
            const applied = await withDataSource(database, (dataSource) => migrateUp(dataSource, waiting(options)));
            if (options.json) return toJson({ applied });
            return applied.length === 0 ? 'The database is up to date.\n' : applied.map((name) => `applied ${name}\n`).join('');
          }),
        ),
    )
    .addCommand(
      subcommand('down', 'Take back the newest migration, with the data that it holds. Shows its statements, and asks.')
        .addOption(waitOption())
        .option('--yes', 'do not ask')
        .action(
          action(async (database, options) => {
            const undone = await withDataSource(database, async (dataSource) => {
              const newest = await confirmUndo(dataSource, terminal, options);
              return newest && migrateDown(dataSource, newest, waiting(options));
            });
            if (options.json) return toJson({ undone: undone ?? null });
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

/** Asks for confirmation and returns the migration to undo, or undefined if none is applied. */
async function confirmUndo(dataSource: DataSource, { confirm, stderr }: Terminal, { yes = false }: Options): Promise<string | undefined> {
  const newest = await migrationToUndo(dataSource);
  if (!newest || yes) return newest?.name;
  const statements = newest.statements.map((text) => `  ${text.replace(/\s+/g, ' ').trim()}\n`);
  stderr.write(`${newest.name} is taken back, and what it holds is lost:\n${statements.join('')}`);
  if (!confirm) throw new CliError('add --yes: there is no terminal to ask', EXIT_USAGE);
  if (!(await confirm('Take it back?'))) throw new CliError('nothing was taken back');
  return newest.name;
}
