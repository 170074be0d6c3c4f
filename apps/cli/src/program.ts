import { redactKeys } from '@animal-store/access-domain';
import { Command, CommanderError } from 'commander';
import { addClientsCommand } from './clients-command.js';
import { addDoctorCommand } from './doctor-command.js';
import { addEventsCommand } from './events-command.js';
import { CliError, describeFailure, EXIT_FAILURE, EXIT_OK, EXIT_USAGE, oneLine, reasonOf } from './failure.js';
import { addGrantsCommand } from './grants-command.js';
import { addKeysCommand } from './keys-command.js';
import { addMigrateCommand } from './migrate-command.js';
import { addSeedCommand } from './seed-command.js';
import type { Output, ProcessTerminal, Terminal } from './terminal.js';

/** Runs one command line and resolves to its exit code. Every failure is one line on stderr, without API keys. */
export async function run(args: readonly string[], given: ProcessTerminal): Promise<number> {
  const terminal = { ...given, stdout: resultOutput(given.stdout), stderr: errorOutput(given.stderr), keyOutput: given.stdout };
  try {
    await createProgram(terminal).parseAsync(args, { from: 'user' });
    return EXIT_OK;
  } catch (error) {
    // commander has already written its error or the requested help.
    if (error instanceof CommanderError) return error.exitCode === 0 ? EXIT_OK : EXIT_USAGE;
    const { line, exitCode } = describeFailure(error);
    terminal.stderr.write(`error: ${line}\n`);
    return exitCode;
  }
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
  return { isTTY: output.isTTY ?? false, write };
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
  return { isTTY: output.isTTY ?? false, write };
}

function createProgram(terminal: Terminal): Command {
  const program = new Command('animal-store')
    .description('Manage API keys, clients, migrations, events and demo data of the Animal Store service, and check its deployment.')
    .addHelpText(
      'after',
      `
Uses the database at DATABASE_URL. If DATABASE_URL is not set, uses the local PostgreSQL of "npm start" in DATA_DIR
(default: .data). The service may be running.

OPERATOR is the name that "keys audit" shows for changes to keys and clients (default: the operating system user).

Exit codes: ${String(EXIT_OK)} success, ${String(EXIT_FAILURE)} failure, ${String(EXIT_USAGE)} invalid usage.`,
    )
    .exitOverride()
    .configureOutput({
      writeOut: (text) => terminal.stdout.write(text),
      writeErr: (text) => terminal.stderr.write(text),
      outputError: (text, write) => write(`${oneLine(text)}\n`),
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
