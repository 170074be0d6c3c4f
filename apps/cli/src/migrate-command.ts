import { type Database, migrateDown, type MigrateOptions, migrationStatus, migrationToUndo, migrateUp } from '@animal-store/database';
import { Command, Option } from 'commander';
import { parseDuration } from './arguments.js';
import { type DatabaseAddress, MIGRATION_VARIABLES, withDatabase, withDataSource } from './database.js';
import { CliError, EXIT_USAGE } from './failure.js';
import { jsonCommand, toJson, toTable } from './output.js';
import type { Terminal } from './terminal.js';

interface Options {
  readonly json?: boolean;
  readonly wait?: number;
  readonly yes?: boolean;
}

export function migrateCommand(terminal: Terminal): Command {
  const { stdout } = terminal;
  const action = (work: (database: DatabaseAddress, options: Options) => Promise<string>) => (options: Options) =>
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
    onProgress: (line) => void terminal.stderr.write(`${line}\n`),
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

  return new Command('migrate')
    .description('Manage the database schema.')
    .addCommand(
      jsonCommand('up', 'Apply pending migrations.')
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
      jsonCommand('down', 'Revert the newest migration and lose its data. Prints the statements and asks for confirmation.')
        .addOption(waitOption())
        .option('--yes', 'skip the confirmation')
        .action(
          action(async (database, options) => {
            const reverted = await withDataSource(database, async (dataSource) => {
              const newest = await confirmRevert(dataSource, terminal, options);
              return newest && migrateDown(dataSource, newest, waiting(options));
            });
            if (options.json) return toJson({ undone: reverted ?? null });
            return reverted === undefined ? 'No migration is applied.\n' : `reverted ${reverted}\n`;
          }),
        ),
    )
    .addCommand(
      jsonCommand('status', 'List the migrations and whether they are applied.').action(
        action(async (database, { json }) => {
          const migrations = await withDataSource(database, migrationStatus);
          if (json) return toJson({ migrations });
          return toTable('migrations', migrations, {
            MIGRATION: ({ name }) => name,
            STATE: ({ applied }) => (applied ? 'applied' : 'pending'),
          });
        }),
      ),
    );
}

/** Asks for confirmation and returns the migration to undo, or undefined if none is applied. */
async function confirmRevert(dataSource: Database, { confirm, stderr }: Terminal, { yes = false }: Options): Promise<string | undefined> {
  const newest = await migrationToUndo(dataSource);
  if (!newest || yes) return newest?.name;
  const statements = newest.statements.map((text) => `  ${text.replace(/\s+/g, ' ').trim()}\n`);
  stderr.write(`Reverting ${newest.name} loses its data. It runs these statements:\n${statements.join('')}`);
  if (!confirm) throw new CliError('use --yes to confirm: there is no terminal', EXIT_USAGE);
  if (!(await confirm('Revert it?'))) throw new CliError('nothing was reverted');
  return newest.name;
}
