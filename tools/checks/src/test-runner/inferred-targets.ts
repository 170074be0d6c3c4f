import { existsSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import type { CreateNodes, TargetConfiguration } from '@nx/devkit';

const SUITE = '.verify.ts';
const INTEGRATION_SPEC = '.integration.spec.ts';

type Targets = Readonly<Record<string, TargetConfiguration>>;

const JEST = {
  cache: true,
  options: { cwd: '{workspaceRoot}', env: { NODE_OPTIONS: '--experimental-vm-modules --disable-warning=ExperimentalWarning' } },
} satisfies TargetConfiguration;

/**
 * Infers the target `test` of a project with specs, a target from each `<suite>.verify.ts`, named after the suite, and a target `verify`
 * that runs all suites of the project. A suite needs the same tasks as the target `test`, unless the project says otherwise.
 */
export const createTestNodes: CreateNodes = [
  '{apps,libs,examples,tools}/**/src/**/*.{spec,verify}.ts',
  (files, _options, { workspaceRoot }) =>
    [...Map.groupBy(files, (file) => file.slice(0, file.indexOf('/src/')))].map(([root, ofProject]) => {
      const suites = ofProject.filter((file) => file.endsWith(SUITE));
      const targets = {
        // `targetDefaults` in nx.json has the rest.
        ...(suites.length < ofProject.length && { test: testTarget(root, ofProject) }),
        ...suiteTargets(suites, declaredTest(join(workspaceRoot, root))),
      };
      return [ofProject[0] as string, { projects: { [root]: { targets } } }];
    }),
];

/**
 * Without integration specs, the specs run in the process of Jest, which saves 0.5 s of CPU. Otherwise they run in a worker, which Jest can
 * kill if a failed test leaves a connection.
 */
function testTarget(root: string, files: readonly string[]): TargetConfiguration {
  const workers = files.some((file) => file.endsWith(INTEGRATION_SPEC)) ? '--maxWorkers=1' : '--runInBand';
  const args = ['--json', '--outputFile={projectRoot}/test-results.json', workers];
  return { ...JEST, command: `jest --roots ${root}/src`, options: { ...JEST.options, args } };
}

function suiteTargets(
  files: readonly string[],
  { dependsOn = ['build'], inputs = ['default', '^production', 'jest'] }: TargetConfiguration,
): Targets {
  if (files.length === 0) return {};
  const suites = files.map((file): [string, TargetConfiguration] => [
    basename(file, SUITE),
    // Suites measure, inject load, and share ports of Debian's programs.
    {
      ...JEST,
      command: `jest --testMatch="**/*.verify.ts" --runTestsByPath ${file}`,
      parallelism: false,
      dependsOn,
      inputs,
    },
  ]);
  return { ...Object.fromEntries(suites), verify: { executor: 'nx:noop', dependsOn: suites.map(([name]) => name) } };
}

/** Returns what package.json or project.json says about the target `test`. */
function declaredTest(folder: string): TargetConfiguration {
  const read = (file: string) => JSON.parse(readFileSync(join(folder, file), 'utf8')) as { readonly nx?: object };
  const { targets } = (existsSync(join(folder, 'project.json')) ? read('project.json') : (read('package.json').nx ?? {})) as {
    readonly targets?: Targets;
  };
  return targets?.['test'] ?? {};
}
