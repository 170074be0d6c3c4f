// `node tools/node.mjs <arguments>`: runs the Node.js of node_modules, whichever Node.js runs this, also for its child processes.
// Without arguments (`npm run postinstall`), it only links that Node.js for `npx`.
import { spawn } from 'node:child_process';
import { existsSync, readFileSync, realpathSync, symlinkSync } from 'node:fs';
import { delimiter, dirname, join, relative, resolve } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

const WORKSPACE = join(dirname(fileURLToPath(import.meta.url)), '..');
const MODULES = join(WORKSPACE, 'node_modules');
const readJson = (file) => JSON.parse(readFileSync(file, 'utf8'));
const PARENT_POLL_MS = 100;
const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'];
// Before the program starts: npm may be gone soon after that.
const starters = findStarters();

const [program] = process.argv.splice(1, 2).slice(1);
const { node, problem } = findNode();
if (node) linkNode();
else console.error(problem);
// `npm ci --omit=dev` need not fail.
if (!node || program === undefined) process.exit(program === undefined ? 0 : 1);
process.env.PATH = [dirname(node), process.env.PATH].join(delimiter);
// Otherwise, Nx starts a process for each plugin, which takes most of the CPU time of a short command.
process.env.NX_ISOLATE_PLUGINS ??= 'false';
// In this process, signals need no forwarding.
if (node === realpathSync(process.execPath) && !program.startsWith('-')) await runHere(resolve(program));
else spawnNode([program, ...process.argv.slice(1)]);

/** Returns the path of the Node.js in node_modules, or why there is none. On other platforms, this Node.js is used if it is new enough. */
function findNode() {
  const { dependencies, devDependencies, optionalDependencies } = readJson(join(WORKSPACE, 'package.json'));
  const installed = (name) => existsSync(join(MODULES, name, 'package.json'));
  const missing = Object.keys({ ...dependencies, ...devDependencies }).find((name) => !installed(name));
  if (missing) return { problem: `node_modules lacks ${missing}. Run "npm ci --include=dev --include=optional".` };
  const packages = Object.keys(optionalDependencies).filter((name) => name.startsWith('node-'));
  const version = optionalDependencies[packages[0]];
  for (const name of packages.filter(installed)) {
    const { os, cpu, bin, version: found } = readJson(join(MODULES, name, 'package.json'));
    const path = join(MODULES, name, bin.node);
    if (![os].flat().includes(process.platform) || ![cpu].flat().includes(process.arch)) continue;
    if (found === version && existsSync(path)) return { node: realpathSync(path) };
    return { problem: `node_modules lacks Node.js ${version}. Run "npm ci --include=dev --include=optional".` };
  }
  if (process.versions.node.localeCompare(version, 'en', { numeric: true }) >= 0) return { node: realpathSync(process.execPath) };
  return { problem: `node_modules lacks Node.js for ${process.platform}-${process.arch}. Run this with Node.js ${version}.` };
}

/** Restores the link that npm before 11.6 removes (https://github.com/npm/cli/issues/4362). Without it, `npx` runs another Node.js. */
function linkNode() {
  const link = join(MODULES, '.bin/node');
  if (process.platform === 'win32' || existsSync(link)) return;
  try {
    symlinkSync(relative(realpathSync(dirname(link)), node), link);
  } catch {
    // Read-only, or created by another process.
  }
}

function runHere(file) {
  process.argv.splice(1, 0, file);
  stopWithoutNpm(() => process.kill(process.pid, 'SIGTERM'));
  return import(pathToFileURL(file).href);
}

function spawnNode(args) {
  // On Windows, the console interrupts both processes, and a signal would kill the child.
  const forward = (signal) => process.platform !== 'win32' && child.kill(signal);
  for (const signal of SIGNALS) process.on(signal, forward);
  const child = spawn(node, args, { stdio: 'inherit' });
  child.on('error', ({ code }) => {
    console.error(`${node} cannot run. ${code === 'ENOENT' ? 'It requires glibc, which Alpine Linux does not have.' : code}`);
    process.exitCode = 1;
  });
  child.on('exit', (code, signal) => {
    for (const name of SIGNALS) process.off(name, forward);
    if (signal) process.kill(process.pid, signal);
    else process.exitCode = code;
  });
  stopWithoutNpm(() => child.kill('SIGTERM'));
}

/** Calls `stop` once when npm is gone: it may have been killed, and the shell between npm and this process forwards no signal. */
function stopWithoutNpm(stop) {
  if (process.env.npm_lifecycle_event === undefined) return;
  const timer = setInterval(() => {
    if (findStarters() === starters) return;
    clearInterval(timer);
    stop();
  }, PARENT_POLL_MS).unref();
}

/** Returns the process id of npm, or of the shell that npm started and of npm. Another process adopts the children of one that is gone. */
function findStarters() {
  try {
    const [, name, parent] = /\((.*)\) . (\d+)/s.exec(readFileSync(`/proc/${process.ppid}/stat`, 'latin1'));
    return /^\w{0,2}sh$/.test(name) ? `${process.ppid} ${parent}` : `${process.ppid}`;
  } catch {
    // Only Linux has /proc. On macOS, the shell runs the command in its own process.
    return `${process.ppid}`;
  }
}
