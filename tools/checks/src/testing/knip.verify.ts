import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { runTool } from '../run-tool.js';
import { ROOT, workspaceFiles } from '../workspace.js';

describe('knip reports', () => {
  let folder: string;
  let output: string;

  beforeAll(async () => {
    folder = copyWorkspace();
    const append = (file: string, text: string) => writeFileSync(join(folder, file), text, { flag: 'a' });
    append('libs/kernel/src/clock.ts', 'export const plantedExport = 1;\n');
    append('libs/pets/domain/src/index.ts', "export { plantedIndexExport } from './pet-id.js';\n");
    append('libs/pets/domain/src/pet-id.ts', 'export const plantedIndexExport = 1;\n');
    append('apps/api/src/planted-file.ts', 'export const planted = 1;\n');
    append('apps/cli/src/main.ts', "import 'planted-unlisted';\n");
    const manifest = join(folder, 'package.json');
    writeFileSync(manifest, readFileSync(manifest, 'utf8').replace('"devDependencies": {', '$& "planted-dependency": "1.0.0",'));
    ({ output } = await runTool('knip', ['--no-config-hints', '--no-progress'], folder));
  });
  afterAll(() => rmSync(folder, { recursive: true }));

  it.each([
    ['an unused export', /^plantedExport +libs\/kernel\/src\/clock\.ts/m],
    ['an export of a library that no other project imports', /^plantedIndexExport +libs\/pets\/domain\/src\/index\.ts/m],
    ['an unused file', /^apps\/api\/src\/planted-file\.ts/m],
    ['an unused dependency', /^planted-dependency +package\.json/m],
    ['an import of a package that package.json does not list', /^planted-unlisted +apps\/cli\/src\/main\.ts/m],
  ])('%s', (_, finding) => {
    expect(output).toMatch(finding);
  });
});

/** Copies the workspace to a temporary folder, with links to its packages. */
function copyWorkspace(): string {
  const copy = mkdtempSync(join(tmpdir(), 'animal-store-unused-'));
  for (const file of workspaceFiles()) cpSync(join(ROOT, file), join(copy, file));
  const [from, to] = [join(ROOT, 'node_modules'), join(copy, 'node_modules')];
  mkdirSync(to);
  for (const name of readdirSync(from)) {
    if (name === '@animal-store') cpSync(join(from, name), join(to, name), { recursive: true, verbatimSymlinks: true });
    else symlinkSync(join(from, name), join(to, name));
  }
  return copy;
}
