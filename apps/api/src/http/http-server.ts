import { createServer, type IncomingMessage, type RequestListener, type Server } from 'node:http';
import { PublicUrl } from '@animal-store/http-kit';
import fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify';
import { ACCEPT_PATCH, HEADER_SECTION_BYTES, HTTP_ERRORS, HttpError, MAX_HEADER_FIELDS, MAX_TARGET_LENGTH } from '../errors/http-errors.js';
import { identifyRequests, requestIdOf } from '../observability/identify-requests.js';
import { measureRequests } from '../observability/metrics.js';
import type { Observability } from '../observability/observability.js';
import { logRequests } from '../observability/request-log.js';
import { ShedRequests } from '../observability/shed-requests.js';
import { removePorts } from '../rate-limit/address-group.js';
import { connectionOf, Draining, endConnections, limitConnections } from './connection.js';
import { allowOrigins, preflightHeaders } from './cors.js';
import { announceDeprecations } from './deprecations.js';
import { addEntityTags } from './entity-tags.js';
import { type LoadLimits, LoadShedding } from './load-shedding.js';
import { hasUnknownFraming, RequestBodies } from './request-body.js';
import { RouteTable } from './routes.js';
import { isContinue, type SocketErrorOptions, SocketErrors } from './socket-errors.js';

export const HEADERS_TIMEOUT_MS = 5_000;
export const REQUEST_TIMEOUT_MS = 10_000;
export const KEEP_ALIVE_TIMEOUT_MS = 72_000;
const TIMEOUT_CHECK_INTERVAL_MS = 1_000;
/** Minimum timeout of a silent connection with a pending request. */
const SILENCE_TIMEOUT_MS = 30_000;

/** Replaces a target that the router cannot parse. Clients cannot send it: Node's HTTP parser rejects white space in targets. */
const UNREADABLE_TARGET = '/ ';
/** uri-host [ ":" port ] (RFC 9112, section 3.2). A comma means that the field was repeated. */
const HOST = /^(?:\[[\w.~!$&'()*+;=:-]+\]|[\w.~!$&'()*+;=%-]*)(?::\d*)?$/;

export interface HttpOptions extends LoadLimits {
  readonly publicBaseUrl: string | undefined;
  readonly docsUrl: string | undefined;
  readonly corsOrigins: readonly string[];
  readonly trustedProxies: readonly string[];
  readonly maxConnections: number;
  readonly logRequestsSample: number;
  readonly databaseConnectTimeoutMs: number;
  readonly databaseStatementTimeoutMs: number;
}

/** Returns a timeout that is longer than any request takes, so that it only affects clients that do not read; 0 is none. */
export function silenceTimeoutMs({
  databaseConnectTimeoutMs,
  databaseStatementTimeoutMs,
}: Pick<HttpOptions, 'databaseConnectTimeoutMs' | 'databaseStatementTimeoutMs'>): number {
  if (databaseStatementTimeoutMs === 0) return 0;
  // A request usually waits for at most two statements: the lookup of the key and the operation.
  return Math.max(SILENCE_TIMEOUT_MS, 2 * (databaseConnectTimeoutMs + databaseStatementTimeoutMs) + 5_000);
}

/**
 * Fastify with every hook, in the order in which they run. Guards, pipes and the handler follow (app.module.ts).
 * Created before the container, because the hooks that Nest's adapter adds must run after these.
 */
export class HttpServer {
  readonly publicUrl: PublicUrl;
  readonly routes = new RouteTable();
  readonly draining = new Draining();
  readonly fastify: FastifyInstance;

  constructor(options: HttpOptions, { logger, metrics, tracing }: Observability) {
    const { corsOrigins } = options;
    const publicUrl = new PublicUrl(options.publicBaseUrl, options.docsUrl);
    const shed = new ShedRequests(metrics, logger);
    const server = createHttpServer({ ...options, publicUrl, shed, connectionTimeout: silenceTimeoutMs(options) });
    this.publicUrl = publicUrl;
    this.fastify = server;

    // Hooks on routes, before Nest adds its routes.
    this.routes.recordRoutesOf(server);
    announceDeprecations(server, publicUrl);
    addEntityTags(server);

    // First, because a later hook may respond, and its response may be the last one of its connection.
    endConnections(server, this.draining);
    // Before all hooks that may reject a request, so that rejected requests have a span too.
    tracing?.traceRequests(server);
    // Before all hooks that may reject a request, so that every error carries the request id.
    identifyRequests(server);
    // Before all hooks that may reject a request, so that scripts can read every error.
    if (corsOrigins.length > 0) allowOrigins(server, corsOrigins);
    // Before any hook that trusts the request line or the headers.
    rejectMalformedRequests(server);
    // Before load shedding, because responses to OPTIONS are cheap and need no key.
    respondToOptions(server, this.routes, corsOrigins);
    // These two run after the response, so they cover every request.
    logRequests(server, logger, options.logRequestsSample);
    measureRequests(server, metrics);
    // Reads the body, before the guards run.
    new RequestBodies(shed).register(server);
    // Last, before the guards.
    new LoadShedding(options, metrics, shed).register(server);
  }
}

/** Creates the Fastify instance with its limits, without routes. */
export function createHttpServer({
  trustedProxies,
  maxConnections,
  connectionTimeout = SILENCE_TIMEOUT_MS,
  ...options
}: SocketErrorOptions & Pick<HttpOptions, 'trustedProxies' | 'maxConnections'> & { connectionTimeout?: number }): FastifyInstance {
  const errors = new SocketErrors(options);
  const instance: FastifyInstance = fastify({
    logger: false,
    genReqId: requestIdOf,
    // Without trusted proxies, X-Forwarded-For is ignored.
    trustProxy: trustedProxies.length > 0 && [...trustedProxies],
    serverFactory: (handle) => createNodeServer(trustedProxies.length === 0 ? handle : withAddresses(handle), connectionTimeout),
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
  limitConnections(instance.server, maxConnections, options.shed, (socket) => errors.refuse(socket));
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

function createNodeServer(handle: RequestListener, timeout: number): Server {
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
      connection.lastRequest = request;
      connection.pending++;
      handle(request, response);
    },
  );
  server.timeout = timeout;
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

/** Rejects malformed requests that Node's HTTP parser accepts. */
function rejectMalformedRequests(fastify: FastifyInstance): void {
  fastify.addHook('onRequest', (request, reply, done) => {
    done(errorOf(request, reply));
  });
}

function errorOf({ raw, url, originalUrl }: FastifyRequest, reply: FastifyReply): HttpError | undefined {
  const { host, upgrade, expect } = raw.headers;
  const end = () => {
    connectionOf(raw.socket).isEnded = true;
    reply.header('connection', 'close');
  };
  if (upgrade !== undefined && mayHaveDroppedBytes(raw)) end();
  // Node's parser treats a request line without a version as HTTP/0.9.
  if (raw.httpVersionMajor < 1 || hasUnknownFraming(raw)) {
    end();
    return new HttpError(HTTP_ERRORS.malformedRequest);
  }
  if ((host === undefined && raw.httpVersion === '1.1') || (host !== undefined && !HOST.test(host))) {
    end();
    return new HttpError(HTTP_ERRORS.malformedRequest, 'The request must have exactly one valid Host header.');
  }
  if (expect !== undefined && raw.httpVersion === '1.1' && !isContinue(raw)) {
    end();
    return new HttpError(HTTP_ERRORS.expectationFailed);
  }
  if (url === UNREADABLE_TARGET) return new HttpError(HTTP_ERRORS.malformedRequest);
  if (originalUrl.length > MAX_TARGET_LENGTH) return new HttpError(HTTP_ERRORS.uriTooLong);
  if (raw.rawHeaders.length > 2 * MAX_HEADER_FIELDS) return new HttpError(HTTP_ERRORS.headersTooLarge);
  return undefined;
}

const END_OF_HEAD = '\r\n\r\n';

/**
 * Returns whether bytes may have followed a request with Upgrade, which is ignored. Node.js drops them, so the next ones may begin in the
 * middle of a body.
 */
function mayHaveDroppedBytes({ headers, socket }: IncomingMessage): boolean {
  if (headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0) return true;
  const { parser } = socket as { parser?: { getCurrentBuffer?: () => Buffer | undefined } };
  const received = parser?.getCurrentBuffer?.();
  return received?.indexOf(END_OF_HEAD) !== (received?.length ?? 0) - END_OF_HEAD.length;
}

/** Responds to OPTIONS on every known path, also to preflights, with the methods it has. */
function respondToOptions(fastify: FastifyInstance, routes: RouteTable, corsOrigins: readonly string[]): void {
  fastify.addHook('onRequest', (request, reply, done) => {
    const allow = request.method === 'OPTIONS' ? routes.allowedMethods(request.url) : undefined;
    if (allow === undefined) {
      done();
      return;
    }
    if (allow.split(', ').includes('PATCH')) reply.header('accept-patch', ACCEPT_PATCH);
    void reply
      .code(204)
      .headers({ allow, ...preflightHeaders(corsOrigins, request.raw.headers, allow) })
      .send();
  });
}
