import { DomainError } from '@animal-store/kernel';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { errorBody } from '../errors/error-body.js';
import { RETRY_AFTER_SECONDS, SERVICE_UNAVAILABLE } from '../errors/http-errors.js';
import type { Metrics } from '../observability/metrics.js';
import { sendJson } from './send-json.js';

const LAG_SAMPLE_MS = 100;
/** Probes are answered under any load: a process that is busy must not be taken for one that is broken. */
const HEALTH = '/health/';
const BODY = errorBody(new DomainError(SERVICE_UNAVAILABLE));
const TEXT = JSON.stringify(BODY);

declare module 'fastify' {
  interface FastifyRequest {
    isInFlight: boolean;
  }
}

export interface LoadLimits {
  /** Also bounds how many requests wait for a database connection. */
  readonly maxInFlight: number;
  readonly maxEventLoopLagMs: number;
}

/** Refuses requests beyond what can be answered soon, before any work is spent on them. */
export function shedLoad(fastify: FastifyInstance, { maxInFlight, maxEventLoopLagMs }: LoadLimits, metrics: Metrics): void {
  let inFlight = 0;
  const lag = new EventLoopLag();
  fastify.decorateRequest('isInFlight', false);

  fastify.addHook('onRequest', (request, reply, done) => {
    const reason = inFlight >= maxInFlight ? 'in_flight' : lag.ms > maxEventLoopLagMs ? 'event_loop_lag' : undefined;
    if (reason !== undefined && !request.url.startsWith(HEALTH)) {
      metrics.requestsShed.inc({ reason });
      refuse(request, reply);
      return;
    }
    request.isInFlight = true;
    inFlight++;
    done();
  });

  // Not when the connection closes: what a client has turned away from is still being worked on.
  fastify.addHook('onSend', (request, _reply, payload, done) => {
    if (request.isInFlight) inFlight--;
    request.isInFlight = false;
    done(null, payload);
  });

  metrics.observeInFlight(() => inFlight);
  fastify.addHook('onClose', (_instance, done) => {
    lag.stop();
    done();
  });
}

function refuse(request: FastifyRequest, reply: FastifyReply): void {
  request.errorCode = BODY.code;
  void sendJson(reply.code(BODY.status).headers({ 'Cache-Control': 'no-store', 'Retry-After': RETRY_AFTER_SECONDS }), TEXT);
}

/** How late timers fire. */
class EventLoopLag {
  ms = 0;
  private dueAt = performance.now() + LAG_SAMPLE_MS;
  private readonly timer = setInterval(() => {
    const now = performance.now();
    this.ms = now - this.dueAt;
    this.dueAt = now + LAG_SAMPLE_MS;
  }, LAG_SAMPLE_MS).unref();

  stop(): void {
    clearInterval(this.timer);
  }
}
