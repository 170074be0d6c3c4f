import { DomainError } from '@animal-store/kernel';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { SERVICE_UNAVAILABLE } from '../errors/http-errors.js';
import type { Metrics } from '../observability/metrics.js';
import type { ShedRequests } from '../observability/shed-requests.js';
import { connectionOf, type HttpOptions } from './connection.js';

declare module 'fastify' {
  interface FastifyReply {
    isInFlight: boolean;
  }
}

const LAG_SAMPLE_MS = 100;
const PROBE = /^\/health\/(?:live|ready)(?:\?|$)/;

/** Maximum number of requests of one connection whose responses have not been handed to the operating system. Further requests are shed. */
const MAX_PIPELINED = 64;

/** Sheds requests above the limits before the guards run. A request is in flight until its work is done, even if its client is gone. */
export function shedLoad(
  server: FastifyInstance,
  { maxInFlight, maxEventLoopLagMs }: HttpOptions,
  metrics: Pick<Metrics, 'observe'>,
  shed: Pick<ShedRequests, 'count'>,
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
  };

  /** Returns why the request is shed. */
  const admit = ({ raw, url }: FastifyRequest, reply: FastifyReply): string | undefined => {
    const connection = connectionOf(raw.socket);
    // If there are too many responses that no client reads, requests do not wait for their turn on a connection.
    if (connection.pending > MAX_PIPELINED || (connection.pending > 1 && unsent > 2 * maxInFlight)) {
      connection.isEnded = true;
      return 'pipelined';
    }
    // So that a busy process is not restarted.
    if (url.startsWith('/health/') && PROBE.test(url)) return undefined;
    if (inFlight >= maxInFlight) return 'in_flight';
    if (lagMs > maxEventLoopLagMs) return 'event_loop_lag';
    inFlight++;
    unsent++;
    reply.isInFlight = true;
    reply.raw.on('close', () => {
      unsent--;
      // A response may bypass `onSend`. If it has not begun, its handler still works.
      if (reply.sent || reply.raw.headersSent) end(reply);
    });
    return undefined;
  };

  server.decorateReply('isInFlight', false);
  server.addHook('preHandler', (request, reply, done) => {
    const reason = admit(request, reply);
    if (reason !== undefined) shed.count(reason);
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
