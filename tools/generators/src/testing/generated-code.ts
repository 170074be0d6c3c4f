import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect } from '@jest/globals';
import type { FileChange } from '@nx/devkit';
import { format, type FormatConfig } from 'oxfmt';

const WORKSPACE = fileURLToPath(new URL('../../../../', import.meta.url));
const FORMAT = JSON.parse(readFileSync(join(WORKSPACE, '.oxfmtrc.json'), 'utf8')) as FormatConfig;
const TSC = join(WORKSPACE, 'node_modules/@typescript/7/bin/tsc');

export const contentOf = ({ content }: FileChange): string => content?.toString('utf8') ?? '';

export async function expectFormatted(files: readonly FileChange[]): Promise<void> {
  const formatted = files.filter(({ path }) => /\.(?:ts|json|md)$/.test(path));
  expect(formatted.length).toBeGreaterThan(1);
  for (const file of formatted) {
    const { code } = await format(file.path, contentOf(file), FORMAT);
    expect([file.path, contentOf(file)]).toEqual([file.path, code]);
  }
}

/** Compiles generated files of contexts with the built libraries of the workspace, in another folder. Returns the errors. */
export function compile(files: readonly FileChange[], contexts: readonly string[]): string {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'generated-code-')));
  const write = (path: string, text: string) => {
    mkdirSync(join(folder, dirname(path)), { recursive: true });
    writeFileSync(join(folder, path), text);
  };
  for (const file of files) write(file.path, contentOf(file));
  write('package.json', '{ "type": "module" }');
  const options = {
    noEmit: true,
    composite: false,
    rootDir: '/',
    customConditions: [],
    paths: Object.fromEntries(contexts.map((context) => [`@animal-store/${context}-*`, [`./libs/${context}/*/src/index.ts`]])),
  };
  const config = { extends: join(WORKSPACE, 'tsconfig.base.json'), compilerOptions: options, files: files.map(({ path }) => path) };
  write('tsconfig.json', JSON.stringify(config));
  symlinkSync(join(WORKSPACE, 'node_modules'), join(folder, 'node_modules'));
  const { stdout } = spawnSync(process.execPath, [TSC, '-p', folder, '--singleThreaded', '--pretty', 'false'], { encoding: 'utf8' });
  rmSync(folder, { recursive: true });
  return stdout;
}
