import { createServer, type RequestListener, type Server } from 'node:http';
import type { PublicUrl } from '@animal-store/http-contract';
import fastify, { type FastifyInstance } from 'fastify';
import { connectionOf } from './connection.js';
import { limitConnections } from './connection-limit.js';
import { requestIdOf } from './request-id.js';
import { UNREADABLE_TARGET } from './malformed-requests.js';
import { answerClientError, answerSpecialRequests } from './socket-errors.js';

const HEADER_SECTION_BYTES = 8 * 1024;
const HEADERS_TIMEOUT_MS = 5_000;
const REQUEST_TIMEOUT_MS = 10_000;
const KEEP_ALIVE_TIMEOUT_MS = 72_000;
const TIMEOUT_CHECK_INTERVAL_MS = 1_000;
/** Of a connection that has a request: longer than any answer takes, so that it only ends for clients that read none. */
const SILENCE_TIMEOUT_MS = 30_000;

export interface HttpServerOptions {
  readonly trustedProxies: readonly string[];
  readonly maxConnections: number;
  readonly corsOrigins: readonly string[];
  readonly publicUrl: PublicUrl;
}

/** Fastify with its limits, without routes. */
export function createHttpServer({ trustedProxies, maxConnections, corsOrigins, publicUrl }: HttpServerOptions): FastifyInstance {
  const instance: FastifyInstance = fastify({
    logger: false,
    genReqId: requestIdOf,
    // Without proxies the address of a client is that of its connection, whatever X-Forwarded-For says.
    trustProxy: trustedProxies.length > 0 && [...trustedProxies],
    serverFactory: (handle) => createNodeServer(handle),
    // Requests that reach a closing process are still answered, and their connections closed.
    return503OnClosing: false,
    // The request target is bounded by the header section: no parameter can be longer.
    routerOptions: { maxParamLength: HEADER_SECTION_BYTES },
    rewriteUrl: ({ url = '/' }) => decodablePath(url),
    // A target that the router cannot read takes the same path as every other request; Fastify would respond in its own shape.
    frameworkErrors: (_error, { raw }, reply) => {
      raw.url = UNREADABLE_TARGET;
      instance.routing(raw, reply.raw);
    },
    clientErrorHandler: (error, socket) => {
      answerClientError(error, socket, corsOrigins, publicUrl);
    },
  });
  answerSpecialRequests(instance.server, corsOrigins, publicUrl);
  limitConnections(instance.server, maxConnections, publicUrl);
  return instance;
}

function createNodeServer(handle: RequestListener): Server {
  const server = createServer(
    {
      maxHeaderSize: HEADER_SECTION_BYTES,
      headersTimeout: HEADERS_TIMEOUT_MS,
      requestTimeout: REQUEST_TIMEOUT_MS,
      keepAliveTimeout: KEEP_ALIVE_TIMEOUT_MS,
      connectionsCheckingInterval: TIMEOUT_CHECK_INTERVAL_MS,
      // Node would answer without the error shape; the request lifecycle checks Host.
      requireHostHeader: false,
      // A repeated field must be seen as such: Node would drop the second Authorization or Host.
      joinDuplicateHeaders: true,
    },
    (request, response) => {
      const connection = connectionOf(request.socket);
      // What follows the last request of a connection is read and dropped, without a response.
      if (connection.isEnded) {
        request.resume();
        return;
      }
      connection.isUsed = true;
      connection.pending++;
      handle(request, response);
    },
  );
  server.timeout = SILENCE_TIMEOUT_MS;
  // Fields are counted in the request lifecycle; Node would silently drop those above its own limit.
  server.maxHeadersCount = 0;
  return server;
}

/** A path whose percent-encoding is broken is taken literally, so that it meets its route and that route's guards. */
function decodablePath(url: string): string {
  if (!url.includes('%')) return url;
  const [path = '', ...query] = url.split('?');
  try {
    decodeURIComponent(path);
    return url;
  } catch {
    return [path.replaceAll('%', '%25'), ...query].join('?');
  }
}
