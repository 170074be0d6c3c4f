import { type ChildProcess, spawn } from 'node:child_process';
import { createRequire } from 'node:module';
import { constants, setPriority } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';

/**
 * Checks the types in the background and tells only what is wrong. It builds nothing: `tsc -b --watch` takes a source that
 * changes while it is at work for built.
 */
export function watchTypes(report: (text: string) => void): ChildProcess {
  const tsc = createRequire(import.meta.url).resolve('typescript/bin/tsc');
  const project = join(import.meta.dirname, '..', 'tsconfig.dev.json');
  const child = spawn(process.execPath, [tsc, '--watch', '--pretty', '--preserveWatchOutput', '--project', project], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  // To run what has changed comes before to check it.
  if (child.pid !== undefined) setPriority(child.pid, constants.priority.PRIORITY_BELOW_NORMAL);
  let lines: string[] = [];
  let wasWrong = false;
  createInterface(child.stdout).on('line', (line) => {
    const [, errors] = /Found (\d+) errors?\./.exec(line) ?? [];
    if (errors !== undefined) {
      const isWrong = errors !== '0';
      if (isWrong) report(lines.join('\n').trim());
      else if (wasWrong) report('The types are right again.');
      wasWrong = isWrong;
    }
    const isStatus = errors !== undefined || /Starting (?:incremental )?compilation/.test(line);
    lines = isStatus ? [] : [...lines, line];
  });
  return child;
}
