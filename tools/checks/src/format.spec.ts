import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';
import { ROOT } from './workspace.js';

const PRETTIER = fileURLToPath(import.meta.resolve('prettier/bin/prettier.cjs'));

it('every file is formatted (npm run format)', async () => {
  const checked = promisify(execFile)(process.execPath, [PRETTIER, '--list-different', '.'], { cwd: ROOT });
  const unformatted = await checked.then(
    ({ stdout }) => stdout,
    ({ stdout, stderr }: { stdout: string; stderr: string }) => stdout + stderr,
  );
  expect(unformatted).toBe('');
}, 120_000);
