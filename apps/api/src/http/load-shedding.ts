import type { PublicUrl } from '@animal-store/http-contract';
import { DomainError } from '@animal-store/kernel';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { errorBody, errorHeaders, helpLink } from '../errors/error-response.js';
import { RETRY_AFTER_SECONDS, SERVICE_UNAVAILABLE, type Rejection } from '../errors/http-errors.js';
import type { Metrics } from '../observability/metrics.js';
import type { ShedRequests } from '../observability/shed-requests.js';
import { isBodyReceived } from './request-body.js';
import { type Connection, connectionOf } from './connection.js';
import { sendJson } from './json-adapter.js';

const LAG_SAMPLE_MS = 100;
/** Health probes are not subject to LoadLimits, so that a busy process is not restarted, and are not in flight. */
const isProbe = ({ url }: FastifyRequest) => url.startsWith('/health/');
const BODY = errorBody(new DomainError(SERVICE_UNAVAILABLE));
const TEXT = JSON.stringify(BODY);

/** Maximum number of requests of one connection whose responses have not been handed to the operating system. Further requests are rejected. */
const MAX_PIPELINED = 64;

const NOT_COUNTED = 0;
const PROCESSING = 1;
const UNSENT = 2;

declare module 'fastify' {
  interface FastifyRequest {
    load: typeof NOT_COUNTED | typeof PROCESSING | typeof UNSENT;
  }
}

export interface LoadLimits {
  /** Also limits how many requests wait for a database connection. */
  readonly maxInFlight: number;
  readonly maxEventLoopLagMs: number;
}

/** Counts a request whose body has been received, or returns why it is rejected. */
type Admission = (request: FastifyRequest) => Rejection | undefined;

/**
 * Rejects requests above the limits before they cause any work. A request is in flight from when it has been received
 * until its response has been handed to the operating system, or until its work is done if the connection has closed.
 */
export function shedLoad(
  fastify: FastifyInstance,
  { maxInFlight, maxEventLoopLagMs }: LoadLimits,
  publicUrl: PublicUrl,
  metrics: Metrics,
  shed: ShedRequests,
): Admission {
  const headers = { 'cache-control': 'no-store', 'retry-after': RETRY_AFTER_SECONDS };
  const help = helpLink(publicUrl, BODY.code);
  let inFlight = 0;
  const lag = new EventLoopLag();
  /** Connections with responses that are still unsent after the turn of the event loop in which they were completed. */
  const unsent = new Set<Connection>();
  let sending: Connection[] = [];
  fastify.decorateRequest('load', NOT_COUNTED);

  const forget = (connection: Connection) => {
    inFlight -= connection.unsent;
    connection.unsent = 0;
    unsent.delete(connection);
  };
  const countUnsent = () => {
    for (const connection of sending) if (connection.unsent > 0) unsent.add(connection);
    sending = [];
  };
  /** Closes a connection whose client does not read its responses. Returns false if there is none. */
  const closeUnreadConnection = () => {
    for (const connection of unsent) {
      if (connection.socket.writableLength === 0) continue;
      connection.isClosed = true;
      connection.socket.destroy();
      forget(connection);
      return true;
    }
    return false;
  };

  /** Returns whether the limit allows the request. At the limit, closes an unread connection to make room. */
  const makeRoom = () => inFlight < maxInFlight || closeUnreadConnection();
  const count = (request: FastifyRequest) => {
    request.load = PROCESSING;
    inFlight++;
  };
  const reject = (request: FastifyRequest, reply: FastifyReply, reason: string) => {
    shed.count(reason);
    request.errorCode = BODY.code;
    void sendJson(reply.code(BODY.status).headers(headers).headers(errorHeaders(request, help)), TEXT);
  };

  fastify.server.on('connection', (socket) => {
    const connection = connectionOf(socket);
    socket.once('close', () => forget(connection));
  });

  fastify.addHook('onRequest', (request, reply, done) => {
    const connection = connectionOf(request.raw.socket);
    if (connection.pending > MAX_PIPELINED) {
      connection.isEnded = true;
      reject(request, reply.header('connection', 'close'), 'pipelined');
    } else if (isProbe(request)) {
      done();
    } else if (!makeRoom()) {
      reject(request, reply, 'in_flight');
    } else if (lag.ms > maxEventLoopLagMs) {
      reject(request, reply, 'event_loop_lag');
    } else {
      if (!isBodyReceived(request.raw)) count(request);
      done();
    }
  });

  fastify.addHook('onSend', (request, _reply, payload, done) => {
    if (request.load === PROCESSING) {
      const connection = connectionOf(request.raw.socket);
      if (connection.isClosed) {
        // Work on a request continues after its client has disconnected.
        request.load = NOT_COUNTED;
        inFlight--;
      } else {
        request.load = UNSENT;
        if (connection.unsent++ === 0 && sending.push(connection) === 1) setImmediate(countUnsent);
      }
    }
    done(null, payload);
  });

  fastify.addHook('onResponse', (request, _reply, done) => {
    const connection = connectionOf(request.raw.socket);
    connection.finishResponse();
    if (request.load === UNSENT && !connection.isClosed) {
      inFlight--;
      if (--connection.unsent === 0) unsent.delete(connection);
    }
    done();
  });

  metrics.observeInFlight(() => inFlight);
  fastify.addHook('onClose', (_instance, done) => {
    lag.stop();
    done();
  });

  return (request) => {
    if (request.load !== NOT_COUNTED || isProbe(request)) return undefined;
    if (!makeRoom()) {
      shed.count('in_flight');
      return new DomainError(SERVICE_UNAVAILABLE);
    }
    count(request);
    return undefined;
  };
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
