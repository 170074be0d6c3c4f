import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { redactKeys } from '@animal-store/access-domain';
import { Command, CommanderError } from 'commander';
import { addClientsCommand } from './clients-command.js';
import { addDoctorCommand } from './doctor-command.js';
import { addEventsCommand } from './events-command.js';
import { describeFailure, EXIT_FAILURE, EXIT_OK, EXIT_USAGE } from './failure.js';
import { addGrantsCommand } from './grants-command.js';
import { addKeysCommand } from './keys-command.js';
import { addMigrateCommand } from './migrate-command.js';
import type { Terminal } from './output.js';
import { addSeedCommand } from './seed-command.js';

/** Replaced by the bundler. */
declare const BUNDLE: { readonly version: string; readonly commit: string } | undefined;

/** Runs one command line and resolves to its exit code. Every failure is reported on stderr, without API keys. */
export async function run(args: readonly string[], given: Terminal): Promise<number> {
  // Messages repeat arguments, and an operator may paste a key in the wrong place.
  const terminal: Terminal = { ...given, stderr: (text) => given.stderr(redactKeys(text)) };
  try {
    await createProgram(terminal).parseAsync(args, { from: 'user' });
    return EXIT_OK;
  } catch (error) {
    // commander has already written its error or the requested help.
    if (error instanceof CommanderError) return error.exitCode === 0 ? EXIT_OK : EXIT_USAGE;
    const { line, exitCode } = describeFailure(error);
    terminal.stderr(`error: ${line}\n`);
    return exitCode;
  }
}

/** Returns the version and the commit of the program, which a bundle contains. */
function describeVersion(): string {
  if (typeof BUNDLE !== 'undefined') return `animal-store ${BUNDLE.version} (commit ${BUNDLE.commit})`;
  const manifest = readFileSync(join(import.meta.dirname, '../package.json'), 'utf8');
  return `animal-store ${(JSON.parse(manifest) as { version: string }).version} (commit unknown)`;
}

function createProgram(terminal: Terminal): Command {
  const program = new Command('animal-store')
    .description('Manage API keys, clients, migrations, events and demo data of the Animal Store service, and check its deployment.')
    .version(describeVersion(), '--version', 'print the version')
    .addHelpText(
      'after',
      `
The commands use the database at DATABASE_URL. If DATABASE_URL is not set, they use the local PostgreSQL of "npm start"
in DATA_DIR (default: .data). You can run commands while the service is running.

OPERATOR is the name that "keys audit" shows for changes to keys and clients (default: the operating system user).

Exit codes: ${String(EXIT_OK)} success, ${String(EXIT_FAILURE)} failure, ${String(EXIT_USAGE)} invalid usage.`,
    )
    .exitOverride()
    .configureOutput({ writeOut: (text) => void terminal.stdout(text).catch(() => undefined), writeErr: terminal.stderr });
  addKeysCommand(program, terminal);
  addClientsCommand(program, terminal);
  addMigrateCommand(program, terminal);
  addGrantsCommand(program, terminal);
  addEventsCommand(program, terminal);
  addSeedCommand(program, terminal);
  addDoctorCommand(program, terminal);
  return program;
}
