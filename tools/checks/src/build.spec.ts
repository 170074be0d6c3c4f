import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterAll, beforeEach, describe, expect, it } from '@jest/globals';

const temporary = realpathSync(mkdtempSync(join(tmpdir(), 'build #%41 [x]-')));
let workspace: string;
let lock: string;

/** A workspace whose compiler logs its start, its arguments and its end. */
beforeEach(() => {
  workspace = mkdtempSync(join(temporary, 'w-'));
  lock = join(workspace, '.nx/build.pid');
  for (const folder of ['tools', 'node_modules/@typescript/7/bin']) mkdirSync(join(workspace, folder), { recursive: true });
  cpSync(join(import.meta.dirname, '../../build.mjs'), join(workspace, 'tools/build.mjs'));
  writeFileSync(join(workspace, 'package.json'), '{"type":"module"}');
  compiler('log("start"); setTimeout(() => log("end"), 100);');
});
afterAll(() => rmSync(temporary, { recursive: true }));

function compiler(code: string): void {
  const log = 'const log = (text) => appendFileSync("log", `${text}\\n`);';
  writeFileSync(join(workspace, 'node_modules/@typescript/7/bin/tsc'), `import { appendFileSync } from 'node:fs';\n${log}\n${code}`);
}

async function build(...projects: readonly string[]) {
  const child = spawn(process.execPath, [join(workspace, 'tools/build.mjs'), ...projects], { cwd: workspace });
  const [stderr] = await Promise.all([text(child.stderr), once(child, 'exit')]);
  return { exitCode: child.exitCode, stderr };
}

const logged = () => readFileSync(join(workspace, 'log'), 'utf8').trim().split('\n');

describe('tools/build.mjs', () => {
  it('builds the projects', async () => {
    compiler('log(process.argv.slice(2).join());');
    expect(await build('apps/cli', 'tools/x')).toEqual({ exitCode: 0, stderr: '' });
    expect(logged()).toEqual([['-b', join(workspace, 'apps/cli'), join(workspace, 'tools/x')].join()]);
    expect(existsSync(lock)).toBe(false);
  });

  it('lets one process build at a time', async () => {
    const results = await Promise.all([build(), build(), build()]);
    expect(results.map(({ exitCode }) => exitCode)).toEqual([0, 0, 0]);
    expect(logged()).toEqual(['start', 'end', 'start', 'end', 'start', 'end']);
    expect(results.map(({ stderr }) => stderr).join('')).toMatch(
      /^Waiting for process \d+, which builds\. If it does not, delete .*build\.pid\.\n/,
    );
  });

  it('does not wait for a process that was killed', async () => {
    mkdirSync(join(workspace, '.nx'));
    const killed = spawn(process.execPath, ['--eval', '']);
    await once(killed, 'exit');
    writeFileSync(lock, `${killed.pid}`);
    expect(await build()).toEqual({ exitCode: 0, stderr: '' });
  });

  it('fails if the compiler fails, and lets the next process build', async () => {
    compiler('process.exitCode = 2;');
    expect(await build()).toEqual({ exitCode: 1, stderr: '' });
    expect(existsSync(lock)).toBe(false);
  });

  it('builds without a lock in a folder where it cannot create one', async () => {
    writeFileSync(join(workspace, '.nx'), '');
    expect(await build()).toEqual({ exitCode: 0, stderr: '' });
    expect(logged()).toEqual(['start', 'end']);
  });
});
