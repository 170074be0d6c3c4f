import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { CLOCK_SIGNAL, JUMPING_CLOCK } from './jumping-clock.js';

/** The deployed bundle, or for coverage the files that it is built from. */
const FOLDER = process.env['PROGRAM_FOLDER'] ?? 'bundle';
const MAIN = fileURLToPath(new URL(`../../../apps/api/${FOLDER}/main.js`, import.meta.url));
const START_TIMEOUT_MS = 60_000;
const MAX_LOG_LINES = 20;
const WARNING_OR_WORSE = /^\{"level":[4-6]0,/;

export interface StartOptions {
  /** Maximum number of open descriptors of each process. */
  readonly maxDescriptors?: number;
}

/** A running instance of the built service, with its workers. */
export class ServiceProcess {
  private constructor(
    readonly url: string,
    private readonly child: ChildProcess,
    /** The last warnings, errors and lines of stderr. */
    readonly recentLogLines: readonly string[],
  ) {}

  static async start(env: Readonly<Record<string, string>>, { maxDescriptors }: StartOptions = {}): Promise<ServiceProcess> {
    const limit = maxDescriptors === undefined ? '' : `ulimit -n ${maxDescriptors} && `;
    const child = spawn('/bin/sh', ['-c', `${limit}exec "$0" "$@"`, process.execPath, MAIN], {
      env: { PATH: process.env['PATH'], PORT: '0', NODE_OPTIONS: JUMPING_CLOCK, ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    const recentLogLines: string[] = [];
    const url = await new Promise<string>((resolve, reject) => {
      const timer = setTimeout(() => {
        child.kill('SIGKILL');
        reject(new Error(`the service does not listen:\n${recentLogLines.join('\n')}`));
      }, START_TIMEOUT_MS);
      child.once('exit', (code) => reject(new Error(`the service exited with ${code}:\n${recentLogLines.join('\n')}`)));
      const keepLine = (line: string) => {
        if (recentLogLines.push(line) > MAX_LOG_LINES) recentLogLines.shift();
      };
      createInterface({ input: child.stderr }).on('line', keepLine);
      createInterface({ input: child.stdout }).on('line', (line) => {
        if (WARNING_OR_WORSE.test(line)) keepLine(line);
        const found = /"url":"(http:[^"]+)"/.exec(line)?.[1];
        if (found === undefined) return;
        clearTimeout(timer);
        resolve(found.replace('localhost', '127.0.0.1'));
      });
    });
    return new ServiceProcess(url, child, recentLogLines);
  }

  get isRunning(): boolean {
    return this.child.exitCode === null && this.child.signalCode === null;
  }

  /** Kills the service and all its workers with SIGKILL, as if the machine failed. */
  async kill(): Promise<void> {
    const workers = this.workers();
    const exit = this.exit();
    this.child.kill('SIGKILL');
    for (const pid of workers) killIfRunning(pid);
    await exit;
  }

  /** Kills one worker with SIGKILL, or the process itself if it has none. */
  killWorker(): void {
    const [pid] = this.workers();
    if (pid === undefined) this.child.kill('SIGKILL');
    else killIfRunning(pid);
  }

  /** Kills all running workers with SIGKILL. */
  killWorkers(): void {
    for (const pid of this.workers()) killIfRunning(pid);
  }

  /** Resolves when the service is ready. */
  async waitUntilReady(): Promise<void> {
    for (const deadline = performance.now() + START_TIMEOUT_MS; performance.now() < deadline; await sleep(50)) {
      const response = await fetch(`${this.url}/health/ready`).catch(() => undefined);
      await response?.arrayBuffer();
      if (response?.ok) return;
    }
    throw new Error('the service does not become ready');
  }

  /** Changes the wall clock of every process. */
  jumpClock(): void {
    this.child.kill(CLOCK_SIGNAL);
    for (const pid of this.workers()) killIfRunning(pid, CLOCK_SIGNAL);
  }

  /** Sends SIGTERM. Resolves to the exit code. */
  async terminate(): Promise<number | null> {
    const exit = this.exit();
    this.child.kill('SIGTERM');
    return exit;
  }

  private async exit(): Promise<number | null> {
    if (!this.isRunning) return this.child.exitCode;
    const [code] = (await once(this.child, 'exit')) as [number | null];
    return code;
  }

  private workers(): number[] {
    const { pid } = this.child;
    try {
      return readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').split(' ').filter(Boolean).map(Number);
    } catch {
      return [];
    }
  }
}

function killIfRunning(pid: number, signal: NodeJS.Signals = 'SIGKILL'): void {
  try {
    process.kill(pid, signal);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}
