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
const START_WITHIN_MS = 60_000;
const MAX_COMPLAINTS = 20;
const WARNING_OR_WORSE = /^\{"level":[4-6]0,/;

/** A running instance of the built service, with its workers. */
export class ServiceProcess {
  private constructor(
    readonly url: string,
    private readonly child: ChildProcess,
    /** The last warnings, errors and lines of stderr. */
    readonly complaints: readonly string[],
  ) {}

  static async start(env: Readonly<Record<string, string>>): Promise<ServiceProcess> {
    const child = spawn(process.execPath, [MAIN], {
      env: { PATH: process.env['PATH'], PORT: '0', NODE_OPTIONS: JUMPING_CLOCK, ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    const complaints: string[] = [];
    const url = await new Promise<string>((resolve, reject) => {
      const timer = setTimeout(() => {
        child.kill('SIGKILL');
        reject(new Error(`the service does not listen:\n${complaints.join('\n')}`));
      }, START_WITHIN_MS);
      child.once('exit', (code) => reject(new Error(`the service ended with ${code}:\n${complaints.join('\n')}`)));
      const complain = (line: string) => {
        if (complaints.push(line) > MAX_COMPLAINTS) complaints.shift();
      };
      createInterface({ input: child.stderr }).on('line', complain);
      createInterface({ input: child.stdout }).on('line', (line) => {
        if (WARNING_OR_WORSE.test(line)) complain(line);
        const found = /"url":"(http:[^"]+)"/.exec(line)?.[1];
        if (found === undefined) return;
        clearTimeout(timer);
        resolve(found.replace('localhost', '127.0.0.1'));
      });
    });
    return new ServiceProcess(url, child, complaints);
  }

  get isRunning(): boolean {
    return this.child.exitCode === null && this.child.signalCode === null;
  }

  /** Kills the service and all its workers with SIGKILL, as if the machine failed. */
  async kill(): Promise<void> {
    const workers = this.workers();
    const exit = this.exit();
    this.child.kill('SIGKILL');
    for (const pid of workers) killIfThere(pid);
    await exit;
  }

  /** Kills one worker with SIGKILL, or the process itself if it has none. */
  killWorker(): void {
    const [pid] = this.workers();
    if (pid === undefined) this.child.kill('SIGKILL');
    else killIfThere(pid);
  }

  /** Kills all running workers with SIGKILL. */
  killWorkers(): void {
    for (const pid of this.workers()) killIfThere(pid);
  }

  /** Resolves when it can serve requests. */
  async ready(): Promise<void> {
    for (const deadline = Date.now() + START_WITHIN_MS; Date.now() < deadline; await sleep(50)) {
      const response = await fetch(`${this.url}/health/ready`).catch(() => undefined);
      await response?.arrayBuffer();
      if (response?.ok) return;
    }
    throw new Error('the service does not become ready');
  }

  /** Changes the wall clock of every process. */
  jumpClock(): void {
    this.child.kill(CLOCK_SIGNAL);
    for (const pid of this.workers()) killIfThere(pid, CLOCK_SIGNAL);
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

function killIfThere(pid: number, signal: NodeJS.Signals = 'SIGKILL'): void {
  try {
    process.kill(pid, signal);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}
