import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { defaultErrorBody, type ErrorBody } from '../errors/error-response.js';
import { HTTP_ERRORS } from '../errors/http-errors.js';

const TIMEOUT_MS = 10_000;

export interface MetricsSource {
  readonly contentType: string;
  metrics(): Promise<string>;
}

export interface AdminServer {
  readonly port: number;
  close(): Promise<void>;
}

/** Starts a server for `GET /metrics` on a separate address. */
export async function startAdminServer({ host, port }: { host: string; port: number }, source: MetricsSource): Promise<AdminServer> {
  const server = createServer({ requestTimeout: TIMEOUT_MS, headersTimeout: TIMEOUT_MS }, (request, response) => {
    request.resume();
    const path = request.url?.split('?', 1)[0];
    if (path !== '/metrics') reject(response, defaultErrorBody(HTTP_ERRORS.routeNotFound));
    else if (request.method !== 'GET' && request.method !== 'HEAD') {
      response.setHeader('Allow', 'GET, HEAD');
      reject(response, defaultErrorBody(HTTP_ERRORS.methodNotAllowed));
    } else {
      source.metrics().then(
        (text) => response.setHeader('Content-Type', source.contentType).end(text),
        () => reject(response, defaultErrorBody(HTTP_ERRORS.internalError)),
      );
    }
  });
  // As for the API: a client may end its side of the connection after its request.
  Object.assign(server, { httpAllowHalfOpen: true });
  server.listen(port, host);
  await once(server, 'listening');
  // Without a listener, a connection that the process has no file descriptor for would be an uncaught error.
  server.on('error', () => undefined);
  return {
    port: (server.address() as AddressInfo).port,
    close: async () => {
      server.close();
      server.closeAllConnections();
    },
  };
}

function reject(response: ServerResponse, error: ErrorBody): void {
  response.writeHead(error.status, { 'Content-Type': 'application/json', 'Cache-Control': 'no-store' }).end(JSON.stringify(error));
}
