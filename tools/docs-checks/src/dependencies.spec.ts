import { describe, expect, it } from '@jest/globals';
import { readText } from '@animal-store/checks/workspace';

const manifest = JSON.parse(readText('package.json')) as Record<'dependencies' | 'devDependencies', Record<string, string>>;
const [, deployed = '', development = ''] = readText('docs/dependencies.md').split(/^## /m);

describe('docs/dependencies.md has a reason for exactly', () => {
  it.each([
    ['the deployed dependencies', deployed, manifest.dependencies],
    ['the development dependencies', development, manifest.devDependencies],
  ])('%s', (_, section, dependencies) => {
    const explained = [...section.matchAll(/^\| `([^`]+)` +\| /gm)].map(([, name]) => name);
    expect(explained).toEqual(Object.keys(dependencies).sort());
  });
});
