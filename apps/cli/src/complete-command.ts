import tab from '@bomb.sh/tab/commander';
import type { Command } from 'commander';
import { describeExample } from './output.js';
import type { Terminal } from './terminal.js';

/** Adds `complete <shell>`, which prints a script for a shell. The script calls `complete -- <words>` for suggestions. */
export function addCompleteCommand(program: Command, { stdout }: Terminal): void {
  tab(program);
  const { log } = console;
  // The library prints with console.log.
  program.commands
    .find((command) => command.name() === 'complete')
    ?.description('Print a script that completes commands and options. In bash, the script needs the package bash-completion.')
    .addHelpText('after', describeExample('source <(animal-store complete bash)'))
    .hook('preAction', () => {
      console.log = (text: string) => stdout.write(`${text}\n`);
    })
    .hook('postAction', () => {
      console.log = log;
    });
}
