import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { Transform } from 'node:stream';

/** A TCP proxy for one or more servers. Simulates network faults: lost connections and delays. */
export class TcpProxy {
  private readonly sockets = new Set<Socket>();
  private readonly server = createServer((client) => {
    this.forward(client);
  });
  private port = 0;
  private delayMs = 0;

  /** @param target the URL of the server, or a function that returns the URL for a new connection, or undefined to close it */
  private constructor(private readonly target: string | (() => string | undefined)) {}

  static async start(target: TcpProxy['target']): Promise<TcpProxy> {
    const proxy = new TcpProxy(target);
    await proxy.restore();
    return proxy;
  }

  /** The target's URL with the address of the proxy. */
  get url(): string {
    const url = new URL(typeof this.target === 'string' ? this.target : 'http://127.0.0.1');
    url.host = `127.0.0.1:${this.port}`;
    return url.href;
  }

  /** Closes all connections. New ones are accepted. */
  disconnect(): void {
    for (const socket of this.sockets) socket.destroy();
  }

  /** Closes all connections and rejects new ones. */
  async cut(): Promise<void> {
    if (!this.server.listening) return;
    const closed = once(this.server, 'close');
    this.server.close();
    this.disconnect();
    await closed;
  }

  async restore(): Promise<void> {
    this.server.listen(this.port, '127.0.0.1');
    await once(this.server, 'listening');
    this.port = (this.server.address() as AddressInfo).port;
  }

  /** Delays the data of all connections in each direction. 0 ends the delay. */
  slowDown(delayMs: number): void {
    this.delayMs = delayMs;
  }

  private forward(client: Socket): void {
    const target = typeof this.target === 'string' ? this.target : this.target();
    if (target === undefined) return void client.destroy();
    const { port, hostname } = new URL(target);
    const upstream = connect(Number(port) || 5432, hostname);
    client.on('close', () => upstream.destroy());
    upstream.on('close', () => {
      // After an orderly end, the pipe ends the client when it has sent the rest of the data.
      if (!upstream.readableEnded || this.delayMs > 0) client.destroy();
    });
    for (const [from, to] of [
      [client, upstream],
      [upstream, client],
    ] as const) {
      this.sockets.add(from);
      from.on('error', () => undefined).on('close', () => this.sockets.delete(from));
      from.pipe(this.delay()).pipe(to);
    }
  }

  private delay(): Transform {
    return new Transform({
      transform: (chunk: Buffer, _encoding, done) => {
        if (this.delayMs === 0) done(null, chunk);
        else setTimeout(() => done(null, chunk), this.delayMs).unref();
      },
    });
  }
}

/** Returns a free port of 127.0.0.1. */
export async function findFreePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}
