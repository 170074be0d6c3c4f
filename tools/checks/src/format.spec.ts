import { fileURLToPath } from 'node:url';
import { expect, it } from '@jest/globals';
import { runNode } from './run-node.js';

const PRETTIER = fileURLToPath(import.meta.resolve('prettier/bin/prettier.cjs'));

it('every file is formatted (npm run format)', async () => {
  expect(await runNode([PRETTIER, '--list-different', '.'])).toEqual({ exitCode: 0, output: '' });
}, 120_000);
