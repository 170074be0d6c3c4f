import { PublicUrl } from '@animal-store/http-kit';
import { DomainError } from '@animal-store/kernel';
import fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify';
import {
  HEADER_SECTION_BYTES,
  HTTP_ERRORS,
  HttpError,
  MAX_HEADER_FIELDS,
  MAX_TARGET_LENGTH,
  SERVICE_UNAVAILABLE,
} from '../errors/http-errors.js';
import type { Metrics } from '../observability/metrics.js';
import type { Observability } from '../observability/observability.js';
import { identifyRequests, observeResponses, requestIdOf } from '../observability/request-hooks.js';
import { type CountShed, shedCounter } from '../observability/shed-requests.js';
import type { Config } from '../config/config.js';
import { connectionOf, createNodeServer, Draining, endConnections, onClose } from './connection.js';
import { allowOrigins } from './cors.js';
import { announceDeprecations } from './deprecations.js';
import { addEntityTags } from './entity-tags.js';
import { receiveBodies } from './request-body.js';
import { RouteTable } from './routes.js';

declare module 'fastify' {
  interface FastifyReply {
    isInFlight: boolean;
  }
}

/**
 * Fastify with every hook. Hooks of a phase, such as `onRequest`, run in this order, and those on routes last. Guards, pipes and the handler
 * follow (app.module.ts). Created before the container, because the hooks that Nest's adapter adds must run after these.
 */
export class HttpServer {
  readonly publicUrl: PublicUrl;
  readonly routes = new RouteTable();
  readonly draining = new Draining();
  readonly fastify: FastifyInstance;

  constructor(options: Config, { logger, metrics, tracing }: Observability) {
    const { corsOrigins } = options;
    const countShed = shedCounter(metrics, logger);
    const server = createFastify(options, countShed);
    this.publicUrl = new PublicUrl(options.publicBaseUrl, options.docsUrl);
    this.fastify = server;

    // Hooks on routes, before Nest adds its routes. Entity tags depend on Link.
    this.routes.recordRoutesOf(server);
    addEntityTags(server);
    announceDeprecations(server, this.publicUrl);

    // First, because a later hook may respond, and its response may be the last one of its connection.
    endConnections(server, this.draining);
    // These three run before all hooks that may reject a request: every error has a span and the request id, and scripts can read it.
    tracing?.traceRequests(server);
    identifyRequests(server);
    if (corsOrigins.length > 0) allowOrigins(server, corsOrigins);
    // Before any hook that trusts the request line or the headers.
    rejectMalformedRequests(server);
    // Before load shedding, because responses to OPTIONS are cheap and need no key.
    this.routes.respondToOptions(server, corsOrigins);
    // Runs after the response, so it covers every request.
    observeResponses(server, logger, metrics, options.logRequestsSample);
    // Reads the body, before the guards run.
    receiveBodies(server, countShed);
    shedLoad(server, options, metrics, countShed);
  }
}

function createFastify(options: Config, countShed: CountShed): FastifyInstance {
  const { trustedProxies } = options;
  const instance: FastifyInstance = fastify({
    logger: false,
    genReqId: requestIdOf,
    // Without trusted proxies, X-Forwarded-For is ignored.
    trustProxy: trustedProxies.length > 0 && [...trustedProxies],
    serverFactory: (serve) => createNodeServer(serve, options, countShed),
    // The server of Node.js handles them.
    clientErrorHandler: () => undefined,
    // Requests that reach a closing process are still processed; then their connections are closed.
    return503OnClosing: false,
    // The header section contains the request target, so no parameter can be longer.
    routerOptions: { maxParamLength: HEADER_SECTION_BYTES },
    // A request whose target the router cannot parse is routed like any other. Fastify's own response lacks our error shape.
    frameworkErrors: (_error, { raw }, reply) => {
      const [path = '', ...query] = raw.url?.split('?') ?? [];
      if (path.includes('%') && raw.originalUrl === undefined) {
        // With escapes for the invalid ones, the guards of the route run.
        raw.originalUrl = raw.url ?? '';
        raw.url = [path.replaceAll('%', '%25'), ...query].join('?');
      } else {
        raw.failure = new HttpError(HTTP_ERRORS.malformedRequest);
        raw.url = '*';
      }
      instance.routing(raw, reply.raw);
    },
  });
  return instance;
}

function rejectMalformedRequests(fastify: FastifyInstance): void {
  fastify.addHook('onRequest', ({ raw, originalUrl }, _reply, done) => {
    if (raw.failure) done(raw.failure);
    else if (originalUrl.length > MAX_TARGET_LENGTH) done(new HttpError(HTTP_ERRORS.uriTooLong));
    else if (raw.rawHeaders.length > 2 * MAX_HEADER_FIELDS) done(new HttpError(HTTP_ERRORS.headersTooLarge));
    else done();
  });
}

const LAG_SAMPLE_MS = 100;
const PROBE = /^(?:GET|HEAD) \/health\/(?:live|ready)(?:\?|$)/;

/** Maximum number of requests of one connection whose responses have not been handed to the operating system. Further requests are shed. */
const MAX_PIPELINED = 64;

/** Sheds requests above the limits before the guards run. A request is in flight until its work is done, even if its client is gone. */
function shedLoad(
  server: FastifyInstance,
  { maxInFlight, maxEventLoopLagMs }: Config,
  metrics: Pick<Metrics, 'observe'>,
  countShed: CountShed,
): void {
  let inFlight = 0;
  /** Responses that have not been handed to the operating system. */
  let unsent = 0;

  /** How late timers fire: the smaller delay of the last two. A single late one is the start of the process or a pause of the machine. */
  let lagMs = 0;
  let latestMs = 0;
  let dueAt = performance.now() + LAG_SAMPLE_MS;
  const timer = setInterval(() => {
    const now = performance.now();
    lagMs = Math.min(now - dueAt, latestMs);
    latestMs = now - dueAt;
    dueAt = now + LAG_SAMPLE_MS;
  }, LAG_SAMPLE_MS).unref();

  const end = (reply: FastifyReply) => {
    if (!reply.isInFlight) return;
    reply.isInFlight = false;
    inFlight--;
    reply.request.bodyReceiver?.release();
  };
  /** Ends a request whose response bypasses `onSend`. If it has not begun, its handler still works. */
  const endClosed = (reply: FastifyReply) => {
    if (reply.sent || reply.raw.headersSent) end(reply);
    else if (reply.isInFlight) setTimeout(endClosed, LAG_SAMPLE_MS, reply).unref();
  };

  /** Returns why the request is shed. */
  const admit = ({ raw, url, method }: FastifyRequest, reply: FastifyReply): string | undefined => {
    const connection = connectionOf(raw.socket);
    // If there are too many responses that no client reads, requests do not wait for their turn on a connection.
    if (connection.pending > MAX_PIPELINED || (connection.pending > 1 && unsent > 2 * maxInFlight)) {
      connection.isEnded = true;
      return 'pipelined';
    }
    // So that a busy process is not restarted.
    if (url.startsWith('/health/') && PROBE.test(`${method} ${url}`)) return undefined;
    if (inFlight >= maxInFlight) return 'in_flight';
    if (lagMs > maxEventLoopLagMs) return 'event_loop_lag';
    inFlight++;
    reply.isInFlight = true;
    unsent++;
    onClose(reply.raw, () => {
      unsent--;
      endClosed(reply);
    });
    return undefined;
  };

  server.decorateReply('isInFlight', false);
  server.addHook('preHandler', (request, reply, done) => {
    // Runs again if a route passes the request to the handler for unknown paths.
    const reason = reply.isInFlight ? undefined : admit(request, reply);
    if (reason !== undefined) countShed(reason);
    done(reason === undefined ? undefined : new DomainError(SERVICE_UNAVAILABLE));
  });
  server.addHook('onSend', (_request, reply, payload, done) => {
    end(reply);
    done(null, payload);
  });
  server.addHook('onClose', (_server, done) => {
    clearInterval(timer);
    done();
  });
  metrics.observe('http_requests_in_flight', 'Requests that are being processed.', () => inFlight);
}
