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

  private constructor(
    private readonly ownUrl: URL,
    /** Returns the server of a new connection, or undefined to close it. */
    private readonly choose: () => URL | undefined,
  ) {}

  static start(targetUrl: string): Promise<TcpProxy> {
    const target = new URL(targetUrl);
    return TcpProxy.listen(target, () => target);
  }

  /** Starts a proxy for HTTP servers. `choose` returns the URL of the server of a new connection, or undefined to close it. */
  static startFor(choose: () => string | undefined): Promise<TcpProxy> {
    return TcpProxy.listen(new URL('http://127.0.0.1'), () => {
      const url = choose();
      return url === undefined ? undefined : new URL(url);
    });
  }

  private static async listen(ownUrl: URL, choose: () => URL | undefined): Promise<TcpProxy> {
    const proxy = new TcpProxy(ownUrl, choose);
    await proxy.restore();
    return proxy;
  }

  /** The target's URL with the address of the proxy. */
  get url(): string {
    const url = new URL(this.ownUrl);
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
    const target = this.choose();
    if (!target) return void client.destroy();
    const upstream = connect(Number(target.port) || 5432, target.hostname);
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
