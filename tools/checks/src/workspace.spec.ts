import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { workspaceFiles } from './workspace.js';

const NAME = 'folder #%41?/ü [file].txt';

let folder: string;
beforeAll(() => {
  folder = join(mkdtempSync(join(tmpdir(), 'workspace-files-')), 'outer/workspace');
  mkdirSync(join(folder, 'folder #%41?'), { recursive: true });
  for (const [file, text] of [
    [NAME, ''],
    ['.gitignore', 'ignored\n'],
    ['ignored', ''],
  ] as const)
    writeFileSync(join(folder, file), text);
});
afterAll(() => rmSync(join(folder, '../..'), { recursive: true }));

it('lists the files of a downloaded archive, also inside of another repository that ignores it', () => {
  const outer = join(folder, '..');
  execFileSync('git', ['init', '--quiet', outer]);
  writeFileSync(join(outer, '.gitignore'), 'workspace\n');
  expect([...workspaceFiles(folder)].sort()).toEqual(['.gitignore', NAME]);
});

it('lists the files of a repository, without deleted ones', () => {
  execFileSync('git', ['init', '--quiet', folder]);
  writeFileSync(join(folder, 'deleted'), '');
  execFileSync('git', ['add', '--all'], { cwd: folder });
  rmSync(join(folder, 'deleted'));
  expect([...workspaceFiles(folder)].sort()).toEqual(['.gitignore', NAME]);
});
