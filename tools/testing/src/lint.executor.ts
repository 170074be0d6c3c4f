import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import type { ExecutorContext } from '@nx/devkit';
import { ESLint } from 'eslint';

const ESLINT = fileURLToPath(new URL('bin/eslint.js', import.meta.resolve('eslint/package.json')));

interface Options {
  /** Further files or folders, relative to the workspace. */
  readonly files?: readonly string[];
}

interface Tasks {
  readonly tasks: Readonly<Record<string, { readonly target: { readonly project: string } }>>;
}

interface TaskResult {
  readonly task: string;
  readonly result: { readonly success: boolean; readonly terminalOutput: string };
}

/** Lints several projects in one process: to load ESLint and the types takes longer than to lint a project. */
export async function* lintProjects(
  { tasks }: Tasks,
  options: Readonly<Record<string, Options>>,
  _overrides: unknown,
  { root, projectGraph }: Pick<ExecutorContext, 'root' | 'projectGraph'>,
): AsyncGenerator<TaskResult> {
  const pathsOfTasks = Object.entries(tasks).map(([id, { target }]) => {
    const projectRoot = projectGraph.nodes[target.project]?.data.root ?? '';
    return { id, paths: [projectRoot, ...(options[id]?.files ?? [])] };
  });
  const { results, crash } = await eslint(
    pathsOfTasks.flatMap(({ paths }) => paths),
    root,
  );
  const formatter = await new ESLint({ cwd: root }).loadFormatter('stylish');

  for (const { id, paths } of pathsOfTasks) {
    const ofTask = results.filter(({ filePath }) => paths.some((path) => `${relative(root, filePath)}/`.startsWith(`${path}/`)));
    const findings = ofTask.filter(({ messages }) => messages.length > 0);
    const terminalOutput = crash + (await formatter.format(findings));
    yield { task: id, result: { success: crash === '' && findings.length === 0, terminalOutput } };
  }
}

/** The same for one project. */
export async function lintProject(options: Options, context: ExecutorContext): Promise<{ success: boolean }> {
  const tasks = { lint: { target: { project: context.projectName ?? '' } } };
  let success = true;
  for await (const { result } of lintProjects({ tasks }, { lint: options }, undefined, context)) {
    console.log(result.terminalOutput);
    success &&= result.success;
  }
  return { success };
}

async function eslint(paths: readonly string[], root: string): Promise<{ results: ESLint.LintResult[]; crash: string }> {
  const folder = await mkdtemp(join(tmpdir(), 'animal-store-lint-'));
  // Not on the standard output, where configuration and plugins may write too.
  const file = join(folder, 'results.json');
  try {
    const child = spawn(process.execPath, [ESLINT, '--format=json', `--output-file=${file}`, '--no-error-on-unmatched-pattern', ...paths], {
      cwd: root,
      // The graph is there; see eslint.config.mjs.
      env: { ...process.env, NX_TASK_TARGET_PROJECT: 'all' },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    const closed = once(child, 'close') as Promise<[number | null]>;
    const [output, errors, [code]] = await Promise.all([text(child.stdout), text(child.stderr), closed]);
    // 0 and 1: ESLint ran.
    if (code !== 0 && code !== 1) return { results: [], crash: `${output}${errors}\n` };
    return { results: JSON.parse(await readFile(file, 'utf8')) as ESLint.LintResult[], crash: '' };
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
