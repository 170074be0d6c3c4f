import { once } from 'node:events';
import net from 'node:net';

/** A port in front of a database server, which can be cut as a network can. */
export class DatabaseProxy {
  readonly #upstream: URL;
  readonly #sockets = new Set<net.Socket>();
  readonly #server = net.createServer((client) => this.#forward(client));

  private constructor(databaseUrl: string) {
    this.#upstream = new URL(databaseUrl);
  }

  static async start(databaseUrl: string): Promise<DatabaseProxy> {
    const proxy = new DatabaseProxy(databaseUrl);
    await proxy.#listen(0);
    return proxy;
  }

  /** The database's address by way of the proxy. */
  get url(): string {
    const url = new URL(this.#upstream);
    url.hostname = '127.0.0.1';
    url.port = String(this.#port);
    return url.href;
  }

  /** Ends every connection and refuses new ones; returns what undoes it. */
  async cut(): Promise<() => Promise<void>> {
    const port = this.#port;
    const closed = once(this.#server, 'close');
    this.#server.close();
    for (const socket of this.#sockets) socket.destroy();
    await closed;
    return () => this.#listen(port);
  }

  async stop(): Promise<void> {
    if (this.#server.listening) await this.cut();
  }

  get #port(): number {
    return (this.#server.address() as net.AddressInfo).port;
  }

  async #listen(port: number): Promise<void> {
    this.#server.listen(port, '127.0.0.1');
    await once(this.#server, 'listening');
  }

  #forward(client: net.Socket): void {
    const server = net.connect(Number(this.#upstream.port) || 5432, this.#upstream.hostname);
    for (const [from, to] of [
      [client, server],
      [server, client],
    ] as const) {
      this.#sockets.add(from);
      from.on('error', () => undefined);
      from.on('close', () => {
        this.#sockets.delete(from);
        to.destroy();
      });
      from.pipe(to);
    }
  }
}
