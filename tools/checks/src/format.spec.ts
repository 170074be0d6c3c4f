import { expect, it } from '@jest/globals';
import { runTool } from './run-tool.js';

it('every file is formatted (npm run format)', async () => {
  expect(await runTool('prettier', ['--list-different', '.'])).toEqual({ exitCode: 0, output: '' });
});
