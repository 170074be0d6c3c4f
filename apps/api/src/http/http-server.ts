import { createServer, type RequestListener, type Server } from 'node:http';
import fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify';
import { HEADER_SECTION_BYTES, HTTP_ERRORS, HttpError, MAX_HEADER_FIELDS, MAX_TARGET_LENGTH } from '../errors/http-errors.js';
import { requestIdOf } from '../observability/identify-requests.js';
import type { ShedRequests } from '../observability/shed-requests.js';
import { removePorts } from '../rate-limit/address-group.js';
import { type Connection, connectionOf } from './connection.js';
import { hasUnknownFraming } from './request-body.js';
import { type SocketErrorOptions, SocketErrors } from './socket-errors.js';

export const HEADERS_TIMEOUT_MS = 5_000;
export const REQUEST_TIMEOUT_MS = 10_000;
export const KEEP_ALIVE_TIMEOUT_MS = 72_000;
const TIMEOUT_CHECK_INTERVAL_MS = 1_000;
/** Timeout of a silent connection with a pending request. Longer than any request takes: it only affects clients that do not read. */
export const SILENCE_TIMEOUT_MS = 30_000;

/** Replaces a target that the router cannot parse. Clients cannot send it: Node's HTTP parser rejects white space in targets. */
const UNREADABLE_TARGET = '/ ';
/** uri-host [ ":" port ] (RFC 9112, section 3.2). A comma means that the field was repeated. */
const HOST = /^(?:\[[\w.~!$&'()*+;=:-]+\]|[\w.~!$&'()*+;=%-]*)(?::\d*)?$/;

/** Share of `max`. At most this many idle connections are closed at a time, and at most this many connections above `max` get a 503. */
const SHARE = 1 / 100;
/** Minimum time between a search that found no idle connection and the next search. */
const SEARCH_AGAIN_AFTER_MS = 100;

export interface HttpServerOptions extends SocketErrorOptions {
  readonly trustedProxies: readonly string[];
  readonly maxConnections: number;
}

/** Creates the Fastify instance with its limits, without routes. */
export function createHttpServer({ trustedProxies, maxConnections, ...options }: HttpServerOptions): FastifyInstance {
  const errors = new SocketErrors(options);
  const instance: FastifyInstance = fastify({
    logger: false,
    genReqId: requestIdOf,
    // Without trusted proxies, X-Forwarded-For is ignored.
    trustProxy: trustedProxies.length > 0 && [...trustedProxies],
    serverFactory: (handle) => createNodeServer(trustedProxies.length === 0 ? handle : withAddresses(handle)),
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
    clientErrorHandler: (error, socket) => errors.onClientError(error, socket),
  });
  errors.register(instance.server);
  new ConnectionLimit(maxConnections, errors, options.shed).register(instance.server);
  return instance;
}

/** Removes ports from X-Forwarded-For before Fastify reads it. */
function withAddresses(handle: RequestListener): RequestListener {
  return (request, response) => {
    const { headers } = request;
    const forwardedFor = headers['x-forwarded-for'];
    if (typeof forwardedFor === 'string') headers['x-forwarded-for'] = removePorts(forwardedFor);
    handle(request, response);
  };
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
      // Saves the stream events of requests without a body.
      optimizeEmptyRequests: true,
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

/** Keeps at most `max` connections. Above that, idle ones are closed; if there are none, the new one is refused. */
export class ConnectionLimit {
  /** Oldest first. */
  private readonly connections = new Set<Connection>();
  private readonly batch: number;
  private searchAfter = 0;

  constructor(
    private readonly max: number,
    private readonly errors: Pick<SocketErrors, 'refuse'>,
    private readonly shed: Pick<ShedRequests, 'count'>,
  ) {
    this.batch = Math.ceil(max * SHARE);
  }

  register(server: Server): void {
    // Without a listener, a connection that the process has no file descriptor for would be an uncaught error.
    server.on('error', ({ syscall }: NodeJS.ErrnoException) => {
      if (syscall === 'accept') this.shed.count('connections');
    });
    server.on('connection', (socket) => this.add(connectionOf(socket)));
  }

  private add(connection: Connection): void {
    const { connections, max, batch } = this;
    const { socket } = connection;
    connections.add(connection);
    socket.once('close', () => connections.delete(connection));
    if (connections.size <= max || this.closeIdle(connection)) return;
    connection.isEnded = true;
    this.shed.count('connections');
    if (connections.size > max + batch) socket.destroy();
    else this.errors.refuse(socket);
  }

  private closeIdle(newest: Connection): boolean {
    const now = performance.now();
    if (now < this.searchAfter) return false;
    const closed = this.findIdle(newest);
    for (const connection of closed) {
      this.connections.delete(connection);
      connection.socket.destroy();
    }
    if (closed.length === 0) this.searchAfter = now + SEARCH_AGAIN_AFTER_MS;
    return closed.length > 0;
  }

  /** Returns a batch of connections that never sent a request, or else of idle ones. */
  private findIdle(newest: Connection): readonly Connection[] {
    const unused: Connection[] = [];
    const idle: Connection[] = [];
    for (const connection of this.connections) {
      if (connection.pending > 0 || connection === newest) continue;
      (connection.isUsed ? idle : unused).push(connection);
      if (unused.length === this.batch) break;
    }
    return unused.length > 0 ? unused : idle.slice(0, this.batch);
  }
}

/** Rejects malformed requests that Node's HTTP parser accepts. */
export function rejectMalformedRequests(fastify: FastifyInstance): void {
  fastify.addHook('onRequest', (request, reply, done) => {
    done(errorOf(request, reply));
  });
}

function errorOf({ raw, url, originalUrl }: FastifyRequest, reply: FastifyReply): HttpError | undefined {
  const { host, upgrade } = raw.headers;
  const end = () => {
    connectionOf(raw.socket).isEnded = true;
    reply.header('connection', 'close');
  };
  // Node drops the bytes that arrived after an upgrade request, so the next bytes may begin in the middle of a body.
  if (upgrade !== undefined) end();
  // Node's parser treats a request line without a version as HTTP/0.9.
  if (raw.httpVersionMajor < 1 || hasUnknownFraming(raw)) {
    end();
    return new HttpError(HTTP_ERRORS.malformedRequest);
  }
  if ((host === undefined && raw.httpVersion === '1.1') || (host !== undefined && !HOST.test(host))) {
    end();
    return new HttpError(HTTP_ERRORS.malformedRequest, 'The request must have exactly one valid Host header.');
  }
  if (url === UNREADABLE_TARGET) return new HttpError(HTTP_ERRORS.malformedRequest);
  if (originalUrl.length > MAX_TARGET_LENGTH) return new HttpError(HTTP_ERRORS.uriTooLong);
  if (raw.rawHeaders.length > 2 * MAX_HEADER_FIELDS) return new HttpError(HTTP_ERRORS.headersTooLarge);
  return undefined;
}
