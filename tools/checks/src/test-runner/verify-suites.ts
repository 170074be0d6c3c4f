import { readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { createNodesFromFiles, type CreateNodes, type TargetConfiguration } from '@nx/devkit';

const SUITE = '.verify.ts';

/**
 * Infers a target from each `<suite>.verify.ts`, named after the suite, and a target `verify` that runs all suites of the project.
 * A suite needs the same tasks as the target `test` of its project, unless the project's package.json says otherwise.
 */
export const createVerifyNodes: CreateNodes = [
  `{apps,libs,tools}/**/src/**/*${SUITE}`,
  (files, options, context) =>
    createNodesFromFiles(
      (file) => {
        const root = file.slice(0, file.indexOf('/src/'));
        const suite = basename(file, SUITE);
        return {
          projects: {
            [root]: {
              targets: { [suite]: suiteTarget(file, testTarget(context.workspaceRoot, root)), verify: all(suitesOf(root, files)) },
            },
          },
        };
      },
      files,
      options,
      context,
    ),
];

const suitesOf = (root: string, files: readonly string[]) =>
  files.filter((file) => file.startsWith(`${root}/src/`)).map((file) => basename(file, SUITE));

const all = (suites: readonly string[]): TargetConfiguration => ({ executor: 'nx:noop', dependsOn: [...suites] });

function suiteTarget(
  file: string,
  { dependsOn = ['build'], inputs = ['default', '^production'] }: TargetConfiguration,
): TargetConfiguration {
  return {
    command: `jest --config jest.verify.config.js --runTestsByPath ${file}`,
    options: { cwd: '{workspaceRoot}', env: { NODE_OPTIONS: '--experimental-vm-modules --disable-warning=ExperimentalWarning' } },
    cache: true,
    // Suites measure, inject load, and share ports of Debian's programs.
    parallelism: false,
    dependsOn,
    inputs: [...new Set([...inputs, 'jest', '{workspaceRoot}/jest.verify.config.js'])] as NonNullable<TargetConfiguration['inputs']>,
  };
}

function testTarget(workspaceRoot: string, root: string): TargetConfiguration {
  const { nx } = JSON.parse(readFileSync(join(workspaceRoot, root, 'package.json'), 'utf8')) as {
    nx?: { targets?: { test?: TargetConfiguration } };
  };
  return nx?.targets?.test ?? {};
}
