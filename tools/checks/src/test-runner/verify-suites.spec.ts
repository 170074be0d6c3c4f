import { join } from 'node:path';
import { expect, it } from '@jest/globals';
import { createVerifyNodes } from './verify-suites.js';

const ROOT = join(import.meta.dirname, '../../..');
const FILES = [
  'apps/service-e2e/src/redis.verify.ts',
  'tools/checks/src/testing/knip.verify.ts',
  'apps/service-e2e/src/pages/pages.verify.ts',
];

async function inferredTargets(project: string) {
  const [, createNodes] = createVerifyNodes;
  const results = await createNodes(FILES, undefined, { workspaceRoot: ROOT, nxJsonConfiguration: {} });
  return Object.assign({}, ...results.map(([, { projects = {} }]) => projects[project]?.targets ?? {})) as Record<string, object>;
}

it('each suite is a target that needs what the specs of its project need', async () => {
  const targets = await inferredTargets('apps/service-e2e');
  expect(Object.keys(targets)).toEqual(['redis', 'verify', 'pages']);
  expect(targets['redis']).toMatchObject({
    command: 'jest --config jest.verify.config.js --runTestsByPath apps/service-e2e/src/redis.verify.ts',
    dependsOn: ['build', { target: 'bundle' }],
    inputs: expect.arrayContaining(['default', 'jest', '{workspaceRoot}/docs/guides/**/*', '{workspaceRoot}/jest.verify.config.js']),
  });
});

it('the target verify runs all suites of the project', async () => {
  expect((await inferredTargets('apps/service-e2e'))['verify']).toMatchObject({ dependsOn: ['redis', 'pages'] });
  expect((await inferredTargets('tools/checks'))['verify']).toMatchObject({ dependsOn: ['knip'] });
});
