import { PublicUrl } from '@animal-store/http-contract';
import type { FastifyInstance } from 'fastify';
import { measureRequests } from '../observability/metrics.js';
import type { Observability } from '../observability/observability.module.js';
import { logRequests } from '../observability/request-log.js';
import { ShedRequests } from '../observability/shed-requests.js';
import { HalfReceivedRequests, RequestBodies } from './request-body.js';
import { announceDeprecations, respondToOptions, RouteTable } from './routes.js';
import { allowOrigins } from './cors.js';
import { Draining, endConnections } from './connection.js';
import { addEntityTags } from './entity-tags.js';
import { identifyRequests } from '../observability/identify-requests.js';
import { type LoadLimits, LoadShedding } from './load-shedding.js';
import { createHttpServer, rejectMalformedRequests } from './http-server.js';

export interface HttpOptions extends LoadLimits {
  readonly publicBaseUrl: string | undefined;
  readonly corsOrigins: readonly string[];
  readonly trustedProxies: readonly string[];
  readonly maxConnections: number;
  readonly logRequestsSample: number;
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
    const publicUrl = new PublicUrl(options.publicBaseUrl);
    const shed = new ShedRequests(metrics, logger);
    const server = createHttpServer({ ...options, publicUrl, shed });
    this.publicUrl = publicUrl;
    this.fastify = server;

    // Hooks on routes, before Nest adds its routes.
    this.routes.recordRoutesOf(server);
    announceDeprecations(server, publicUrl);
    addEntityTags(server);

    // First, because a later hook may respond without reading the body, and its response may be the last one of its connection.
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
    // Before any work on the request.
    const load = new LoadShedding(options, publicUrl, metrics, shed);
    load.register(server);
    // Last: reads the body, before the guards run.
    new RequestBodies(new HalfReceivedRequests(options.maxInFlight, load, shed)).register(server);
  }
}
