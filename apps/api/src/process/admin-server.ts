import { once } from 'node:events';
import { createServer, type Server, type ServerResponse } from 'node:http';
import { Registry } from 'prom-client';
import { defaultErrorBody, type ErrorBody, HTTP_ERRORS } from '../errors/http-errors.js';

const TIMEOUT_MS = 10_000;

/** Starts a server for `GET /metrics` on a separate address. */
export async function startAdminServer(
  { host, port }: { readonly host: string; readonly port: number },
  metrics: () => Promise<string>,
): Promise<Server> {
  const server = createServer({ requestTimeout: TIMEOUT_MS, headersTimeout: TIMEOUT_MS }, ({ url }, response) => {
    if (url?.split('?', 1)[0] !== '/metrics') reject(response, HTTP_ERRORS.routeNotFound);
    else
      metrics().then(
        (text) => response.setHeader('Content-Type', Registry.PROMETHEUS_CONTENT_TYPE).end(text),
        () => reject(response, HTTP_ERRORS.internalError),
      );
  });
  server.listen(port, host);
  await once(server, 'listening');
  // Without a listener, a connection that the process has no file descriptor for would be an uncaught error.
  server.on('error', () => undefined);
  return server;
}

function reject(response: ServerResponse, definition: ErrorBody): void {
  const error = defaultErrorBody(definition);
  response.writeHead(error.status, { 'Content-Type': 'application/json', 'Cache-Control': 'no-store' }).end(JSON.stringify(error));
}
