import { readdir, readFile } from 'node:fs/promises';
import type { Profiler } from 'node:inspector';
import { join } from 'node:path';
import convert from 'ast-v8-to-istanbul';
import { parse } from 'vite';
import { addHits, type Coverage } from './merge-coverage.ts';

/** Built code of this workspace, or of a copy of it that a test has made. */
const BUILT = /^file:\/\/(?!.*\/node_modules\/).*\/((?:apps|libs|tools)\/.*\/dist\/.*\.js)$/;

/**
 * Adds what built code did in processes of its own (NODE_V8_COVERAGE): services, workers, command-line tools. Code that
 * Vitest itself ran is not here: it compiles sources, and counts them better.
 */
export async function addChildProcesses(coverage: Coverage, folder: string, root: string): Promise<void> {
  const scripts = new Map<string, ReturnType<typeof loadScript>>();
  for (const file of await readdir(folder)) {
    const { result } = JSON.parse(await readFile(join(folder, file), 'utf8')) as { result: Profiler.ScriptCoverage[] };
    for (const script of result) {
      const path = BUILT.exec(script.url)?.[1];
      if (path === undefined) continue;
      const loaded = scripts.get(path) ?? loadScript(join(root, path));
      scripts.set(path, loaded);
      const { code, sourceMap } = await loaded;
      // A tree of its own each time: the conversion marks what it has seen in it, and passes that over the next time.
      const { program: ast } = await parse(path, code);
      addHits(coverage, await convert({ code, sourceMap, ast, coverage: { ...script, url: `file://${join(root, path)}` } }));
    }
  }
}

async function loadScript(path: string) {
  const [code, sourceMap] = await Promise.all([readFile(path, 'utf8'), readFile(`${path}.map`, 'utf8')]);
  return {
    code,
    sourceMap: JSON.parse(sourceMap) as NonNullable<Parameters<typeof convert>[0]['sourceMap']>,
  };
}
