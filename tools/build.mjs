// `node tools/node.mjs tools/build.mjs <folder> …`: builds stale projects with their references, in one process.
import { spawnSync } from 'node:child_process';
import { join, resolve } from 'node:path';

const WORKSPACE = join(import.meta.dirname, '..');
const TSC = join(WORKSPACE, 'node_modules/@typescript/7/bin/tsc');
/** Less garbage collection in the compiler, which is a Go program. */
const ENVIRONMENT = { ...process.env, GOGC: '400' };

if (process.argv[1] === import.meta.filename) build(process.argv.slice(2));

/** Builds the projects. Exits if that fails. */
export function build(projects) {
  const args = [TSC, '-b', ...projects.map((project) => resolve(WORKSPACE, project))];
  if (spawnSync(process.execPath, args, { stdio: 'inherit', env: ENVIRONMENT }).status !== 0) process.exit(1);
}
