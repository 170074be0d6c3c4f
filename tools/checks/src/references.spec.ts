import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { runNode } from './run-node.js';

const NX = fileURLToPath(import.meta.resolve('nx/bin/nx.js'));

it('the TypeScript references are those of the imports (npx nx sync)', async () => {
  const env = { ...process.env, NX_DAEMON: 'false', NX_TUI: 'false' };
  const { exitCode, output } = await runNode([NX, 'sync:check'], env);
  expect(exitCode, output).toBe(0);
}, 120_000);
