import { type Database, migrateDown, type MigrateOptions, migrationStatus, migrationToUndo, migrateUp } from '@animal-store/database';
import { type Command, Option } from 'commander';
import { parseDuration } from './arguments.js';
import { type DatabaseAddress, MIGRATION_VARIABLES, withDatabase, withDataSource } from './database.js';
import { CliError, EXIT_USAGE } from './failure.js';
import { jsonCommand, type JsonOption, toJson, toTable } from './output.js';
import type { Terminal } from './terminal.js';

interface Options extends JsonOption {
  readonly wait?: number;
  readonly yes?: boolean;
}

export function addMigrateCommand(program: Command, terminal: Terminal): void {
  const migrate = program.command('migrate').description('Manage the database schema.');
  const action = (work: (dataSource: Database, options: Options) => Promise<string>) => async (options: Options) => {
    const run = (database: DatabaseAddress) => withDataSource(database, (dataSource) => work(dataSource, options));
    terminal.stdout.write(await withDatabase(terminal, run, MIGRATION_VARIABLES));
  };
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

  jsonCommand(migrate, 'up', 'Apply pending migrations.')
    .addOption(waitOption())
    .action(
      action(async (dataSource, options) => {
        const applied = await migrateUp(dataSource, waiting(options));
        if (options.json) return toJson({ applied });
        return applied.length === 0 ? 'The database is up to date.\n' : applied.map((name) => `applied ${name}\n`).join('');
      }),
    );

  jsonCommand(migrate, 'down', 'Revert the newest migration and lose its data. Prints the statements and asks for confirmation.')
    .addOption(waitOption())
    .option('--yes', 'skip the confirmation')
    .action(
      action(async (dataSource, options) => {
        const newest = await confirmRevert(dataSource, terminal, options);
        const reverted = newest && (await migrateDown(dataSource, newest, waiting(options)));
        if (options.json) return toJson({ undone: reverted });
        return reverted === undefined ? 'No migration is applied.\n' : `reverted ${reverted}\n`;
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
