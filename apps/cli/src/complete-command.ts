import tab from '@bomb.sh/tab/commander';
import type { Command } from 'commander';
import { describeExample } from './output.js';
import type { Output } from './terminal.js';

/** Adds `complete <shell>`, which prints a script for a shell. The script calls `complete -- <words>` for suggestions. */
export function addCompleteCommand(program: Command): void {
  tab(program);
  program.commands
    .find((command) => command.name() === 'complete')
    ?.description('Print a script that completes commands and options. In bash, the script needs the package bash-completion.')
    .addHelpText('after', describeExample('source <(animal-store complete bash)'));
}

/** Writes what the library of `complete` prints with console.log to `stdout`, during an action. */
export async function captureConsole(stdout: Output, action: () => Promise<unknown>): Promise<void> {
  const { log } = console;
  // Without `readonly`, a shell can load the script again, and scripts of other programs that use the library.
  console.log = (text: string) => stdout.write(`${text.replaceAll(/^readonly /gm, '')}\n`);
  try {
    await action();
  } finally {
    console.log = log;
  }
}
