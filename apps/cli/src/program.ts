import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { redactKeys } from '@animal-store/access-domain';
import { Command, CommanderError, Help } from 'commander';
import { addClientsCommand } from './clients-command.js';
import { addDoctorCommand } from './doctor-command.js';
import { addEventsCommand } from './events-command.js';
import { CliError, describeFailure, EXIT_FAILURE, EXIT_OK, EXIT_USAGE, inErrorStyle, reasonOf } from './failure.js';
import { addGrantsCommand } from './grants-command.js';
import { addKeysCommand } from './keys-command.js';
import { addMigrateCommand } from './migrate-command.js';
import { describeExample, styleTitle } from './output.js';
import { addSeedCommand } from './seed-command.js';
import { hasColours, type Output, paint, type ProcessTerminal, type Terminal } from './terminal.js';

/** Replaced by the bundler. */
declare const BUNDLE: { readonly version: string; readonly commit: string } | undefined;

/** Runs one command line and resolves to its exit code. Every failure is one line on stderr, without API keys. */
export async function run(args: readonly string[], given: ProcessTerminal): Promise<number> {
  const coloured = (output: Output) => ({ ...output, hasColours: !args.includes('--json') && hasColours(output, given.env) });
  const [stdout, stderr] = [resultOutput(coloured(given.stdout)), errorOutput(coloured(given.stderr))];
  const terminal = { ...given, stdout, stderr, keyOutput: given.stdout };
  try {
    await createProgram(terminal).parseAsync(args, { from: 'user' });
    return EXIT_OK;
  } catch (error) {
    // commander has already written its error or the requested help.
    if (error instanceof CommanderError) return error.exitCode === 0 ? EXIT_OK : EXIT_USAGE;
    const { line, exitCode } = describeFailure(error);
    writeError(stderr, line);
    return exitCode;
  }
}

function writeError(stderr: Output, message: string): void {
  stderr.write(`${paint(stderr, ['bold', 'red'], 'error:')} ${inErrorStyle(message)}\n`);
}

/** Reports everything that prevents a result from being written, except a reader that has enough, as `head` does. */
function resultOutput(output: Output): Output {
  const write = (text: string) => {
    try {
      output.write(text);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EPIPE') throw new CliError(`standard output cannot be written: ${reasonOf(error)}`);
    }
  };
  return { ...output, write };
}

/** Redacts API keys: error messages repeat arguments, and an operator may paste a key in the wrong place. */
function errorOutput(output: Output): Output {
  const write = (text: string) => {
    try {
      output.write(redactKeys(text));
    } catch {
      // The exit code remains.
    }
  };
  return { ...output, write };
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
      `${describeExample('animal-store keys create --client my-app')}

The commands use the database at DATABASE_URL. If DATABASE_URL is not set, they use the local PostgreSQL of "npm start"
in DATA_DIR (default: .data). You can run commands while the service is running.

OPERATOR is the name that "keys audit" shows for changes to keys and clients (default: the operating system user).
NO_COLOR turns off the colours.

Exit codes: ${String(EXIT_OK)} success, ${String(EXIT_FAILURE)} failure, ${String(EXIT_USAGE)} invalid usage.`,
    )
    .exitOverride()
    .configureHelp({
      optionDescription: (option) => `${new Help().optionDescription(option)}${option.mandatory ? ' (required)' : ''}`,
      styleTitle,
    })
    .configureOutput({
      writeOut: (text) => terminal.stdout.write(text),
      writeErr: (text) => terminal.stderr.write(text),
      getOutHasColors: () => terminal.stdout.hasColours ?? false,
      getErrHasColors: () => terminal.stderr.hasColours ?? false,
      outputError: (text) => writeError(terminal.stderr, text.replace(/^error: /, '')),
    });
  addKeysCommand(program, terminal);
  addClientsCommand(program, terminal);
  addMigrateCommand(program, terminal);
  addGrantsCommand(program, terminal);
  addEventsCommand(program, terminal);
  addSeedCommand(program, terminal);
  addDoctorCommand(program, terminal);
  return program;
}
