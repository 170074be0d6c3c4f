import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, describe, expect, it } from '@jest/globals';
import type { TaskResult } from '@nx/devkit';
import { createTestNodes } from './inferred-targets.js';
import { checkNames, checkTasks, type RequestedTasks, requestedTasks } from './requested-tasks.js';
import { REPORT, summarize } from './summary.js';

const ROOT = join(import.meta.dirname, '../../../..');
const FILES = ['apps/api-e2e/src/redis.verify.ts', 'apps/api-e2e/src/keys.spec.ts', 'apps/api-e2e/src/pages/pages.verify.ts'];

it('each suite is a target that needs what the specs of its project need, and verify runs all suites', async () => {
  const [, createNodes] = createTestNodes;
  const [[, { projects = {} }] = ['', {}]] = await createNodes(FILES, undefined, { workspaceRoot: ROOT, nxJsonConfiguration: {} });
  const targets = projects['apps/api-e2e']?.targets ?? {};
  expect(targets['test']?.options).toMatchObject({ args: expect.arrayContaining(['--runInBand']) });
  expect(Object.keys(targets)).toEqual(['test', 'redis', 'pages', 'verify']);
  expect(targets['redis']).toMatchObject({
    command: 'jest --testMatch="**/*.verify.ts" --runTestsByPath apps/api-e2e/src/redis.verify.ts',
    dependsOn: [{ target: 'bundle' }],
    inputs: expect.arrayContaining(['default', 'jest', '{workspaceRoot}/docs/**/*']),
  });
  expect(targets['verify']).toMatchObject({ dependsOn: ['redis', 'pages'] });
});

const WORKSPACE = { kernel: ['build', 'test'], 'api-e2e': ['build', 'test', 'redis'], 'pets-contract': ['build'] };

const parse = (command: string) => requestedTasks(['node', 'nx', ...command.split(' ')]) as RequestedTasks;

describe('requestedTasks', () => {
  it.each([
    ['run-many -t build test', ['build', 'test'], []],
    ['run-many -t redis,draining --parallel 2 --outputStyle=static', ['redis', 'draining'], []],
    ['run-many --target=build --targets test -p kernel,api client', ['build', 'test'], ['kernel', 'api', 'client']],
    ['run-many --projects=tag:scope:pets -t test', ['test'], ['tag:scope:pets']],
    ['affected -t test --base main', ['test'], []],
    ['run-many -t test -- -t name', ['test'], []],
    ['run-many -t', [], []],
  ])('of nx %s', (command, targets, projects) => {
    expect(parse(command)).toMatchObject({ targets, projects });
  });

  it('is undefined for other commands', () => {
    expect(parse('test kernel')).toBeUndefined();
  });
});

describe('checkNames', () => {
  it.each([
    ['run-many -t', 'Name a suite or a target. docs/commands.md lists the suites.'],
    ['run-many -t redis wrokers', 'No project has the target "wrokers". docs/commands.md lists the suites.'],
    ['affected -t tset', 'No project has the target "tset". docs/commands.md lists the suites.'],
    ['run-many -t test -p kernel,kernal', 'No project is named "kernal".'],
  ])('rejects nx %s', (command, message) => {
    expect(() => checkNames(parse(command), WORKSPACE)).toThrow(new Error(message));
  });

  it.each(['run-many -t build redis', 'run-many -t test -p kernel tag:scope:pets *-e2e libs/pets/*', 'affected -t test'])(
    'accepts nx %s',
    (command) => {
      expect(() => checkNames(parse(command), WORKSPACE)).not.toThrow();
    },
  );
});

describe('checkTasks', () => {
  it.each([
    ['run-many -t redis -p kernel', [], 'Nothing ran: no selected project has the target redis.'],
    ['run-many -t build test -p pets-contract', ['build'], 'No test ran: no selected project has tests.'],
  ])('rejects nx %s if only %j ran', (command, ran, message) => {
    expect(() => checkTasks(parse(command), ran)).toThrow(new Error(message));
  });

  it.each([
    ['run-many -t build -p pets-contract', ['build']],
    ['run-many -t build test', ['build', 'test']],
    ['affected -t build test', []],
  ])('accepts nx %s if %j ran', (command, ran) => {
    expect(() => checkTasks(parse(command), ran)).not.toThrow();
  });
});

type Status = TaskResult['status'];

const folder = mkdtempSync(join(tmpdir(), 'animal-store-summary-'));

afterAll(() => rmSync(folder, { recursive: true }));

/** Returns the result of a task. If `counts` is set, also writes a Jest report with these counts to the folder of the project. */
function result(
  project: string,
  target: string,
  status: Status = 'success',
  counts?: readonly [passed: number, failed: number],
): TaskResult {
  const startTime = 1_000;
  if (counts) {
    const file = join(folder, project, REPORT);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, JSON.stringify({ startTime, numPassedTests: counts[0], numFailedTests: counts[1] }));
  }
  const task = { id: `${project}:${target}`, target: { project, target }, projectRoot: project, startTime, outputs: [], overrides: {} };
  return { task, status, code: 0 } as unknown as TaskResult;
}

const lastLine = (...results: TaskResult[]) => summarize(results, folder).split('\n').at(-1);

describe('summarize', () => {
  it('prints a line per tested project, sorted, and the sum last', () => {
    const results = [
      result('pets-domain', 'build'),
      result('pets-domain', 'test', 'success', [12, 0]),
      result('database', 'build', 'local-cache'),
      result('kernel', 'test', 'local-cache', [30, 0]),
    ];
    expect(summarize(results, folder)).toBe('kernel       30 passed\npets-domain  12 passed\n\n42 passed, 0 failed');
  });

  it.each(['lint', 'build'])('counts a failed %s as one failure and names it', (target) => {
    const summary = summarize([result('kernel', target, 'failure'), result('kernel', 'test', 'success', [30, 0])], folder);
    expect(summary).toBe(`kernel  30 passed  ${target} failure\n\n30 passed, 1 failed`);
  });

  it('counts each failed test', () => {
    expect(lastLine(result('kernel', 'test', 'failure', [10, 3]))).toBe('10 passed, 3 failed');
  });

  it('counts a failed test task without a failed test, such as a file that cannot be loaded', () => {
    expect(lastLine(result('kernel', 'test', 'failure', [10, 0]))).toBe('10 passed, 1 failed');
  });

  it.each<Status>(['skipped', 'stopped'])('counts a %s task', (status) => {
    expect(summarize([result('skipped', 'test', status)], folder)).toBe(`skipped  0 passed  test ${status}\n\n0 passed, 1 failed`);
  });

  it('counts no tests of a project without a report, and none for other targets', () => {
    expect(lastLine(result('empty', 'test'), result('kernel', 'test', 'success', [7, 0]), result('kernel', 'build'))).toBe(
      '7 passed, 0 failed',
    );
  });

  it('ignores the report of an earlier run', () => {
    const crashed = result('kernel', 'test', 'failure', [7, 0]);
    crashed.task.startTime = 1_001;
    expect(lastLine(crashed)).toBe('0 passed, 1 failed');
    const { startTime: _none, ...task } = result('kernel', 'test', 'skipped', [7, 0]).task;
    expect(lastLine({ ...crashed, status: 'skipped', task })).toBe('0 passed, 1 failed');
  });
});
