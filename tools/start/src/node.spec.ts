import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, cpSync, mkdirSync, mkdtempSync, readlinkSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeEach, describe, expect, it } from '@jest/globals';

const PLATFORM_PACKAGE = 'node-of-this-platform';
const LINK = `../${PLATFORM_PACKAGE}/bin/node`;
const INCOMPLETE = 'Run "npm ci --include=dev --include=optional".';

const temporary = realpathSync(mkdtempSync(join(tmpdir(), "node #%41?'[ü]-")));
let workspace: string;
let clones = 0;

const inModules = (...names: string[]) => join(workspace, 'node_modules', ...names);
const writeJson = (file: string, value: unknown) => writeFileSync(join(workspace, file), JSON.stringify(value));

function platformPackage(changes: object = {}): void {
  const manifest = { version: '99.0.0', os: process.platform, cpu: [process.arch], bin: { node: 'bin/node' }, ...changes };
  writeJson(`node_modules/${PLATFORM_PACKAGE}/package.json`, manifest);
}

/** Writes an executable that stands for the Node.js of node_modules. */
function pinnedNode(script: string): void {
  writeFileSync(inModules(PLATFORM_PACKAGE, 'bin/node'), script);
  chmodSync(inModules(PLATFORM_PACKAGE, 'bin/node'), 0o755);
}

function run(...args: readonly string[]) {
  const { status, signal, stdout, stderr } = spawnSync(process.execPath, ['tools/node.mjs', ...args], { cwd: workspace, encoding: 'utf8' });
  return { exit: signal ?? status, stdout, stderr };
}

/** The workspace is one whose Node.js has the version 99.0.0, as npm before 11.6 installs it: without `node_modules/.bin/node`. */
beforeEach(() => {
  workspace = join(temporary, String(clones++));
  for (const folder of ['tools', ...['.bin', 'jest', `${PLATFORM_PACKAGE}/bin`].map((name) => `node_modules/${name}`)])
    mkdirSync(join(workspace, folder), { recursive: true });
  cpSync(join(import.meta.dirname, '../../node.mjs'), join(workspace, 'tools/node.mjs'));
  writeJson('package.json', {
    devDependencies: { jest: '1.0.0' },
    optionalDependencies: { 'node-of-another-platform': '99.0.0', [PLATFORM_PACKAGE]: '99.0.0' },
  });
  writeJson('node_modules/jest/package.json', {});
  platformPackage();
  pinnedNode('#!/bin/sh\necho "$PATH" && printf "<%s>" "$@"\n');
});
afterAll(() => rmSync(temporary, { recursive: true }));

describe('tools/node.mjs', () => {
  it('runs the Node.js of node_modules with the arguments, also for child processes, and links it for npx', () => {
    const { exit, stdout } = run('program.mjs', 'an argument', '"$HOME"', '');
    expect(exit).toBe(0);
    expect(stdout.startsWith(`${inModules(PLATFORM_PACKAGE, 'bin')}:`)).toBe(true);
    expect(stdout).toMatch(/\n<program\.mjs><an argument><"\$HOME"><>$/);
    expect(readlinkSync(inModules('.bin/node'))).toBe(LINK);
  });

  it('runs a program in its own process if that is the Node.js of node_modules', () => {
    rmSync(inModules(PLATFORM_PACKAGE, 'bin/node'));
    symlinkSync(process.execPath, inModules(PLATFORM_PACKAGE, 'bin/node'));
    const program = 'console.log(JSON.stringify([...process.argv.slice(1), process.ppid])); process.exitCode = 3;';
    writeFileSync(join(workspace, 'program.mjs'), program);
    const stdout = `${JSON.stringify([join(workspace, 'program.mjs'), 'an argument', process.pid])}\n`;
    expect(run('program.mjs', 'an argument')).toEqual({ exit: 3, stdout, stderr: '' });
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
    pinnedNode('#!/bin/sh\ntrap "sleep 0.05; exit 5" INT TERM HUP\necho started; while :; do sleep 0.01; done\n');
    const child = spawn(process.execPath, ['tools/node.mjs', 'program.mjs'], { cwd: workspace });
    await once(child.stdout, 'data');
    child.kill(signal);
    expect(await once(child, 'exit')).toEqual([5, null]);
  });

  it.each([
    ['directly', 'exec "$0" tools/node.mjs program.mjs'],
    ['through a shell that outlives npm', '"$0" tools/node.mjs program.mjs; true'],
  ])('sends the program one signal if npm, which started it %s, is killed', async (_how, command) => {
    const waiting = 'while [ $n -eq 0 ]; do sleep 0.01; done; sleep 0.3 & wait; sleep 0.3';
    pinnedNode(`#!/bin/sh\nn=0; trap 'n=$((n+1))' TERM; echo started; ${waiting}; echo "signals: $n"\n`);
    // Stands for npm.
    const script = `child_process.spawn('sh', ['-c', ${JSON.stringify(command)}, process.execPath], { stdio: 'inherit' })`;
    const npm = spawn(process.execPath, ['-e', script], { cwd: workspace, env: { ...process.env, npm_lifecycle_event: 'start' } });
    await nextLine(npm);
    npm.kill('SIGKILL');
    expect(await nextLine(npm)).toBe('signals: 1\n');
  });

  it.each<[string, () => void, string]>([
    ['nothing is installed', () => rmSync(inModules(), { recursive: true }), `node_modules lacks jest. ${INCOMPLETE}`],
    ['a package is incomplete', () => rmSync(inModules('jest/package.json')), `node_modules lacks jest. ${INCOMPLETE}`],
    ['it is an earlier one', () => platformPackage({ version: '98.0.0' }), `node_modules lacks Node.js 99.0.0. ${INCOMPLETE}`],
    ['it is incomplete', () => rmSync(inModules(LINK.slice(3))), `node_modules lacks Node.js 99.0.0. ${INCOMPLETE}`],
    [
      'there is none for the platform',
      () => platformPackage({ cpu: 'riscv64' }),
      `node_modules lacks Node.js for ${process.platform}-${process.arch}. Run this with Node.js 99.0.0.`,
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
    writeFileSync(join(workspace, 'program.mjs'), '');
    expect(run('program.mjs', 'an argument')).toMatchObject({ exit: 0, stderr: '' });
  });
});

describe('npm run postinstall', () => {
  it('links the Node.js of node_modules', () => {
    expect(run()).toEqual({ exit: 0, stdout: '', stderr: '' });
    expect(readlinkSync(inModules('.bin/node'))).toBe(LINK);
  });

  it('only warns after npm ci --omit=dev', () => {
    rmSync(inModules('jest'), { recursive: true });
    expect(run()).toMatchObject({ exit: 0, stderr: `node_modules lacks jest. ${INCOMPLETE}\n` });
  });
});

it('tools/build.mjs fails if the compiler does', () => {
  const { status } = spawnSync(process.execPath, [join(import.meta.dirname, '../../build.mjs'), 'missing'], { encoding: 'utf8' });
  expect(status).toBe(1);
});

async function nextLine({ stdout }: ChildProcess): Promise<string> {
  return String((await once(stdout as NodeJS.ReadableStream & NodeJS.EventEmitter, 'data'))[0]);
}
