import { join } from 'node:path';
import { expect, it } from '@jest/globals';
import type { TargetConfiguration } from '@nx/devkit';
import { createTestNodes } from './inferred-targets.js';

const ROOT = join(import.meta.dirname, '../../../..');
const FILES = [
  'apps/service-e2e/src/redis.verify.ts',
  'apps/service-e2e/src/keys.spec.ts',
  'tools/checks/src/testing/affected.verify.ts',
  'tools/checks/contexts/src/openapi.spec.ts',
  'apps/service-e2e/src/pages/pages.verify.ts',
];

async function inferredTargets(project: string): Promise<Record<string, TargetConfiguration>> {
  const [, createNodes] = createTestNodes;
  const results = await createNodes(FILES, undefined, { workspaceRoot: ROOT, nxJsonConfiguration: {} });
  const found = results.find(([, { projects = {} }]) => project in projects);
  return found?.[1].projects?.[project]?.targets ?? {};
}

it('a project with specs has the target test', async () => {
  expect(await inferredTargets('tools/checks/contexts')).toEqual({
    test: expect.objectContaining({ command: 'jest --roots tools/checks/contexts/src' }),
  });
  expect(Object.keys(await inferredTargets('tools/checks'))).toEqual(['affected', 'verify']);
});

it('each suite is a target that needs what the specs of its project need, and verify runs all suites', async () => {
  const targets = await inferredTargets('apps/service-e2e');
  expect(Object.keys(targets)).toEqual(['test', 'redis', 'pages', 'verify']);
  expect(targets['redis']).toMatchObject({
    command: 'jest --testMatch="**/*.verify.ts" --testTimeout=120000 --runTestsByPath apps/service-e2e/src/redis.verify.ts',
    dependsOn: ['build', { target: 'bundle' }],
    inputs: expect.arrayContaining(['default', 'jest', '{workspaceRoot}/docs/guides/**/*']),
  });
  expect(targets['verify']).toMatchObject({ dependsOn: ['redis', 'pages'] });
});
