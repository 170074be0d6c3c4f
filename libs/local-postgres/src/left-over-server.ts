import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { readdir, readFile, readlink, rm } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { type Cluster, clusterName, readPostmasterFile, sendSignal } from './cluster.js';
import { LocalPostgresError } from './local-postgres-error.js';

const POLL_MS = 20;
/** An orphan without its postmaster has nothing to save: it is given less time than a server that shuts down. */
const STEPS = [
  { signal: 'INT', serverMs: 10_000, orphansMs: 0 },
  { signal: 'QUIT', serverMs: 5_000, orphansMs: 1_000 },
  { signal: 'KILL', serverMs: 5_000, orphansMs: 5_000 },
] as const;

/**
 * Ends what a holder that was killed has left running on the cluster. The server is not adopted: it has the settings
 * of its time, is nobody's child any more, and starting anew takes no longer than finding out whether it is well.
 */
export async function stopLeftOverServer(cluster: Cluster): Promise<void> {
  if (process.platform === 'win32') {
    // Only a server of this folder obeys: pg_ctl reaches it by a pipe that other programs do not have.
    const child = cluster.runtime.spawn('pg_ctl', ['stop', '--mode=fast', '--wait', '-D', cluster.folder], { stdio: 'ignore' });
    await once(child, 'close');
    return;
  }
  for (const { signal, serverMs, orphansMs } of STEPS) {
    const processes = await serverProcesses(cluster.folder);
    if (processes.length === 0) break;
    const postmaster = (await readPostmasterFile(cluster.folder))?.pid;
    const hasPostmaster = postmaster !== undefined && processes.includes(postmaster);
    const targets = hasPostmaster && signal !== 'KILL' ? [postmaster] : processes;
    const patience = hasPostmaster ? serverMs : orphansMs;
    if (patience === 0) continue;
    for (const pid of targets) await sendSignal(cluster.runtime, pid, signal);
    await areGone(cluster.folder, patience);
  }
  const [survivor] = await serverProcesses(cluster.folder);
  if (survivor !== undefined) throw new LocalPostgresError(`PostgreSQL process ${survivor} on ${cluster.folder} cannot be ended.`);
  await removeMisleadingPidFile(cluster.folder);
}

async function areGone(folder: string, patience: number): Promise<void> {
  const deadline = Date.now() + patience;
  while (Date.now() < deadline && (await serverProcesses(folder)).length > 0) await sleep(POLL_MS);
}

/** PostgreSQL takes a pid that now belongs to another program of the same user for a running server, and refuses to start. */
async function removeMisleadingPidFile(folder: string): Promise<void> {
  const state = await readPostmasterFile(folder);
  if (state && isAlive(state.pid)) await rm(join(folder, 'postmaster.pid'), { force: true });
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}

/**
 * The postmaster and its children, also those that have outlived it. They are known by the cluster's name: the
 * postmaster has it among its arguments, the children in the title that they set.
 */
export async function serverProcesses(folder: string): Promise<number[]> {
  const name = clusterName(folder);
  const ours = new RegExp(String.raw`^postgres: ${name}(?::|\s|$)|\bpostgres .*\bcluster_name=${name}(?:\s|$)`);
  if (process.platform !== 'linux') {
    const { stdout } = await promisify(execFile)('ps', ['-axww', '-o', 'pid=,command='], { maxBuffer: 64 * 1024 * 1024 });
    const lines = stdout.split('\n').map((line) => /^\s*(\d+)\s+(.*)$/.exec(line));
    return lines.filter((line) => ours.test(line?.[2] ?? '')).map((line) => Number(line?.[1]));
  }
  const found: number[] = [];
  for (const entry of await readdir('/proc')) {
    if (!/^\d+$/.test(entry)) continue;
    const command = (await readFile(`/proc/${entry}/cmdline`, 'utf8').catch(() => '')).replaceAll('\0', ' ').trim();
    if (ours.test(command) || (await isOtherServer(entry, command, folder))) found.push(Number(entry));
  }
  return found;
}

/** A server on the folder that was started by hand: each of its processes works in the folder. */
async function isOtherServer(pid: string, command: string, folder: string): Promise<boolean> {
  if (!/^postgres(?::|$)/.test(basename(command.split(' ')[0] ?? ''))) return false;
  return (await readlink(`/proc/${pid}/cwd`).catch(() => '')) === folder;
}
