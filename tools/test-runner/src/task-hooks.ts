import { join } from 'node:path';
import type { PostTasksExecutionContext, PreTasksExecutionContext } from '@nx/devkit';
import { startPostgres } from './postgres.ts';
import { summarize } from './summary.ts';
import { createVerifyNodes } from './verify-suites.ts';

export const createNodes = createVerifyNodes;

let stopPostgres = () => Promise.resolve();

/**
 * Starts one PostgreSQL for all test tasks of `run-many` and `affected`. Nx copies changes of `process.env` to its tasks.
 * For a single project, Jest's global setup starts it if the project has integration specs.
 */
export async function preTasksExecution(_options: unknown, { argv, workspaceRoot }: PreTasksExecutionContext): Promise<void> {
  // The tasks start some hundred processes, which load the same packages.
  process.env['NODE_COMPILE_CACHE'] ??= join(workspaceRoot, '.nx/compile-cache');
  // `tsc` is a Go program: collecting its garbage less often saves a fifth of its CPU.
  process.env['GOGC'] ??= '400';
  const isRunOfMany = argv.some((argument) => argument === 'run-many' || argument === 'affected');
  if (process.env['TEST_POSTGRES_URL'] || !isRunOfMany || !argv.some((argument) => /\btest\b/.test(argument))) return;
  const server = await startPostgres();
  stopPostgres = () => server.stop();
  process.env['TEST_POSTGRES_URL'] = server.url;
}

/** Stops the server and prints the summary of a run with tests. */
export async function postTasksExecution(_options: unknown, { taskResults, workspaceRoot }: PostTasksExecutionContext): Promise<void> {
  await stopPostgres();
  const results = Object.values(taskResults);
  if (results.some(({ task }) => task.target.target === 'test')) console.log(`\n${summarize(results, workspaceRoot)}`);
}
