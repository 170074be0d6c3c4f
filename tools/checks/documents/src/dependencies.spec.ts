import { describe, expect, it } from '@jest/globals';
import { readText } from '@animal-store/checks/workspace';

type Section = 'dependencies' | 'devDependencies' | 'overrides';
const manifest = JSON.parse(readText('package.json')) as Record<Section, Record<string, unknown>>;
const sections = readText('docs/dependencies.md').split(/^## /m);
const [, deployed = '', development = ''] = sections;
const versions = sections.find((section) => section.startsWith('Versions\n')) ?? '';

describe('docs/dependencies.md names exactly', () => {
  it.each([
    ['the deployed dependencies', deployed, manifest.dependencies],
    ['the development dependencies', development, manifest.devDependencies],
  ])('%s', (_, section, dependencies) => {
    const explained = [...section.matchAll(/^- `([^`]+)`: /gm)].map(([, name]) => name);
    const [, others = ''] = section.split(/^Others: /m);
    const listed = [...others.matchAll(/`([^`]+)`/g)].map(([, name]) => name);
    expect([...explained, ...listed].sort()).toEqual(Object.keys(dependencies).sort());
  });

  it('the overrides', () => {
    expect(Object.keys(manifest.overrides).filter((name) => !versions.includes(`\`${name}\``))).toEqual([]);
  });
});
