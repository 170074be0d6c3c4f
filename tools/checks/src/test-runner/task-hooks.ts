import { join } from 'node:path';
import { type PostTasksExecutionContext, type PreTasksExecutionContext, readCachedProjectGraph } from '@nx/devkit';
import { startPostgres } from './postgres.ts';
import { checkNames, checkTasks, requestedTasks, type Workspace } from './requested-tasks.ts';
import { summarize } from './summary.ts';
import { createTestNodes } from './inferred-targets.ts';

export const createNodes = createTestNodes;

let stopPostgres = () => Promise.resolve();

/**
 * Starts one PostgreSQL for all test tasks of `run-many` and `affected`. Nx copies changes of `process.env` to its tasks.
 * For a single project, Jest's global setup starts it if the project has integration specs.
 */
export async function preTasksExecution(_options: unknown, { argv, workspaceRoot }: PreTasksExecutionContext): Promise<void> {
  const requested = requestedTasks(argv);
  if (requested) checkNames(requested, readWorkspace());
  // The tasks start some hundred processes, which load the same packages.
  process.env['NODE_COMPILE_CACHE'] ??= join(workspaceRoot, '.nx/compile-cache');
  // `tsc` is a Go program: collecting its garbage less often saves a fifth of its CPU.
  process.env['GOGC'] ??= '400';
  if (process.env['TEST_POSTGRES_URL'] || !requested?.targets.includes('test')) return;
  const server = await startPostgres();
  stopPostgres = () => server.stop();
  process.env['TEST_POSTGRES_URL'] = server.url;
}

/** Stops the server and prints the summary of a run with tests. */
export async function postTasksExecution(
  _options: unknown,
  { argv, taskResults, workspaceRoot }: PostTasksExecutionContext,
): Promise<void> {
  await stopPostgres();
  const results = Object.values(taskResults);
  if (results.some(({ task }) => task.target.target === 'test')) console.log(`\n${summarize(results, workspaceRoot)}`);
  const requested = requestedTasks(argv);
  if (!requested) return;
  if (requested.command === 'affected' && results.length === 0) console.log('No project is affected, so nothing was checked or tested.');
  checkTasks(
    requested,
    results.map(({ task }) => task.target.target),
  );
}

function readWorkspace(): Workspace {
  const { nodes } = readCachedProjectGraph();
  return Object.fromEntries(Object.entries(nodes).map(([name, { data }]) => [name, Object.keys(data.targets ?? {})]));
}
