import { type Database, migrateDown, type MigrateOptions, migrationStatus, migrationToUndo, migrateUp } from '@animal-store/database';
import { type Command, Option } from 'commander';
import { parseDuration } from './arguments.js';
import { AS_MIGRATOR, type DatabaseAddress, withDatabase, withDataSource } from './database.js';
import { CliError, EXIT_USAGE } from './failure.js';
import { addCommand, jsonCommand, type JsonOption, toJson, toTable } from './output.js';
import type { Terminal } from './terminal.js';

type Undo = NonNullable<Awaited<ReturnType<typeof migrationToUndo>>>;

interface Options extends JsonOption {
  readonly wait?: number;
  readonly yes?: boolean;
}

export function addMigrateCommand(program: Command, terminal: Terminal): void {
  const migrate = addCommand(program, 'migrate', 'Manage the database schema.', 'status');
  const action = (work: (dataSource: Database, options: Options) => Promise<string>) => async (options: Options) => {
    const run = (database: DatabaseAddress) => withDataSource(database, (dataSource) => work(dataSource, options));
    terminal.stdout.write(await withDatabase(terminal, AS_MIGRATOR, run));
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

  jsonCommand(migrate, 'up', 'Apply pending migrations.', '--wait 10m')
    .addOption(waitOption())
    .action(
      action(async (dataSource, options) => {
        const applied = await migrateUp(dataSource, waiting(options));
        if (options.json) return toJson({ applied });
        return applied.length === 0 ? 'The database is up to date.\n' : applied.map((name) => `applied ${name}\n`).join('');
      }),
    );

  jsonCommand(
    migrate,
    'down',
    'Revert the newest migration and delete its data. The command prints the statements and asks for confirmation.',
  )
    .addOption(waitOption())
    .option('--yes', 'skip the confirmation')
    .action(
      action(async (dataSource, options) => {
        const newest = await migrationToUndo(dataSource);
        const isConfirmed = newest && (options.yes || (await confirmRevert(newest, terminal)));
        const reverted = isConfirmed ? await migrateDown(dataSource, newest.name, waiting(options)) : undefined;
        if (options.json) return toJson({ undone: reverted });
        if (!newest) return 'No migration is applied.\n';
        return reverted === undefined ? 'Nothing was changed.\n' : `reverted ${reverted}\n`;
      }),
    );

  jsonCommand(migrate, 'status', 'List the migrations and whether they are applied.').action(
    action(async (dataSource, { json }) => {
      const migrations = await migrationStatus(dataSource);
      if (json) return toJson({ migrations });
      return toTable(terminal.stdout, 'migrations', migrations, {
        MIGRATION: ({ name }) => name,
        STATE: ({ applied }) => (applied ? 'applied' : 'pending'),
      });
    }),
  );
}

/** Shows what is lost, and asks. */
async function confirmRevert({ name, statements }: Undo, { confirm, stderr }: Terminal): Promise<boolean> {
  const lines = statements.map((text) => `  ${text.replace(/\s+/g, ' ').trim()}\n`);
  stderr.write(`Reverting ${name} loses its data. It runs these statements:\n${lines.join('')}`);
  if (!confirm) throw new CliError('use --yes to confirm: there is no terminal', EXIT_USAGE);
  return confirm('Revert it?');
}
