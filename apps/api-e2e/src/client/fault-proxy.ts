import http from 'node:http';
import type { AddressInfo } from 'node:net';

/** Fault of one request. With `lose` and `truncate`, the service processes the request. */
export type Fault =
  | 'none'
  /** Closes the connection before the service gets the request. */
  | 'reset'
  /** Closes the connection instead of sending the response. */
  | 'lose'
  /** Closes the connection in the middle of the response body. */
  | 'truncate'
  /** Responds instead of the service. */
  | { readonly status: number; readonly headers?: http.OutgoingHttpHeaders; readonly body?: string };

/** An HTTP proxy between the client and the service that injects a fault into each of the next requests. */
export class FaultProxy {
  /** The idempotency keys of all requests since the last `inject`. */
  readonly keys: (string | undefined)[] = [];
  /** Statuses of the responses of the service since the last `inject`, in their order. */
  readonly statuses: number[] = [];
  private faults: Fault[] = [];
  private readonly server = http.createServer((request, response) => this.handle(request, response));

  private constructor(
    private readonly target: string,
    private readonly change: (body: Buffer) => Buffer,
  ) {}

  /** @param change changes the body of each response */
  static async start(target: string, change = (body: Buffer): Buffer => body): Promise<FaultProxy> {
    const proxy = new FaultProxy(target, change);
    await new Promise<void>((resolve) => proxy.server.listen(0, '127.0.0.1', resolve));
    return proxy;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}`;
  }

  /** Clears the recorded requests and sets one fault for each of the next requests. Later requests get no fault. */
  inject(...faults: readonly Fault[]): void {
    this.keys.length = 0;
    this.statuses.length = 0;
    this.faults = [...faults];
  }

  async stop(): Promise<void> {
    this.server.closeAllConnections();
    await new Promise((resolve) => this.server.close(resolve));
  }

  private handle(request: http.IncomingMessage, response: http.ServerResponse): void {
    this.keys.push(request.headers['idempotency-key'] as string | undefined);
    const fault = this.faults.shift() ?? 'none';
    if (fault === 'reset') return void request.socket.destroy();
    if (typeof fault === 'object') return void response.writeHead(fault.status, fault.headers).end(fault.body ?? '<html>');
    this.forward(request, response, fault);
  }

  private forward(request: http.IncomingMessage, response: http.ServerResponse, fault: Fault): void {
    const { method = 'GET', url = '/', headers } = request;
    const onward = http.request(new URL(url, this.target), { method, headers }, (incoming) => {
      this.statuses.push(incoming.statusCode ?? 0);
      const chunks: Buffer[] = [];
      incoming.on('data', (chunk: Buffer) => chunks.push(chunk));
      incoming.on('end', () => {
        if (fault === 'lose') return void request.socket.destroy();
        const received = Buffer.concat(chunks);
        const body = this.change(received);
        const { connection: _hopByHop, 'keep-alive': _timeout, ...endToEnd } = incoming.headers;
        if (body !== received) endToEnd['content-length'] = String(body.length);
        response.writeHead(incoming.statusCode ?? 502, endToEnd);
        if (fault !== 'truncate') return void response.end(body);
        response.write(body.subarray(0, body.length / 2), () => request.socket.destroy());
      });
    });
    onward.on('error', () => response.destroy());
    request.pipe(onward);
  }
}
