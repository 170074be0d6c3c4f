import { expect, it } from '@jest/globals';
import { readText, workspaceFiles } from './workspace.js';

/** Code that the service, its client, its command line and `npm start` run. */
const PRODUCTION = /^(?:apps\/(?:api|cli)|libs\/[^/]+(?:\/[^/]+)?|tools\/(?:start|faults))\/src\/.+(?<!\.(?:spec|verify))\.ts$/;
const WALL_CLOCK = /\bDate\.now\(\)|\bnew Date\(\)/;

/** Files that need the time of day. A clock that is set must not change durations and time limits: they use `performance.now()`. */
const TIME_OF_DAY = [
  'apps/api/src/contexts/job-runner.ts',
  'apps/api/src/http/socket-errors.ts',
  'apps/api/src/observability/logger.ts',
  'apps/cli/src/database-checks.ts',
  'libs/client/src/retry.ts',
  'libs/kernel/src/clock.ts',
  'tools/faults/src/chaos/main.ts',
  'tools/faults/src/fault-record.ts',
];

it('only code that needs the time of day reads the wall clock', () => {
  const readers = workspaceFiles().filter((file) => PRODUCTION.test(file) && !file.includes('testing/') && WALL_CLOCK.test(readText(file)));
  expect(readers.toSorted()).toEqual(TIME_OF_DAY);
});
