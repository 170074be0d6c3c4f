import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import type { Outcome } from './run-animal-store.js';

/** Folder of the program: by default the deployed bundle, for coverage the compiled files. */
const FOLDER = process.env['PROGRAM_FOLDER'] ?? 'bundle';
const MAIN = fileURLToPath(new URL(`../../${FOLDER}/main.js`, import.meta.url));

/** Runs the built program in a folder, with only the environment variables that a process needs. */
export function runProgram(cwd: string, environment: Readonly<Record<string, string>>, ...args: readonly string[]): Promise<Outcome> {
  const { PATH, HOME, SystemRoot, TEMP, NODE_COMPILE_CACHE } = process.env;
  return new Promise((resolve) => {
    const child = execFile(
      process.execPath,
      [MAIN, ...args],
      { cwd, env: { NODE_ENV: 'test', PATH, HOME, SystemRoot, TEMP, ...(NODE_COMPILE_CACHE && { NODE_COMPILE_CACHE }), ...environment } },
      (_, stdout, stderr) => resolve({ exitCode: child.exitCode ?? -1, stdout, stderr }),
    );
  });
}

/** Runs the program in a shell, which may redirect its output: `animal-store` is the program. */
export function runInShell(environment: Readonly<Record<string, string>>, script: string): Promise<Outcome> {
  return new Promise((resolve) => {
    const env = { NODE_ENV: 'test', PATH: process.env['PATH'], ...environment, NODE: process.execPath, MAIN };
    const child = execFile('sh', ['-c', `animal_store() { "$NODE" "$MAIN" "$@"; }\n${script}`], { env }, (_, stdout, stderr) =>
      resolve({ exitCode: child.exitCode ?? -1, stdout, stderr }),
    );
  });
}
