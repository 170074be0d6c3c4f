/**
 * `npm test`: lint, typecheck, build and test of every project, or with `--affected` of those that the changes since
 * NX_BASE (or `main`) touch, beside one throw-away PostgreSQL for all of them. Other options go to Nx: `npm test -- -p kernel`.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { cacheDir, readCachedProjectGraph, workspaceRoot } from '@nx/devkit';
import { summarize, TARGETS, type Task, type TestCounts } from './summary.ts';

const NX = fileURLToPath(import.meta.resolve('nx/bin/nx.js'));
const TSC = fileURLToPath(import.meta.resolve('typescript/bin/tsc'));
/** Nx writes here how each task of the run ended that was the last to end. */
const RUN_RECORD = join(cacheDir, 'run.json');
const EXIT_CODES = { SIGINT: 130, SIGTERM: 143 };

const children = new Set<ChildProcess>();
let stoppedBy: keyof typeof EXIT_CODES | undefined;
for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.on(signal, () => {
    stoppedBy = signal;
    for (const child of children) child.kill(signal);
  });
}

process.exitCode = await runTests(process.argv.slice(2));

async function runTests(options: readonly string[]): Promise<number> {
  // Beside all else: Nx runs nothing else while it lints several projects in one process, which would leave a core idle.
  const linting = runTasks(['lint'], options);
  // One compiler for all projects is much faster than one for each; the tasks find its output and report its errors.
  await run(TSC, ['--build'], { output: 'ignore' });
  const postgres = await startPostgres().catch((error: unknown) => {
    // Each integration suite then starts a server of its own, or shows why it cannot.
    console.error('The shared PostgreSQL did not start:', error);
    return undefined;
  });
  try {
    const others = TARGETS.filter((target) => target !== 'lint');
    const [linted, done] = await Promise.all([linting, runTasks(others, options, postgres && { TEST_POSTGRES_URL: postgres.url })]);
    return stoppedBy ? EXIT_CODES[stoppedBy] : await report(linted.code || done.code, [...linted.tasks, ...done.tasks]);
  } finally {
    await postgres?.stop();
  }
}

async function runTasks(
  targets: readonly string[],
  options: readonly string[],
  env?: NodeJS.ProcessEnv,
): Promise<{ code: number; tasks: readonly Task[] }> {
  const command = options.includes('--affected') ? 'affected' : 'run-many';
  const furtherOptions = options.filter((option) => option !== '--affected');
  const args = [command, `--targets=${targets.join()}`, '--skip-sync', ...furtherOptions];
  const start = Date.now();
  const runNx = () => run(NX, args, { output: 'pipe', env: { NX_DAEMON: 'false', NX_TUI: 'false', ...env } });
  let code = await runNx();
  let tasks = await recordedTasks(args, start);
  if (!tasks && code === 0) {
    // There was nothing to do, or the other run ended at the same moment: then all is in the cache now.
    code = await runNx();
    tasks = await recordedTasks(args, start);
  }
  return { code, tasks: tasks ?? [] };
}

/** Of the run with these arguments, if it is the one that is recorded. */
async function recordedTasks(args: readonly string[], start: number): Promise<readonly Task[] | undefined> {
  try {
    const { run, tasks } = JSON.parse(await readFile(RUN_RECORD, 'utf8')) as Readonly<{
      run: { readonly command: string; readonly startTime: string };
      tasks: readonly Task[];
    }>;
    return run.command === `nx ${args.join(' ')}` && Date.parse(run.startTime) >= start ? tasks : undefined;
  } catch {
    // Not there, or just being written.
    return undefined;
  }
}

async function startPostgres(): Promise<{ url: string; stop(): Promise<void> } | undefined> {
  if (stoppedBy || process.env['TEST_POSTGRES_URL']) return undefined;
  const { startThrowAwayPostgres } = await import('@animal-store/local-postgres/testing');
  return startThrowAwayPostgres();
}

async function run(
  script: string,
  args: string[],
  { output, env = {} }: { output: 'ignore' | 'pipe'; env?: NodeJS.ProcessEnv },
): Promise<number> {
  if (stoppedBy) return EXIT_CODES[stoppedBy];
  const color = process.stdout.isTTY ? { FORCE_COLOR: '1' } : {};
  const child = spawn(process.execPath, [script, ...args], {
    cwd: workspaceRoot,
    env: { ...process.env, ...color, ...env },
    stdio: ['ignore', output, output],
  });
  children.add(child);
  child.stdout?.pipe(process.stdout, { end: false });
  child.stderr?.pipe(process.stderr, { end: false });
  const [code] = (await once(child, 'close')) as [number | null];
  children.delete(child);
  return code ?? 1;
}

async function report(code: number, tasks: readonly Task[]): Promise<number> {
  const counts = new Map<string, TestCounts>();
  for (const { projectName } of tasks.filter(({ target }) => target === 'test')) {
    const { root = '' } = readCachedProjectGraph().nodes[projectName]?.data ?? {};
    const results = await readFile(join(workspaceRoot, root, 'test-results/results.json'), 'utf8').catch(() => undefined);
    if (results !== undefined) counts.set(projectName, JSON.parse(results) as TestCounts);
  }
  const { lines, passed, failed } = summarize(tasks, (project) => counts.get(project));
  // Nx itself may fail: a graph that cannot be made, a base that is not there.
  const failures = code === 0 ? failed : Math.max(1, failed);
  console.log(['', ...(tasks.length > 0 ? lines : ['Nothing was run.']), '', `${passed} passed, ${failures} failed`].join('\n'));
  return failures === 0 ? 0 : 1;
}
