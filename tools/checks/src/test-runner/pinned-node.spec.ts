import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, cpSync, mkdirSync, mkdtempSync, readlinkSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeEach, describe, expect, it } from '@jest/globals';

const TOOLS = join(import.meta.dirname, '../../..');
const PLATFORM_PACKAGE = 'node-of-this-platform';
const PROGRAM = 'console.log(JSON.stringify(process.argv.slice(1)));';

const temporary = realpathSync(mkdtempSync(join(tmpdir(), "pinned node #%41?'[ü]-")));
let workspace: string;
let clones = 0;

/** Writes an executable that stands for the Node.js of node_modules. */
function pinnedNode(script: string): void {
  const file = join(workspace, 'node_modules', PLATFORM_PACKAGE, 'bin/node');
  rmSync(file, { force: true });
  writeFileSync(file, script);
  chmodSync(file, 0o755);
}

function writeJson(file: string, value: unknown): void {
  writeFileSync(join(workspace, file), JSON.stringify(value));
}

function platformPackage(changes: object = {}): void {
  const { platform, arch } = process;
  writeJson(`node_modules/${PLATFORM_PACKAGE}/package.json`, {
    version: '99.0.0',
    os: platform,
    cpu: [arch],
    bin: { node: 'bin/node' },
    ...changes,
  });
}

function run(...args: readonly string[]) {
  const { status, signal, stdout, stderr } = spawnSync(process.execPath, ['tools/node.mjs', ...args], { cwd: workspace, encoding: 'utf8' });
  return { exit: signal ?? status, stdout, stderr };
}

/** The workspace is one whose Node.js has the version 99.0.0, as npm before 11.6 installs it: without `node_modules/.bin/node`. */
beforeEach(() => {
  workspace = join(temporary, String(clones++));
  for (const folder of ['tools', 'node_modules/.bin', 'node_modules/pg', 'node_modules/jest', `node_modules/${PLATFORM_PACKAGE}/bin`])
    mkdirSync(join(workspace, folder), { recursive: true });
  for (const name of ['link-node.mjs', 'node.mjs', 'pinned-node.mjs']) cpSync(join(TOOLS, name), join(workspace, 'tools', name));
  writeJson('package.json', {
    dependencies: { pg: '1.0.0' },
    devDependencies: { jest: '1.0.0' },
    optionalDependencies: { 'node-of-another-platform': '99.0.0', [PLATFORM_PACKAGE]: '99.0.0' },
  });
  for (const name of ['pg', 'jest']) writeJson(`node_modules/${name}/package.json`, {});
  writeFileSync(join(workspace, 'program.mjs'), PROGRAM);
  platformPackage();
  pinnedNode('#!/bin/sh\necho "$PATH" && printf "<%s>" "$@"\n');
});
afterAll(() => rmSync(temporary, { recursive: true }));

describe('tools/node.mjs', () => {
  it('runs the Node.js of node_modules with the arguments, also for child processes', () => {
    const { exit, stdout } = run('program.mjs', 'an argument', '"$HOME"', '');
    expect(exit).toBe(0);
    expect(stdout.startsWith(`${join(workspace, 'node_modules', PLATFORM_PACKAGE, 'bin')}:`)).toBe(true);
    expect(stdout).toMatch(/\n<program\.mjs><an argument><"\$HOME"><>$/);
  });

  it('links it again in node_modules/.bin, for npx', () => {
    run('program.mjs');
    expect(readlinkSync(join(workspace, 'node_modules/.bin/node'))).toBe(`../${PLATFORM_PACKAGE}/bin/node`);
    expect(run('program.mjs').exit).toBe(0);
  });

  it('runs a program in its own process if that is the Node.js of node_modules', () => {
    rmSync(join(workspace, 'node_modules', PLATFORM_PACKAGE, 'bin/node'));
    symlinkSync(process.execPath, join(workspace, 'node_modules', PLATFORM_PACKAGE, 'bin/node'));
    writeFileSync(join(workspace, 'program.mjs'), `${PROGRAM} console.log(String(process.ppid)); process.exitCode = 3;`);
    expect(run('program.mjs', 'an argument')).toEqual({
      exit: 3,
      stdout: `${JSON.stringify([join(workspace, 'program.mjs'), 'an argument'])}\n${process.pid}\n`,
      stderr: '',
    });
    expect(run('--print', 'String(1 + 1)').stdout).toBe('2\n');
  });

  it.each([
    ['exit 7', 7],
    ['kill -KILL $$', 'SIGKILL'],
  ])('ends like the program, which ends with %s', (script, exit) => {
    pinnedNode(`#!/bin/sh\n${script}\n`);
    expect(run('program.mjs').exit).toBe(exit);
  });

  it.each(['SIGINT', 'SIGTERM', 'SIGHUP'] as const)('forwards %s and waits for the program', async (signal) => {
    const child = await startTrap();
    child.kill(signal);
    expect(await once(child, 'exit')).toEqual([5, null]);
  });

  it('sends the program one signal if npm is gone, so that it can stop in its own time', async () => {
    const script = `"${process.execPath}" tools/node.mjs program.mjs & wait`;
    const waiting = 'while [ $n -eq 0 ]; do sleep 0.01; done; sleep 0.3 & wait; sleep 0.3';
    pinnedNode(`#!/bin/sh\nn=0; trap 'n=$((n+1))' TERM; echo started; ${waiting}; echo "signals: $n"\n`);
    const shell = spawn('sh', ['-c', script], { cwd: workspace, env: { ...process.env, npm_lifecycle_event: 'start' } });
    await once(shell.stdout, 'data');
    shell.kill('SIGKILL');
    expect(String(await once(shell.stdout, 'data'))).toBe('signals: 1\n');
  });

  it.each<[string, () => void, string]>([
    [
      'nothing is installed',
      () => rmSync(join(workspace, 'node_modules'), { recursive: true }),
      'The packages are not installed. Run "npm ci".',
    ],
    [
      'a package is missing, as after NODE_ENV=production npm ci',
      () => rmSync(join(workspace, 'node_modules/jest'), { recursive: true }),
      'node_modules lacks jest. Run "npm ci --include=dev --include=optional".',
    ],
    [
      'npm was interrupted while it extracted a package',
      () => rmSync(join(workspace, 'node_modules/pg/package.json')),
      'node_modules lacks pg. Run "npm ci --include=dev --include=optional".',
    ],
    [
      'its version is an earlier one',
      () => platformPackage({ version: '98.0.0' }),
      `node_modules has ${PLATFORM_PACKAGE} 98.0.0 instead of 99.0.0. Run "npm ci --include=dev --include=optional".`,
    ],
    [
      'the installation was interrupted',
      () => rmSync(join(workspace, 'node_modules', PLATFORM_PACKAGE, 'bin/node')),
      `node_modules lacks the program of ${PLATFORM_PACKAGE}. Run "npm ci --include=dev --include=optional".`,
    ],
    [
      'there is none for the platform',
      () => platformPackage({ cpu: 'riscv64' }),
      `node_modules has no Node.js for ${process.platform}-${process.arch}. If package.json has one, run "npm ci --include=optional". Otherwise run this with Node.js 99.0.0.`,
    ],
    [
      'it cannot run here',
      () => pinnedNode('#!/lib/ld-missing.so\n'),
      'bin/node cannot run. It requires glibc, which Alpine Linux does not have.',
    ],
  ])('prints one line if %s', (_case, change, line) => {
    change();
    const { exit, stdout, stderr } = run('program.mjs');
    expect({ exit, stdout }).toEqual({ exit: 1, stdout: '' });
    expect(stderr).toMatch(/^.*\n$/);
    expect(stderr.endsWith(`${line}\n`)).toBe(true);
  });

  it('uses the Node.js that runs it on another platform, if that is new enough', () => {
    writeJson('package.json', { optionalDependencies: { 'node-of-another-platform': process.versions.node } });
    expect(run('program.mjs', 'an argument')).toMatchObject({ exit: 0, stderr: '' });
  });

  /** Starts a program that exits with code 5 after a signal, and resolves when it runs. */
  async function startTrap(): Promise<ChildProcess> {
    pinnedNode('#!/bin/sh\ntrap "sleep 0.05; exit 5" INT TERM HUP\necho started; while :; do sleep 0.01; done\n');
    const child = spawn(process.execPath, ['tools/node.mjs', 'program.mjs'], { cwd: workspace });
    await once(child.stdout, 'data');
    await sleep(20);
    return child;
  }
});

describe('npm run postinstall', () => {
  const postinstall = () => spawnSync(process.execPath, ['tools/link-node.mjs'], { cwd: workspace, encoding: 'utf8' });

  it('links the Node.js of node_modules', () => {
    expect(postinstall()).toMatchObject({ status: 0, stdout: '', stderr: '' });
    expect(readlinkSync(join(workspace, 'node_modules/.bin/node'))).toBe(`../${PLATFORM_PACKAGE}/bin/node`);
  });

  it('only warns after npm ci --omit=dev', () => {
    rmSync(join(workspace, 'node_modules/jest'), { recursive: true });
    expect(postinstall()).toMatchObject({
      status: 0,
      stderr: 'node_modules lacks jest. Run "npm ci --include=dev --include=optional".\n',
    });
  });
});

describe('requirePinnedNode', () => {
  it.each(['99.0.0', '0.0.1', process.versions.node])('requires Node.js %s or newer', (version) => {
    writeJson('package.json', { optionalDependencies: { [PLATFORM_PACKAGE]: version } });
    writeFileSync(join(workspace, 'program.mjs'), "import { requirePinnedNode } from './tools/pinned-node.mjs'; requirePinnedNode();");
    const { status, stderr } = spawnSync(process.execPath, ['program.mjs'], { cwd: workspace, encoding: 'utf8' });
    expect(status).toBe(version === '99.0.0' ? 1 : 0);
    expect(stderr.includes(`This runs on Node.js ${process.versions.node} but requires the 99.0.0 in node_modules. Run `)).toBe(
      status === 1,
    );
  });
});
