import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';

const WORKSPACE = join(import.meta.dirname, '../../..');
const read = (file: string) => readFileSync(join(WORKSPACE, file), 'utf8');

it('docs/dependencies.md says why of exactly the dependencies that are deployed', () => {
  const { dependencies } = JSON.parse(read('package.json')) as { dependencies: Record<string, string> };
  const explained = [...read('docs/dependencies.md').matchAll(/^\| `([^`]+)` +\| /gm)].map(([, name]) => name);
  expect(explained).toEqual(Object.keys(dependencies).sort());
});
