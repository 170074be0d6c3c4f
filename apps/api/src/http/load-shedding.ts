import { DomainError } from '@animal-store/kernel';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { SERVICE_UNAVAILABLE } from '../errors/http-errors.js';
import type { Metrics } from '../observability/metrics.js';
import type { ShedRequests } from '../observability/shed-requests.js';
import { connectionOf } from './connection.js';

declare module 'fastify' {
  interface FastifyReply {
    /** Index among the responses in flight, or NOT_IN_FLIGHT. */
    slot: number;
  }
}

const NOT_IN_FLIGHT = -1;
const LAG_SAMPLE_MS = 100;
const PROBE = /^\/health\/(?:live|ready)(?:\?|$)/;

/** Maximum number of requests of one connection whose responses have not been handed to the operating system. Further requests are shed. */
const MAX_PIPELINED = 64;

export interface LoadLimits {
  /** Also limits how many requests wait for a database connection. */
  readonly maxInFlight: number;
  readonly maxEventLoopLagMs: number;
}

/**
 * Sheds requests above the limits before the guards run. A request is in flight until its response has been handed to the operating system,
 * or until its work is done if the connection has closed.
 */
export class LoadShedding {
  /** No Set, because V8 links each outgrown table of a Set to the next one, so that all replies would reach the old generation. */
  private readonly inFlight: FastifyReply[] = [];
  private readonly lag = new EventLoopLag();

  constructor(
    private readonly limits: LoadLimits,
    private readonly metrics: Pick<Metrics, 'observe'>,
    private readonly shed: Pick<ShedRequests, 'count'>,
  ) {}

  register(server: FastifyInstance): void {
    const { inFlight } = this;
    server.decorateReply('slot', NOT_IN_FLIGHT);
    server.addHook('preHandler', (request, reply, done) => {
      const reason = this.admit(request, reply);
      if (reason === undefined) {
        done();
      } else {
        this.shed.count(reason);
        done(new DomainError(SERVICE_UNAVAILABLE));
      }
    });
    server.addHook('onSend', (request, reply, payload, done) => {
      if (request.raw.socket.destroyed) this.remove(reply);
      done(null, payload);
    });
    server.addHook('onResponse', (_request, reply, done) => {
      this.remove(reply);
      done();
    });
    // Responses that are never sent have no other event. A request whose handler still works is in flight until it responds.
    server.server.on('connection', (socket) => {
      socket.once('close', () => {
        for (const reply of inFlight.filter(({ request }) => request.raw.socket === socket)) {
          if (reply.sent || reply.raw.headersSent) this.remove(reply);
        }
      });
    });
    server.addHook('onClose', (_server, done) => {
      this.lag.stop();
      done();
    });
    this.metrics.observe('http_requests_in_flight', 'Requests that are processed, or whose responses are not sent.', () => inFlight.length);
  }

  /** Returns why the request is shed. */
  private admit(request: FastifyRequest, reply: FastifyReply): string | undefined {
    const connection = connectionOf(request.raw.socket);
    if (connection.pending > MAX_PIPELINED) {
      connection.isEnded = true;
      reply.header('connection', 'close');
      return 'pipelined';
    }
    // So that a busy process is not restarted.
    if (request.url.startsWith('/health/') && PROBE.test(request.url)) return undefined;
    if (this.inFlight.length >= this.limits.maxInFlight && !this.closeUnread()) return 'in_flight';
    if (this.lag.ms > this.limits.maxEventLoopLagMs) return 'event_loop_lag';
    reply.slot = this.inFlight.push(reply) - 1;
    return undefined;
  }

  private remove(reply: FastifyReply): void {
    const { slot } = reply;
    if (slot === NOT_IN_FLIGHT) return;
    reply.slot = NOT_IN_FLIGHT;
    const last = this.inFlight.pop();
    if (last === undefined || last === reply) return;
    this.inFlight[slot] = last;
    last.slot = slot;
  }

  /** Closes a connection whose client does not read its responses. Returns false if there is none. */
  private closeUnread(): boolean {
    for (const reply of this.inFlight) {
      const { socket } = reply.request.raw;
      if (!reply.raw.writableEnded || socket.writableLength === 0) continue;
      this.remove(reply);
      socket.destroy();
      return true;
    }
    return false;
  }
}

/** Measures how late timers fire. A single late one does not count: it is the start of the process or a pause of the machine. */
class EventLoopLag {
  /** The smaller delay of the last two timers. */
  ms = 0;
  private latestMs = 0;
  private dueAt = performance.now() + LAG_SAMPLE_MS;
  private readonly timer = setInterval(() => {
    const now = performance.now();
    const lateMs = now - this.dueAt;
    this.ms = Math.min(lateMs, this.latestMs);
    this.latestMs = lateMs;
    this.dueAt = now + LAG_SAMPLE_MS;
  }, LAG_SAMPLE_MS).unref();

  stop(): void {
    clearInterval(this.timer);
  }
}
