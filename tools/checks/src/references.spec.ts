import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';
import { ROOT } from './workspace.js';

const NX = fileURLToPath(import.meta.resolve('nx/bin/nx.js'));

it('the TypeScript references are those of the imports (npx nx sync)', async () => {
  const env = { ...process.env, NX_DAEMON: 'false', NX_TUI: 'false' };
  const checked = promisify(execFile)(process.execPath, [NX, 'sync:check'], { cwd: ROOT, env });
  const complaint = await checked.then(
    () => '',
    ({ stdout, stderr }: { stdout: string; stderr: string }) => stdout + stderr,
  );
  expect(complaint).toBe('');
}, 120_000);
