import http from 'node:http';
import type { AddressInfo } from 'node:net';

const PROBE_INTERVAL_MS = 100;

/** A load balancer that keeps connections open, probes the readiness of each backend and never retries a request. */
export class Balancer {
  private readonly backends = new Map<string, { isReady: boolean; readonly agent: http.Agent }>();
  private readonly server = http.createServer((request, response) => this.forward(request, response));
  private readonly timer = setInterval(() => void this.probe(), PROBE_INTERVAL_MS);
  private turn = 0;

  async listen(): Promise<string> {
    await new Promise<void>((resolve) => this.server.listen(0, '127.0.0.1', resolve));
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}`;
  }

  async add(url: string): Promise<void> {
    this.backends.set(url, { isReady: false, agent: new http.Agent({ keepAlive: true }) });
    while (!this.backends.get(url)?.isReady) await this.probe();
  }

  close(): void {
    clearInterval(this.timer);
    for (const { agent } of this.backends.values()) agent.destroy();
    this.server.closeAllConnections();
    this.server.close();
  }

  private async probe(): Promise<void> {
    for (const [url, backend] of this.backends) {
      backend.isReady = await fetch(`${url}/health/ready`).then(
        async (response) => (await response.arrayBuffer(), response.ok),
        () => false,
      );
    }
  }

  private forward(request: http.IncomingMessage, response: http.ServerResponse): void {
    const ready = [...this.backends].filter(([, { isReady }]) => isReady);
    const [url, backend] = ready[this.turn++ % ready.length] ?? [];
    if (!url || !backend) {
      response.writeHead(502).end();
      return;
    }
    const { method, url: path, headers } = request;
    const backendRequest = http.request(new URL(path ?? '/', url), { method: method ?? 'GET', headers, agent: backend.agent });
    backendRequest.on('response', (backendResponse) => {
      response.writeHead(
        backendResponse.statusCode ?? 502,
        backendResponse.headers['content-type'] ? { 'content-type': backendResponse.headers['content-type'] } : {},
      );
      backendResponse.pipe(response);
    });
    backendRequest.on('error', () => response.destroy());
    request.pipe(backendRequest);
  }
}
