import type { PublicUrl } from '@animal-store/http-contract';
import type { FastifyInstance } from 'fastify';
import { measureRequests } from '../observability/metrics.js';
import type { Observability } from '../observability/observability.module.js';
import { logRequests } from '../observability/request-log.js';
import type { ShedRequests } from '../observability/shed-requests.js';
import { HalfReceivedRequests, RequestBodies } from './request-body.js';
import { announceDeprecations } from './deprecation.js';
import { respondToOptions, type RouteTable } from './route-table.js';
import { allowOrigins } from './cors.js';
import { type Draining, endConnections } from './draining.js';
import { addEntityTags } from './entity-tags.js';
import { identifyRequests } from '../observability/identify-requests.js';
import { type LoadLimits, LoadShedding } from './load-shedding.js';
import { rejectMalformedRequests } from './http-server.js';

export interface HttpOptions extends LoadLimits {
  readonly publicBaseUrl: string | undefined;
  readonly corsOrigins: readonly string[];
  readonly trustedProxies: readonly string[];
  readonly maxConnections: number;
  readonly logRequestsSample: number;
}

export interface Pipeline extends Observability {
  readonly options: HttpOptions;
  readonly publicUrl: PublicUrl;
  readonly routes: RouteTable;
  readonly draining: Draining;
  readonly shed: ShedRequests;
}

/** Registers every hook of the server, in the order in which they run. Guards, pipes and the handler follow (app.module.ts). */
export function registerPipeline(server: FastifyInstance, pipeline: Pipeline): void {
  const { options, publicUrl, routes, draining, logger, metrics, shed, tracing } = pipeline;
  const { corsOrigins } = options;

  // Hooks on routes, before Nest adds its routes.
  routes.recordRoutesOf(server);
  announceDeprecations(server, publicUrl);
  addEntityTags(server);

  // First, because a later hook may respond without reading the body, and its response may be the last one of its connection.
  endConnections(server, draining);
  // Before all hooks that may reject a request, so that rejected requests have a span too.
  tracing?.traceRequests(server);
  // Before all hooks that may reject a request, so that every error carries the request id.
  identifyRequests(server);
  // Before all hooks that may reject a request, so that scripts can read every error.
  if (corsOrigins.length > 0) allowOrigins(server, corsOrigins);
  // Before any hook that trusts the request line or the headers.
  rejectMalformedRequests(server);
  // Before load shedding, because responses to OPTIONS are cheap and need no key.
  respondToOptions(server, routes, corsOrigins);
  // These two run after the response, so they cover every request.
  logRequests(server, logger, options.logRequestsSample);
  measureRequests(server, metrics);
  // Before any work on the request.
  const load = new LoadShedding(options, publicUrl, metrics, shed);
  load.register(server);
  // Last: reads the body, before the guards run.
  new RequestBodies(new HalfReceivedRequests(options.maxInFlight, load, shed)).register(server);
}
