import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { Transform } from 'node:stream';

/** A TCP proxy for a server that simulates network faults: lost connections and delays. */
export class TcpProxy {
  private readonly sockets = new Set<Socket>();
  private readonly server = createServer((client) => {
    this.forward(client);
  });
  private port = 0;
  private delayMs = 0;

  private constructor(private readonly target: URL) {}

  static async start(targetUrl: string): Promise<TcpProxy> {
    const proxy = new TcpProxy(new URL(targetUrl));
    await proxy.restore();
    return proxy;
  }

  /** The target's URL with the address of the proxy. */
  get url(): string {
    const url = new URL(this.target);
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
    const upstream = connect(Number(this.target.port) || 5432, this.target.hostname);
    for (const [from, to] of [
      [client, upstream],
      [upstream, client],
    ] as const) {
      this.sockets.add(from);
      from
        .on('error', () => undefined)
        .on('close', () => {
          this.sockets.delete(from);
          to.destroy();
        });
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
