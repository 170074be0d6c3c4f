import { expect, it } from '@jest/globals';
import { runTool } from './run-tool.js';

it('the TypeScript references match the imports (npx nx sync)', async () => {
  expect(await runTool('nx', ['sync:check'])).toMatchObject({ exitCode: 0 });
});
