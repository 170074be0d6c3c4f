import { PublicUrl } from '@animal-store/http-kit';
import fastify, { type FastifyInstance } from 'fastify';
import { HEADER_SECTION_BYTES, HTTP_ERRORS, HttpError, MAX_HEADER_FIELDS, MAX_TARGET_LENGTH } from '../errors/http-errors.js';
import { identifyRequests, requestIdOf } from '../observability/identify-requests.js';
import { measureRequests } from '../observability/metrics.js';
import type { Observability } from '../observability/observability.js';
import { logRequests } from '../observability/request-log.js';
import { ShedRequests } from '../observability/shed-requests.js';
import { createNodeServer, Draining, endConnections, type HttpOptions } from './connection.js';
import { allowOrigins } from './cors.js';
import { announceDeprecations } from './deprecations.js';
import { addEntityTags } from './entity-tags.js';
import { shedLoad } from './load-shedding.js';
import { receiveBodies } from './request-body.js';
import { RouteTable } from './routes.js';

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
    const server = createFastify(options, shed);
    this.publicUrl = publicUrl;
    this.fastify = server;

    // Hooks on routes, before Nest adds its routes. Entity tags depend on Link.
    this.routes.recordRoutesOf(server);
    addEntityTags(server);
    announceDeprecations(server, publicUrl);

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
    this.routes.respondToOptions(server, corsOrigins);
    // These two run after the response, so they cover every request.
    logRequests(server, logger, options.logRequestsSample);
    measureRequests(server, metrics);
    // Reads the body, before the guards run.
    receiveBodies(server, shed);
    // Last, before the guards.
    shedLoad(server, options, metrics, shed);
  }
}

function createFastify(options: HttpOptions, shed: ShedRequests): FastifyInstance {
  const { trustedProxies } = options;
  const instance: FastifyInstance = fastify({
    logger: false,
    genReqId: requestIdOf,
    // Without trusted proxies, X-Forwarded-For is ignored.
    trustProxy: trustedProxies.length > 0 && [...trustedProxies],
    serverFactory: (serve) => createNodeServer(serve, options, shed),
    // The server of Node.js handles them.
    clientErrorHandler: () => undefined,
    // Requests that reach a closing process are still processed; then their connections are closed.
    return503OnClosing: false,
    // The header section contains the request target, so no parameter can be longer.
    routerOptions: { maxParamLength: HEADER_SECTION_BYTES },
    rewriteUrl: ({ url = '/' }) => escapeInvalidEncoding(url),
    // A request whose target the router cannot parse is routed like any other. Fastify's own response lacks our error shape.
    frameworkErrors: (_error, { raw }, reply) => {
      raw.failure = new HttpError(HTTP_ERRORS.malformedRequest);
      raw.url = '*';
      instance.routing(raw, reply.raw);
    },
  });
  return instance;
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

/** Rejects requests that are malformed or have too large a head. */
function rejectMalformedRequests(fastify: FastifyInstance): void {
  fastify.addHook('onRequest', ({ raw, originalUrl }, _reply, done) => {
    if (raw.failure) done(raw.failure);
    else if (originalUrl.length > MAX_TARGET_LENGTH) done(new HttpError(HTTP_ERRORS.uriTooLong));
    else if (raw.rawHeaders.length > 2 * MAX_HEADER_FIELDS) done(new HttpError(HTTP_ERRORS.headersTooLarge));
    else done();
  });
}
