import type { PublicUrl } from '@animal-store/http-contract';
import type { FastifyInstance } from 'fastify';
import type { ServiceLogger } from '../observability/logger.js';
import { measureRequests, type Metrics } from '../observability/metrics.js';
import { logRequests } from '../observability/request-log.js';
import type { ShedRequests } from '../observability/shed-requests.js';
import type { Tracing } from '../observability/tracing.js';
import { HalfReceivedRequests, RequestBodies } from './request-body.js';
import { announceDeprecations } from './deprecation.js';
import { respondToOptions, type RouteTable } from './route-table.js';
import { allowOrigins } from './cors.js';
import { type Draining, endConnections } from './draining.js';
import { addEntityTags } from './entity-tags.js';
import { identifyRequests } from '../observability/identify-requests.js';
import { type LoadLimits, LoadShedding } from './load-shedding.js';
import { rejectMalformedRequests } from './http-server.js';

export interface Pipeline {
  readonly limits: LoadLimits;
  readonly corsOrigins: readonly string[];
  readonly publicUrl: PublicUrl;
  readonly routes: RouteTable;
  readonly draining: Draining;
  readonly logger: ServiceLogger;
  readonly logRequestsSample: number;
  readonly metrics: Metrics;
  readonly shed: ShedRequests;
  readonly tracing: Tracing | undefined;
}

/** Registers every hook of the server, in the order in which they run. Guards, pipes and the handler follow (app.module.ts). */
export function registerPipeline(server: FastifyInstance, pipeline: Pipeline): void {
  const { limits, corsOrigins, publicUrl, routes, draining, logger, logRequestsSample, metrics, shed, tracing } = pipeline;

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
  logRequests(server, logger, logRequestsSample);
  measureRequests(server, metrics);
  // Before any work on the request.
  const load = new LoadShedding(limits, publicUrl, metrics, shed);
  load.register(server);
  // Last: reads the body, before the guards run.
  new RequestBodies(new HalfReceivedRequests(limits.maxInFlight, load, shed)).register(server);
}
