import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import net from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';

/** A Redis that keeps nothing, on a port of its own. */
export class RedisServer {
  readonly #port: number;
  #process: ChildProcess | undefined;

  private constructor(port: number) {
    this.#port = port;
  }

  static async start(): Promise<RedisServer> {
    const server = new RedisServer(await freePort());
    await server.restart();
    return server;
  }

  get url(): string {
    return `redis://127.0.0.1:${this.#port}`;
  }

  async restart(): Promise<void> {
    const started = spawn('redis-server', ['--port', String(this.#port), '--bind', '127.0.0.1', '--save', '', '--appendonly', 'no'], {
      stdio: 'ignore',
    });
    const missing = once(started, 'error').then(() => {
      throw new Error("there is no redis-server: install Debian's package redis-server (apt-get install redis-server)");
    });
    this.#process = started;
    await Promise.race([missing, this.#answers()]);
    missing.catch(() => undefined);
  }

  signal(signal: NodeJS.Signals): void {
    this.#process?.kill(signal);
  }

  async stop(): Promise<void> {
    const { exitCode, signalCode } = this.#process ?? { exitCode: 0, signalCode: null };
    if (!this.#process || exitCode !== null || signalCode !== null) return;
    const exit = once(this.#process, 'exit');
    this.#process.kill('SIGKILL');
    await exit;
  }

  async #answers(): Promise<void> {
    for (;;) {
      const socket = net.connect(this.#port, '127.0.0.1');
      const isUp = await Promise.race([once(socket, 'connect').then(() => true), once(socket, 'close').then(() => false)]).catch(
        () => false,
      );
      socket.destroy();
      if (isUp) return;
      await sleep(50);
    }
  }
}

async function freePort(): Promise<number> {
  const server = net.createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as net.AddressInfo;
  server.close();
  return port;
}
