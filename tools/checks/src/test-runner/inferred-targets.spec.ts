import { join } from 'node:path';
import { expect, it } from '@jest/globals';
import { createTestNodes } from './inferred-targets.js';

const ROOT = join(import.meta.dirname, '../../../..');
const FILES = ['apps/service-e2e/src/redis.verify.ts', 'apps/service-e2e/src/keys.spec.ts', 'apps/service-e2e/src/pages/pages.verify.ts'];

it('each suite is a target that needs what the specs of its project need, and verify runs all suites', async () => {
  const [, createNodes] = createTestNodes;
  const [[, { projects = {} }] = ['', {}]] = await createNodes(FILES, undefined, { workspaceRoot: ROOT, nxJsonConfiguration: {} });
  const targets = projects['apps/service-e2e']?.targets ?? {};
  expect(targets['test']?.options).toMatchObject({ args: expect.arrayContaining(['--runInBand']) });
  expect(Object.keys(targets)).toEqual(['test', 'redis', 'pages', 'verify']);
  expect(targets['redis']).toMatchObject({
    command: 'jest --testMatch="**/*.verify.ts" --testTimeout=120000 --runTestsByPath apps/service-e2e/src/redis.verify.ts',
    dependsOn: ['build', { target: 'bundle' }],
    inputs: expect.arrayContaining(['default', 'jest', '{workspaceRoot}/docs/guides/**/*']),
  });
  expect(targets['verify']).toMatchObject({ dependsOn: ['redis', 'pages'] });
});
