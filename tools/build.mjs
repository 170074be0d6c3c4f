// `node tools/node.mjs tools/build.mjs <folder> …`: builds stale projects with their references, one process at a time.
import { spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

const WORKSPACE = join(import.meta.dirname, '..');
/** The process that builds. */
const LOCK = join(WORKSPACE, '.nx/build.pid');
const POLL_MS = 50;
/** Less garbage collection in the compiler, which is a Go program. */
const ENVIRONMENT = { ...process.env, GOGC: '400' };
const TSC = join(WORKSPACE, 'node_modules/@typescript/7/bin/tsc');

if (process.argv[1] === import.meta.filename) await build(process.argv.slice(2));

/** Builds the projects and runs a program on the result. Exits if one of them fails. */
export async function build(projects, ...program) {
  const steps = [[TSC, '-b', ...projects.map((project) => resolve(WORKSPACE, project))], program].filter(({ length }) => length > 0);
  const isLocked = await lock();
  const isBuilt = steps.every((step) => spawnSync(process.execPath, step, { stdio: 'inherit', env: ENVIRONMENT }).status === 0);
  if (isLocked) rmSync(LOCK, { force: true });
  if (!isBuilt) process.exit(1);
}

/** Returns false if the workspace is read-only. */
async function lock() {
  try {
    mkdirSync(join(LOCK, '..'), { recursive: true });
  } catch {
    return false;
  }
  for (let isReported = false; ; await sleep(POLL_MS)) {
    try {
      writeFileSync(LOCK, `${process.pid}`, { flag: 'wx' });
      return true;
    } catch (error) {
      if (error.code !== 'EEXIST') return false;
    }
    const owner = readOwner();
    if (owner === undefined || isRunning(owner)) {
      if (owner !== undefined && !isReported) console.error(`Waiting for process ${owner}, which builds. If it does not, delete ${LOCK}.`);
      isReported ||= owner !== undefined;
    } else if (readOwner() === owner) rmSync(LOCK, { force: true });
  }
}

/** Undefined if the file is gone, or not written yet. */
function readOwner() {
  try {
    return Number(readFileSync(LOCK, 'utf8')) || undefined;
  } catch {
    return undefined;
  }
}

function isRunning(pid) {
  try {
    process.kill(pid, 0);
    return true;
  } catch ({ code }) {
    return code === 'EPERM';
  }
}
