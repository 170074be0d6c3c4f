// `node tools/node.mjs <arguments>`: runs the Node.js of node_modules, whichever Node.js runs this, also for its child processes.
import { spawn } from 'node:child_process';
import { realpathSync } from 'node:fs';
import { delimiter, dirname, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { findNode, linkNode, NodeError } from './pinned-node.mjs';

const PARENT_POLL_MS = 100;
// Before the program starts: npm may be gone soon after that.
const parent = process.ppid;

try {
  const node = findNode();
  linkNode(node);
  process.env.PATH = [dirname(node), process.env.PATH].join(delimiter);
  const [program] = process.argv.splice(1, 2).slice(1);
  if (program === undefined) throw new NodeError('Usage: node tools/node.mjs <arguments of node>');
  if (node === realpathSync(process.execPath) && !program.startsWith('-')) await runHere(program);
  else spawnNode(node, [program, ...process.argv.slice(1)]);
} catch (error) {
  if (!(error instanceof NodeError)) throw error;
  console.error(error.message);
  process.exitCode = 1;
}

/** Runs a program in this process, so that signals need no forwarding. */
async function runHere(program) {
  process.argv.splice(1, 0, resolve(program));
  stopWithoutParent(() => process.kill(process.pid, 'SIGTERM'));
  await import(pathToFileURL(process.argv[1]).href);
}

function spawnNode(node, args) {
  const child = spawn(node, args, { stdio: 'inherit' });
  child.on('error', ({ code }) => {
    const reason = code === 'ENOENT' ? 'It requires glibc, which Alpine Linux does not have.' : code;
    console.error(`${node} cannot run. ${reason}`);
    process.exitCode = 1;
  });
  const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'];
  // On Windows, the console interrupts both processes, and a signal would kill the child.
  const forward = process.platform === 'win32' ? () => undefined : (signal) => child.kill(signal);
  for (const signal of signals) process.on(signal, forward);
  child.on('exit', (code, signal) => {
    for (const name of signals) process.off(name, forward);
    if (signal) process.kill(process.pid, signal);
    else process.exitCode = code;
  });
  stopWithoutParent(() => child.kill('SIGTERM'));
}

/** Calls `stop` once when npm is gone: the shell between npm and this process does not forward every signal. */
function stopWithoutParent(stop) {
  if (process.env.npm_lifecycle_event === undefined) return;
  const timer = setInterval(() => {
    if (process.ppid === parent) return;
    clearInterval(timer);
    stop();
  }, PARENT_POLL_MS).unref();
}
