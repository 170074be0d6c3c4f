import { describe, expect, it } from '@jest/globals';
import { checkNames, checkTasks, type RequestedTasks, requestedTasks } from './requested-tasks.js';

const WORKSPACE = { kernel: ['build', 'test'], 'service-e2e': ['build', 'test', 'redis'], 'pets-contract': ['build'] };

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
