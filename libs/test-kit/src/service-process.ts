import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, existsSync, openSync, readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';

const START_TIMEOUT_MS = 60_000;
const POLL_MS = 10;
const READY_POLL_MS = 50;
/** The log line of the service, its line for developers, or what a peer of the bench prints. */
const LISTENING = /"url":"(http:\/\/[^"]+)"|(http:\/\/(?:localhost|127\.0\.0\.1|\[::1?\]|0\.0\.0\.0):[0-9]+)|^listening (\d+)$/m;
/** What a service that listens on every address prints. */
const EVERY_ADDRESS = /\/\/(?:0\.0\.0\.0|\[::\]|localhost)(?=:)/;
const SERVING_METRICS = /"port":(\d+),"msg":"serving metrics"/;
const INFORMATION = /^\{"level":[1-3]0,/;

export type Environment = Readonly<Record<string, string>>;

export interface ServiceOptions {
  /** By default, the service of this workspace. */
  readonly command?: readonly string[];
  /** File for all output. By default, the output is kept in memory. */
  readonly logFile?: string;
}

/** Returns the path of a program of this workspace. By default the deployed bundle, or for coverage the files that it is built from. */
export function programPath(app: 'api' | 'cli', folder = process.env['PROGRAM_FOLDER'] ?? 'bundle'): string {
  const file = fileURLToPath(new URL(`../../../apps/${app}/${folder}/main.js`, import.meta.url));
  if (!existsSync(file)) throw new Error(`${file} is missing: run \`npx nx run-many -t bundle\` first`);
  return file;
}

/**
 * Returns only the variables that a process needs, so that a developer's settings do not reach the service under test. A run of Nx sets
 * NODE_COMPILE_CACHE, which saves a quarter of the CPU time of a start.
 */
export function processEnvironment(environment: Environment): NodeJS.ProcessEnv {
  const { PATH, HOME, SystemRoot, TEMP, NODE_COMPILE_CACHE } = process.env;
  return { PATH, HOME, SystemRoot, TEMP, NODE_ENV: 'test', ...(NODE_COMPILE_CACHE && { NODE_COMPILE_CACHE }), ...environment };
}

/** A running process of the service, or of another program that prints its URL or its port. */
export class ServiceProcess {
  private collected = '';
  private listensOn: string | undefined;
  private startLength = 0;
  private isClosed = false;

  /** @param child a started program, with pipes unless it writes to the file */
  constructor(
    private readonly child: ChildProcess,
    private readonly logFile?: string,
  ) {
    const collect = (chunk: string): void => void (this.collected += chunk);
    for (const stream of [child.stdout, child.stderr]) stream?.setEncoding('utf8').on('data', collect);
    // A program that is missing has no process id. Without a listener, its error would crash this process.
    child.once('error', ({ message }) => collect(message)).once('close', () => (this.isClosed = true));
  }

  /** Starts a program without waiting. The address is only known if PORT is set. */
  static spawn(
    environment: Environment,
    { command = [process.execPath, programPath('api')], logFile }: ServiceOptions = {},
  ): ServiceProcess {
    const [program = '', ...args] = command;
    const log = logFile === undefined ? 'pipe' : openSync(logFile, 'w');
    const child = spawn(program, args, { env: processEnvironment(environment), stdio: ['ignore', log, log] });
    if (typeof log === 'number') closeSync(log);
    const service = new ServiceProcess(child, logFile);
    if (Number(environment['PORT']) > 0) service.listensOn = `http://127.0.0.1:${environment['PORT']}`;
    return service;
  }

  /** Starts a program, the service by default on a free port. Resolves when it listens. */
  static start(environment: Environment, options?: ServiceOptions): Promise<ServiceProcess> {
    return ServiceProcess.spawn({ PORT: '0', ...environment }, options).waitUntilListening();
  }

  /** Everything that the process has written to stdout and stderr. */
  get output(): string {
    return this.logFile === undefined ? this.collected : readFileSync(this.logFile, 'utf8') + this.collected;
  }

  /** Warnings and errors of the service, and lines of other kinds, since it listens. */
  get problems(): string[] {
    const lines = this.output.slice(this.startLength).split('\n');
    return lines.filter((line) => line !== '' && !INFORMATION.test(line));
  }

  /** Address of a service that listens. */
  get url(): string {
    if (this.listensOn === undefined) throw new Error('call waitUntilListening() first');
    return this.listensOn;
  }

  get port(): number {
    return Number(new URL(this.url).port);
  }

  get pid(): number {
    return this.child.pid ?? 0;
  }

  get isRunning(): boolean {
    return this.child.pid !== undefined && this.child.exitCode === null && this.child.signalCode === null;
  }

  /** Resident memory in bytes. */
  get memory(): number {
    return Number(execFileSync('ps', ['-o', 'rss=', '-p', String(this.pid)], { encoding: 'utf8' })) * 1024;
  }

  /** Waits for a text in the output. Kills the process after a minute without it, and throws with the output. */
  async waitFor(pattern: RegExp): Promise<RegExpExecArray> {
    for (const deadline = performance.now() + START_TIMEOUT_MS; ; await sleep(POLL_MS)) {
      const { isClosed } = this;
      const found = pattern.exec(this.output);
      if (found) return found;
      if (!isClosed && performance.now() < deadline) continue;
      this.child.kill('SIGKILL');
      const what = isClosed ? `ended with ${this.child.exitCode ?? this.child.signalCode}` : `does not print ${String(pattern)}`;
      throw new Error(`${this.child.spawnargs.join(' ')} ${what}:\n${this.output}`);
    }
  }

  async waitUntilListening(): Promise<this> {
    const { 0: line, 1: logged, 2: printed, 3: port, index } = await this.waitFor(LISTENING);
    const end = this.output.indexOf('\n', index + line.length);
    this.startLength = end < 0 ? this.output.length : end;
    this.listensOn = port === undefined ? (logged ?? printed)?.replace(EVERY_ADDRESS, '//127.0.0.1') : `http://127.0.0.1:${port}`;
    return this;
  }

  async waitUntilReady(): Promise<void> {
    for (const deadline = performance.now() + START_TIMEOUT_MS; performance.now() < deadline; await sleep(READY_POLL_MS)) {
      const response = await fetch(`${this.url}/health/ready`).catch(() => undefined);
      await response?.arrayBuffer();
      if (response?.ok) return;
    }
    throw new Error(`the service does not become ready:\n${this.output}`);
  }

  /** Returns the metrics of a service with ADMIN_PORT. */
  async metrics(): Promise<string> {
    return (await fetch(`http://${await this.metricsAddress()}/metrics`)).text();
  }

  /** Returns host:port of GET /metrics. */
  async metricsAddress(): Promise<string> {
    const [, port] = await this.waitFor(SERVING_METRICS);
    return `127.0.0.1:${port}`;
  }

  /** Sends a signal. Resolves to the exit code after the process has exited, or null if the signal ended it. */
  stop(signal: NodeJS.Signals = 'SIGTERM'): Promise<number | null> {
    const exit = this.exit();
    this.child.kill(signal);
    return exit;
  }

  async exit(): Promise<number | null> {
    if (this.isRunning) await once(this.child, 'exit');
    return this.child.exitCode;
  }

  /** Resolves like `exit`, but when the rest of the output is read. Processes that outlive this one may delay it. */
  async end(): Promise<number | null> {
    if (!this.isClosed) await once(this.child, 'close');
    return this.child.exitCode;
  }
}
