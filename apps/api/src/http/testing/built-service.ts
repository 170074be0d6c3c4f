import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';

const MAIN = join(import.meta.dirname, '../../../dist/main.js');
const START_TIMEOUT_MS = 60_000;
const WARNING = 40;
/** Makes the process report its memory on request. */
const PROBE = `
  process.on('message', () => process.send(process.memoryUsage.rss()));
  process.channel.unref();`;

interface LogLine {
  readonly level: number;
  readonly msg: string;
  readonly url?: string;
}

/** A process of the built service, with its warnings and errors. */
export class BuiltService {
  private constructor(
    private readonly process: ChildProcess,
    readonly port: number,
    /** Logged warnings and errors, and all lines on stderr, since the service listens. */
    readonly problems: readonly string[],
  ) {}

  static async start(environment: Readonly<Record<string, string>>): Promise<BuiltService> {
    if (!existsSync(MAIN)) throw new Error(`${MAIN} is missing: build the API first`);
    const { PATH, SystemRoot, TEMP } = process.env;
    const child = spawn(process.execPath, ['--import', `data:text/javascript,${encodeURIComponent(PROBE)}`, MAIN], {
      env: { PATH, SystemRoot, TEMP, ...environment, PORT: '0', LOG_LEVEL: 'info' },
      stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
    });
    const problems: string[] = [];
    let timer: NodeJS.Timeout | undefined;
    try {
      const port = await new Promise<number>((resolve, reject) => {
        timer = setTimeout(() => reject(new Error(`the service does not listen: ${problems.join('\n')}`)), START_TIMEOUT_MS);
        child.on('exit', (code) => reject(new Error(`the service ended with ${String(code)}: ${problems.join('\n')}`)));
        createInterface({ input: child.stderr as Readable }).on('line', (line) => problems.push(line));
        createInterface({ input: child.stdout as Readable }).on('line', (line) => {
          const { level, msg, url } = JSON.parse(line) as LogLine;
          if (level >= WARNING) problems.push(line);
          if (msg !== 'listening' || url === undefined) return;
          // The service has warned that the database for tests is not durable.
          problems.length = 0;
          resolve(Number(new URL(url).port));
        });
      });
      return new BuiltService(child, port, problems);
    } catch (error) {
      child.kill('SIGKILL');
      throw error;
    } finally {
      clearTimeout(timer);
    }
  }

  get isAlive(): boolean {
    return this.process.exitCode === null && this.process.signalCode === null;
  }

  /** Resident memory in bytes. */
  async memory(): Promise<number> {
    const reported = once(this.process, 'message') as Promise<[number]>;
    this.process.send('memory');
    return (await reported)[0];
  }

  async stop(): Promise<void> {
    if (!this.isAlive) return;
    const exit = once(this.process, 'exit');
    this.process.kill('SIGTERM');
    await exit;
  }
}
