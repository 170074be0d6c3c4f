import { INSUFFICIENT_SCOPE, INVALID_API_KEY, MISSING_API_KEY } from '@animal-store/access-domain';
import type { FastifyInstance } from 'fastify';
import { RATE_LIMITED } from '../errors/http-errors.js';
import type { Metrics } from './metrics.js';

const KEY_REJECTIONS: ReadonlySet<string> = new Set([MISSING_API_KEY.code, INVALID_API_KEY.code, INSUFFICIENT_SCOPE.code]);

declare module 'fastify' {
  interface FastifyRequest {
    /** Name of the handler of the route, such as `listPets`, or `listPets_v2` for version 2; undefined on public routes, and if the request did not reach the guards. */
    operation: string | undefined;
    /** Error code of the response. */
    errorCode: string | undefined;
  }
}

/** Measures every response after it has been sent. */
export function measureRequests(fastify: FastifyInstance, metrics: Metrics): void {
  fastify.decorateRequest('operation', undefined);
  fastify.decorateRequest('errorCode', undefined);
  fastify.addHook('onResponse', (request, reply, done) => {
    const { operation = 'none', errorCode } = request;
    metrics.requestDurations.observe({ operation, status: reply.statusCode }, reply.elapsedTime / 1000);
    if (errorCode === undefined) {
      if (request.method === 'POST' && reply.hasHeader('idempotent-replayed')) metrics.replays.inc();
    } else if (KEY_REJECTIONS.has(errorCode)) {
      metrics.keysRejected.inc({ code: errorCode });
    } else if (errorCode === RATE_LIMITED.code) {
      metrics.requestsLimited.inc();
    }
    done();
  });
}
