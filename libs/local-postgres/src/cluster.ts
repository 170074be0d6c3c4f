import { createHash, randomInt } from 'node:crypto';
import { once } from 'node:events';
import { chown, type FileHandle, mkdtemp, open, readdir, readFile, rename, rm, stat } from 'node:fs/promises';
import { createServer } from 'node:net';
import { basename, dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { ifThere } from './if-there.js';
import { LocalPostgresError } from './local-postgres-error.js';
import type { Runtime } from './runtime.js';

export const SUPERUSER = 'animal_store';

const MAX_LOG_BYTES = 10 * 1024 * 1024;
const READY_WITHIN_MS = 120_000;
const READY_POLL_MS = 10;
const FAST_STOP_WITHIN_MS = 20_000;
const IMMEDIATE_STOP_WITHIN_MS = 5_000;
const PORT_ATTEMPTS = 10;
/** What stands before the text of a failure. */
const PROBLEM = /^.*?\b(?:FATAL|PANIC|ERROR|error|postgres):\s*/;

/** One PostgreSQL cluster on disk; see https://www.postgresql.org/docs/18/creating-cluster.html. */
export interface Cluster {
  readonly folder: string;
  readonly logFile: string;
  readonly runtime: Runtime;
}

export interface ServerOptions {
  /** As on postgres' command line: `name=value`. */
  readonly settings?: readonly string[];
  /** Instead of any free port. */
  readonly port?: number;
}

export interface Server {
  readonly pid: number;
  readonly port: number;
  readonly exited: Promise<void>;
  /** A fast shutdown: sessions are ended, everything is on disk. */
  stop(): Promise<void>;
  /** At once, without waiting; for a process that exits. */
  kill(): void;
}

/** Part of the command line or title of each process of the cluster's server; tells them from all other programs. */
export function clusterName(folder: string): string {
  return `animal-store-${createHash('sha256').update(folder).digest('hex').slice(0, 16)}`;
}

/** Appears as a whole or, if interrupted, not at all. */
export async function createCluster({ folder, runtime }: Cluster, passwordFile: string, options: { durable: boolean }): Promise<void> {
  const unfinishedPrefix = `${basename(folder)}.unfinished-`;
  for (const name of await readdir(dirname(folder))) {
    if (name.startsWith(unfinishedPrefix)) await rm(join(dirname(folder), name), { recursive: true, force: true, maxRetries: 3 });
  }
  const unfinished = await mkdtemp(join(dirname(folder), unfinishedPrefix));
  if (runtime.account) await chown(unfinished, runtime.account.uid, runtime.account.gid);
  const args = [
    `--pgdata=${unfinished}`,
    `--username=${SUPERUSER}`,
    `--pwfile=${passwordFile}`,
    '--auth=scram-sha-256',
    '--encoding=UTF8',
    '--locale=C',
    '--locale-provider=builtin',
    '--builtin-locale=C.UTF-8',
    '--no-instructions',
    ...(options.durable ? [] : ['--no-sync']),
  ];
  const child = runtime.spawn('initdb', args, { stdio: ['ignore', 'ignore', 'pipe'] });
  let messages = '';
  child.stderr?.setEncoding('utf8').on('data', (chunk: string) => (messages += chunk));
  const [code] = (await once(child, 'close')) as [number | null];
  if (code !== 0) throw new LocalPostgresError(`PostgreSQL could not create its files in ${folder}: ${lastProblem(messages)}.`);
  await rename(unfinished, folder);
  if (options.durable && process.platform !== 'win32') await syncFolder(dirname(folder));
}

async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder, 'r');
  await handle.sync().finally(() => handle.close());
}

/** Resolves when the server accepts connections. Nothing else may be running on the cluster. */
export async function startServer(cluster: Cluster, options: ServerOptions = {}): Promise<Server> {
  for (let attempt = 1; ; attempt += 1) {
    const port = options.port ?? (await freePort());
    try {
      return await startOnPort(cluster, port, options.settings ?? []);
    } catch (error) {
      const portTaken = error instanceof LocalPostgresError && error.message.includes('could not create any TCP/IP sockets');
      if (!portTaken || options.port !== undefined || attempt === PORT_ATTEMPTS) throw error;
    }
  }
}

async function startOnPort(cluster: Cluster, port: number, settings: readonly string[]): Promise<Server> {
  const { folder, logFile, runtime } = cluster;
  const log = await openLog(cluster);
  const logStart = (await log.stat()).size;
  const flags = [
    `port=${port}`,
    'listen_addresses=127.0.0.1',
    'unix_socket_directories=',
    `cluster_name=${clusterName(folder)}`,
    'logging_collector=off',
    'log_destination=stderr',
    ...settings,
  ].flatMap((setting) => ['-c', setting]);
  const child = runtime.spawn('postgres', ['-D', folder, ...flags], { stdio: ['ignore', log.fd, log.fd] });
  const exited = new Promise<void>((resolve) => {
    child.once('exit', () => resolve());
    child.once('error', () => resolve());
  });
  await log.close();
  child.unref();
  const { pid } = child;
  const server: Server | undefined =
    pid === undefined ? undefined : { pid, port, exited, stop: () => stopServer(cluster, pid, exited), kill: () => child.kill('SIGQUIT') };

  const isReady = async () => {
    const state = await readPostmasterFile(folder);
    return state?.pid === pid && state?.status === 'ready';
  };
  const deadline = Date.now() + READY_WITHIN_MS;
  while (server && Date.now() < deadline) {
    if (await isReady()) return server;
    if (await Promise.race([exited.then(() => true), sleep(READY_POLL_MS, false)])) break;
  }
  await server?.stop();
  throw new LocalPostgresError(`PostgreSQL did not start: ${lastProblem(await readFrom(logFile, logStart))} (log: ${logFile}).`);
}

async function stopServer(cluster: Cluster, pid: number, exited: Promise<void>): Promise<void> {
  const steps = [
    ['INT', FAST_STOP_WITHIN_MS],
    ['QUIT', IMMEDIATE_STOP_WITHIN_MS],
    ['KILL', IMMEDIATE_STOP_WITHIN_MS],
  ] as const;
  for (const [signal, patience] of steps) {
    await sendSignal(cluster.runtime, pid, signal);
    if (await settlesWithin(exited, patience)) return;
  }
}

async function settlesWithin(promise: Promise<void>, ms: number): Promise<boolean> {
  const timer = new AbortController();
  try {
    return await Promise.race([promise.then(() => true), sleep(ms, false, { signal: timer.signal })]);
  } finally {
    timer.abort();
  }
}

/** Does nothing when the process is gone. */
export async function sendSignal(runtime: Runtime, pid: number, signal: 'INT' | 'KILL' | 'QUIT'): Promise<void> {
  if (process.platform === 'win32') {
    await once(runtime.spawn('pg_ctl', ['kill', signal, `${pid}`], { stdio: 'ignore' }), 'close');
    return;
  }
  try {
    process.kill(pid, `SIG${signal}`);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}

/** postmaster.pid, by which a running server shows its state: https://www.postgresql.org/docs/18/storage-file-layout.html. */
export async function readPostmasterFile(folder: string): Promise<{ pid: number; port: number; status: string } | undefined> {
  const text = (await ifThere(readFile(join(folder, 'postmaster.pid'), 'utf8'))) ?? '';
  const lines = text.split('\n').map((line) => line.trim());
  const pid = Number(lines[0]);
  return pid > 0 ? { pid, port: Number(lines[3]), status: lines[7] ?? '' } : undefined;
}

/** Outside the range of the ports that systems give to outgoing connections, so that it is still free after a restart. */
async function freePort(): Promise<number> {
  for (;;) {
    const port = randomInt(20_000, 32_768);
    const probe = createServer();
    const free = await new Promise<boolean>((resolve) => {
      probe.once('error', () => resolve(false));
      probe.listen(port, '127.0.0.1', () => probe.close(() => resolve(true)));
    });
    if (free) return port;
  }
}

async function openLog({ logFile, runtime }: Cluster): Promise<FileHandle> {
  const existing = await stat(logFile).catch(() => undefined);
  if (existing && existing.size > MAX_LOG_BYTES) await rename(logFile, `${logFile}.old`);
  const log = await open(logFile, 'a', 0o600);
  if (runtime.account) await log.chown(runtime.account.uid, runtime.account.gid);
  return log;
}

async function readFrom(file: string, position: number): Promise<string> {
  return (await readFile(file)).subarray(position).toString('utf8');
}

/** The last line that tells a failure, without its prefix. */
function lastProblem(log: string): string {
  const lines = log.split('\n').filter((line) => line.trim() !== '');
  const problem = lines.findLast((line) => PROBLEM.test(line)) ?? lines.at(-1) ?? 'it says nothing';
  return problem.replace(PROBLEM, '').trim();
}
