import { fileURLToPath } from 'node:url';
import { expect, it } from '@jest/globals';
import { runNode } from './run-node.js';

const NX = fileURLToPath(import.meta.resolve('nx/bin/nx.js'));

it('the TypeScript references are those of the imports (npx nx sync)', async () => {
  const env = { ...process.env, NX_DAEMON: 'false', NX_TUI: 'false' };
  expect(await runNode([NX, 'sync:check'], env)).toEqual({ exitCode: 0, output: expect.any(String) });
}, 120_000);
