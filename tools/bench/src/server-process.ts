import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync, readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { processTree } from './process-usage.js';

const START_TIMEOUT_MS = 30_000;
const STOP_TIMEOUT_MS = 20_000;
const POLL_MS = 10;

export interface ServerCommand {
  readonly program: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  /** File for all output of the server. */
  readonly logFile: string;
  /** Finds the port in the output; the first group is the port. */
  readonly listening: RegExp;
}

/** A server process that logs its port. */
export class ServerProcess {
  private constructor(
    private readonly child: ChildProcess,
    private readonly logFile: string,
    readonly port: number,
  ) {}

  static async start({ program, args, env, logFile, listening }: ServerCommand): Promise<ServerProcess> {
    const log = openSync(logFile, 'w');
    const child = spawn(program, args, { env: { PATH: process.env['PATH'], ...env }, stdio: ['ignore', log, log] });
    closeSync(log);
    child.once('error', () => undefined);
    const written = () => readFileSync(logFile, 'utf8');
    for (const deadline = Date.now() + START_TIMEOUT_MS; Date.now() < deadline && child.exitCode === null;) {
      const port = listening.exec(written())?.[1];
      if (port !== undefined) return new ServerProcess(child, logFile, Number(port));
      await sleep(POLL_MS);
    }
    child.kill('SIGKILL');
    throw new Error(`${program} ${args.join(' ')} does not listen:\n${written().slice(0, 2_000)}`);
  }

  get pid(): number {
    return this.child.pid ?? 0;
  }

  get url(): string {
    return `http://127.0.0.1:${this.port}`;
  }

  /** Returns the end of the log, for error messages. */
  logEnd(): string {
    return readFileSync(this.logFile, 'utf8').slice(-1_000);
  }

  /** Stops the server with SIGINT, on which every target exits quickly. After STOP_TIMEOUT_MS, kills the whole process tree. */
  async stop(): Promise<void> {
    if (this.child.exitCode !== null || this.child.signalCode !== null) return;
    const tree = processTree(this.pid);
    const exited = once(this.child, 'exit');
    this.child.kill('SIGINT');
    const gone = await Promise.race([exited.then(() => true), sleep(STOP_TIMEOUT_MS, false, { ref: false })]);
    if (gone) return;
    for (const pid of tree) killIfRunning(pid);
    await exited;
  }
}

function killIfRunning(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}
