import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';

const WORKSPACE = join(import.meta.dirname, '../../..');
const read = (file: string) => readFileSync(join(WORKSPACE, file), 'utf8');

const manifest = JSON.parse(read('package.json')) as Record<'dependencies' | 'devDependencies', Record<string, string>>;
const [, deployed = '', development = ''] = read('docs/dependencies.md').split(/^## /m);

describe('docs/dependencies.md says why of exactly', () => {
  it.each([
    ['the dependencies that are deployed', deployed, manifest.dependencies],
    ['those of development', development, manifest.devDependencies],
  ])('%s', (_, section, dependencies) => {
    const explained = [...section.matchAll(/^\| `([^`]+)` +\| /gm)].map(([, name]) => name);
    expect(explained).toEqual(Object.keys(dependencies).sort());
  });
});
