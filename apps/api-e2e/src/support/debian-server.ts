import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import net from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { findFreePort } from '@animal-store/local-postgres/testing';

/** Debian installs servers in this folder, which is not in the PATH of users. */
const SERVERS = '/usr/sbin';
export const DEBIAN_PATH = `${process.env['PATH'] ?? ''}:${SERVERS}`;
const NOBODY = 65_534;

interface DebianServerOptions {
  /** Name of the program and of its Debian package. */
  readonly program: string;
  readonly args: (port: number) => readonly string[] | Promise<readonly string[]>;
}

/** Starts a Redis without persistence. */
export function startRedis(): Promise<DebianServer> {
  const args = (port: number) => ['--port', String(port), '--bind', '127.0.0.1', '--save', '', '--appendonly', 'no'];
  return DebianServer.start({ program: 'redis-server', args });
}

/** A server that is not in the npm registry, on a free port. */
export class DebianServer {
  private process: ChildProcess | undefined;

  private constructor(
    readonly port: number,
    private readonly options: DebianServerOptions,
  ) {}

  static async start(options: DebianServerOptions): Promise<DebianServer> {
    const server = new DebianServer(await findFreePort(), options);
    await server.restart();
    return server;
  }

  async restart(): Promise<void> {
    const { program, args } = this.options;
    const started = spawn(program, await args(this.port), {
      stdio: ['ignore', 'ignore', 'inherit'],
      env: { PATH: DEBIAN_PATH },
      // PgBouncer does not run as root.
      ...(process.getuid?.() === 0 && { uid: NOBODY, gid: NOBODY }),
    });
    const missing = once(started, 'error').then(() => {
      throw new Error(`there is no ${program}: install Debian's package ${program} (apt-get install ${program})`);
    });
    const ended = once(started, 'exit').then(([code]) => {
      throw new Error(`${program} ended with ${String(code)}`);
    });
    this.process = started;
    await Promise.race([missing, ended, this.accepting()]);
    for (const failure of [missing, ended]) failure.catch(() => undefined);
  }

  signal(signal: NodeJS.Signals): void {
    this.process?.kill(signal);
  }

  async stop(): Promise<void> {
    const { exitCode, signalCode } = this.process ?? { exitCode: 0, signalCode: null };
    if (!this.process || exitCode !== null || signalCode !== null) return;
    const exit = once(this.process, 'exit');
    this.process.kill('SIGKILL');
    await exit;
  }

  /** Resolves when the server accepts connections. */
  private async accepting(): Promise<void> {
    for (;;) {
      const socket = net.connect(this.port, '127.0.0.1');
      const isUp = await Promise.race([once(socket, 'connect').then(() => true), once(socket, 'close').then(() => false)]).catch(
        () => false,
      );
      socket.destroy();
      if (isUp) return;
      await sleep(50);
    }
  }
}
