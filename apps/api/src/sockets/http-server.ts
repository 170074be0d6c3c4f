import { createServer, type RequestListener, type Server } from 'node:http';
import fastify, { type FastifyInstance } from 'fastify';
import { connectionOf } from './connection.js';
import { limitConnections } from './connection-limit.js';
import { requestIdOf } from '../observability/request-id.js';
import { handleExpectAndConnect, respondToClientError, type SocketErrorOptions } from './socket-errors.js';

const HEADER_SECTION_BYTES = 8 * 1024;
const HEADERS_TIMEOUT_MS = 5_000;
const REQUEST_TIMEOUT_MS = 10_000;
const KEEP_ALIVE_TIMEOUT_MS = 72_000;
const TIMEOUT_CHECK_INTERVAL_MS = 1_000;
/** Timeout of a silent connection with a pending request. Longer than any request takes: it only affects clients that do not read. */
const SILENCE_TIMEOUT_MS = 30_000;

/** Replaces a target that the router cannot parse. Clients cannot send it: Node's HTTP parser rejects white space in targets. */
export const UNREADABLE_TARGET = '/ ';

export interface HttpServerOptions extends SocketErrorOptions {
  readonly trustedProxies: readonly string[];
  readonly maxConnections: number;
}

/** Creates the Fastify instance with its limits, without routes. */
export function createHttpServer({ trustedProxies, maxConnections, ...socketErrors }: HttpServerOptions): FastifyInstance {
  const instance: FastifyInstance = fastify({
    logger: false,
    genReqId: requestIdOf,
    // Without trusted proxies, X-Forwarded-For is ignored.
    trustProxy: trustedProxies.length > 0 && [...trustedProxies],
    serverFactory: (handle) => createNodeServer(handle),
    // Requests that reach a closing process are still processed; then their connections are closed.
    return503OnClosing: false,
    // The header section contains the request target, so no parameter can be longer.
    routerOptions: { maxParamLength: HEADER_SECTION_BYTES },
    rewriteUrl: ({ url = '/' }) => escapeInvalidEncoding(url),
    // A request whose target the router cannot parse is routed like any other. Fastify's own response lacks our error shape.
    frameworkErrors: (_error, { raw }, reply) => {
      raw.url = UNREADABLE_TARGET;
      instance.routing(raw, reply.raw);
    },
    clientErrorHandler: (error, socket) => {
      respondToClientError(error, socket, socketErrors);
    },
  });
  handleExpectAndConnect(instance.server, socketErrors);
  limitConnections(instance.server, maxConnections, socketErrors);
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
      // Node's own response lacks our error shape; the hooks check Host.
      requireHostHeader: false,
      // By default, Node drops a second Authorization or Host without an error.
      joinDuplicateHeaders: true,
    },
    (request, response) => {
      const connection = connectionOf(request.socket);
      // On a connection that is ending, further requests are dropped without a response.
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
  // A client may end its side of the connection after its last request and still gets the response (RFC 9112, section 9.6).
  Object.assign(server, { httpAllowHalfOpen: true });
  // A hook counts the fields; Node silently drops those above its limit.
  server.maxHeadersCount = 0;
  return server;
}

/** Escapes the `%` of a path with invalid percent-encoding, so that the router matches it literally and the guards of the route run. */
function escapeInvalidEncoding(url: string): string {
  if (!url.includes('%')) return url;
  const [path = '', ...query] = url.split('?');
  try {
    decodeURIComponent(path);
    return url;
  } catch {
    return [path.replaceAll('%', '%25'), ...query].join('?');
  }
}
