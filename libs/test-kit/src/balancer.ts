import { TcpProxy } from '@animal-store/local-postgres/testing';

const PROBE_INTERVAL_MS = 50;
const PROBE_TIMEOUT_MS = 1_000;

/** A round-robin load balancer: new connections go to the services that are ready. */
export class Balancer {
  private readonly services = new Map<string, { isReady: boolean }>();
  private readonly timer = setInterval(() => void this.probe(), PROBE_INTERVAL_MS);
  private turn = 0;
  private proxy: TcpProxy | undefined;

  static async start(): Promise<Balancer> {
    const balancer = new Balancer();
    balancer.proxy = await TcpProxy.startFor(() => balancer.choose());
    return balancer;
  }

  get url(): string {
    return new URL(this.proxy?.url ?? '').origin;
  }

  async add(url: string): Promise<void> {
    this.services.set(url, { isReady: false });
    await this.probe();
  }

  remove(url: string): void {
    this.services.delete(url);
  }

  /** Closes the connections of all clients. */
  disconnect(): void {
    this.proxy?.disconnect();
  }

  async stop(): Promise<void> {
    clearInterval(this.timer);
    await this.proxy?.cut();
  }

  private async probe(): Promise<void> {
    const isReady = async (url: string) => {
      const response = await fetch(`${url}/health/ready`, { signal: AbortSignal.timeout(PROBE_TIMEOUT_MS) });
      await response.arrayBuffer();
      return response.ok;
    };
    await Promise.all([...this.services].map(async ([url, service]) => (service.isReady = await isReady(url).catch(() => false))));
  }

  private choose(): string | undefined {
    const all = [...this.services];
    const ready = all.filter(([, { isReady }]) => isReady);
    // If no service is ready, any of them may still respond with a proper error.
    const candidates = ready.length > 0 ? ready : all;
    return candidates[this.turn++ % Math.max(candidates.length, 1)]?.[0];
  }
}
