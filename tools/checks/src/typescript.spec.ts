import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { expect, it } from '@jest/globals';
import { readText, ROOT } from './workspace.js';

// Two installed packages have this command (ADR 2).
it('the command tsc is the compiler that package.json names', () => {
  const { devDependencies } = JSON.parse(readText('package.json')) as { devDependencies: Record<string, string> };
  const version = devDependencies['@typescript/7']?.replace('npm:typescript@', '');
  const command = join(ROOT, 'node_modules/.bin/tsc');
  const printed = execFileSync(command, ['--version'], { encoding: 'utf8', shell: process.platform === 'win32' });
  expect(printed.trim()).toBe(`Version ${version}`);
});
