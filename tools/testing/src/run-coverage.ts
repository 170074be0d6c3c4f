/**
 * `npm run coverage`: what all suites together reach, for each project, in the processes that they start too; beside
 * the tests a round of `npm run chaos`. Fails where that is not enough.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { workspaceRoot } from '@nx/devkit';
import { addChildProcesses } from './child-coverage.ts';
import { reportCoverage } from './coverage-table.ts';
import type { Coverage } from './merge-coverage.ts';

const TSC = fileURLToPath(import.meta.resolve('typescript/bin/tsc'));
const VITEST = fileURLToPath(new URL('vitest.mjs', import.meta.resolve('vitest/package.json')));
const FOLDER = join(workspaceRoot, 'coverage');
const PROCESSES = join(FOLDER, 'processes');

await rm(FOLDER, { recursive: true, force: true });
const failed: string[] = [];
for (const [name, script, ...args] of [
  ['the build', TSC, '--build'],
  ['a test', VITEST, 'run', '--coverage'],
  ['chaos', join(workspaceRoot, 'tools/chaos/dist/main.js'), '--rounds=1', '--outage=3'],
] as const) {
  if ((await run(script, args)) !== 0) failed.push(name);
}

const coverage = JSON.parse(await readFile(join(FOLDER, 'coverage-final.json'), 'utf8')) as Coverage;
await addChildProcesses(coverage, PROCESSES, workspaceRoot);
const { lines, gaps } = reportCoverage(coverage, workspaceRoot);
const problems = [...failed.map((name) => `${name} failed`), ...gaps];
console.log(['', ...lines, '', ...problems].join('\n'));
process.exitCode = problems.length === 0 ? 0 : 1;

async function run(script: string, args: readonly string[]): Promise<number> {
  const env = { ...process.env, NODE_V8_COVERAGE: PROCESSES, PROGRAM_FOLDER: 'dist' };
  const child = spawn(process.execPath, [script, ...args], { cwd: workspaceRoot, env, stdio: 'inherit' });
  const [code] = (await once(child, 'close')) as [number | null];
  return code ?? 1;
}
