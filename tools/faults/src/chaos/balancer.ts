import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';

const PROBE_INTERVAL_MS = 50;

/** A round-robin load balancer: new connections go to the services that are ready. */
export class Balancer {
  private readonly targets = new Map<string, { ready: boolean }>();
  private readonly server: Server = createServer((client) => {
    this.forward(client);
  });
  private timer: NodeJS.Timeout | undefined;
  private turn = 0;
  private readonly clients = new Set<Socket>();

  static async start(): Promise<Balancer> {
    const balancer = new Balancer();
    balancer.server.listen(0, '127.0.0.1');
    await once(balancer.server, 'listening');
    balancer.timer = setInterval(() => void balancer.probe(), PROBE_INTERVAL_MS);
    return balancer;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}`;
  }

  async add(url: string): Promise<void> {
    this.targets.set(url, { ready: false });
    await this.probe();
  }

  remove(url: string): void {
    this.targets.delete(url);
  }

  /** Closes the connections of all clients. */
  disconnect(): void {
    for (const client of this.clients) client.destroy();
  }

  stop(): void {
    clearInterval(this.timer);
    this.server.close();
  }

  private async probe(): Promise<void> {
    await Promise.all(
      [...this.targets].map(async ([url, target]) => {
        try {
          const response = await fetch(`${url}/health/ready`, { signal: AbortSignal.timeout(1_000) });
          await response.arrayBuffer();
          target.ready = response.ok;
        } catch {
          target.ready = false;
        }
      }),
    );
  }

  private forward(client: Socket): void {
    const all = [...this.targets];
    const ready = all.filter(([, target]) => target.ready);
    // If no service is ready, any of them may still respond with a proper error.
    const candidates = ready.length > 0 ? ready : all;
    const [url] = candidates[this.turn++ % Math.max(candidates.length, 1)] ?? [];
    this.clients.add(client);
    client.on('error', () => undefined).on('close', () => this.clients.delete(client));
    if (url === undefined) {
      client.destroy();
      return;
    }
    const { port, hostname } = new URL(url);
    const upstream = connect(Number(port), hostname);
    upstream.on('error', () => client.destroy()).on('close', () => client.destroySoon());
    client.on('close', () => upstream.destroy());
    client.pipe(upstream).pipe(client);
  }
}
