import { once } from 'node:events';
import { createServer, request } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface RecordingProxy {
  readonly url: string;
  /** Statuses of the responses, in their order. */
  readonly statuses: number[];
  close(): Promise<void>;
}

/** Starts a proxy that forwards requests to a service and records the statuses of the responses. */
export async function startRecordingProxy(service: URL): Promise<RecordingProxy> {
  const statuses: number[] = [];
  const server = createServer((received, response) => {
    const { method, headers, url: path } = received;
    const forwarded = request({ host: service.hostname, port: service.port, method, path, headers }, (answered) => {
      const { statusCode = 0, statusMessage, rawHeaders } = answered;
      statuses.push(statusCode);
      response.writeHead(statusCode, statusMessage, rawHeaders);
      answered.pipe(response);
    });
    forwarded.on('error', () => response.destroy());
    received.pipe(forwarded);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    statuses,
    close: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}
