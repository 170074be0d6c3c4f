import type { PublicUrl } from '@animal-store/http-kit';
import { DomainError } from '@animal-store/kernel';
import type {
  FastifyInstance,
  FastifyReply,
  FastifyRequest,
  onRequestHookHandler,
  onResponseHookHandler,
  onSendHookHandler,
} from 'fastify';
import { errorBody, errorHeaders, helpLink } from '../errors/error-response.js';
import { RETRY_AFTER_SECONDS, SERVICE_UNAVAILABLE, type RequestError } from '../errors/http-errors.js';
import type { Metrics } from '../observability/metrics.js';
import type { ShedRequests } from '../observability/shed-requests.js';
import { type Connection, connectionOf, isBodyReceived } from './connection.js';
import { sendJson } from './json-adapter.js';

const LAG_SAMPLE_MS = 100;
/** Health probes are not subject to LoadLimits, so that a busy process is not restarted, and are not in flight. */
const isProbe = ({ url }: FastifyRequest) => url.startsWith('/health/');
const BODY = errorBody(new DomainError(SERVICE_UNAVAILABLE));
const TEXT = JSON.stringify(BODY);
const HEADERS = { 'cache-control': 'no-store', 'retry-after': RETRY_AFTER_SECONDS };

/** Maximum number of requests of one connection whose responses have not been handed to the operating system. Further requests are shed. */
const MAX_PIPELINED = 64;

/** How a request counts: as in flight since `processing`, and for its connection while `unsent`. */
type Load = 'uncounted' | 'processing' | 'unsent';

declare module 'fastify' {
  interface FastifyRequest {
    load: Load;
  }
}

export interface LoadLimits {
  /** Also limits how many requests wait for a database connection. */
  readonly maxInFlight: number;
  readonly maxEventLoopLagMs: number;
}

/**
 * Sheds requests above the limits before they cause any work. A request is in flight from when it has been received
 * until its response has been handed to the operating system, or until its work is done if the connection has closed.
 */
export class LoadShedding {
  private inFlight = 0;
  private readonly lag = new EventLoopLag();
  /** Connections with responses that are still unsent after the turn of the event loop in which they were completed. */
  private readonly unread = new Set<Connection>();
  /** Connections with responses that were completed in this turn of the event loop. */
  private completed: Connection[] = [];
  private readonly help: string | undefined;

  constructor(
    private readonly limits: LoadLimits,
    publicUrl: PublicUrl,
    private readonly metrics: Pick<Metrics, 'observeInFlight'>,
    private readonly shed: Pick<ShedRequests, 'count'>,
  ) {
    this.help = helpLink(publicUrl, BODY.code);
  }

  register(server: FastifyInstance): void {
    server.decorateRequest('load', 'uncounted');
    server.server.on('connection', (socket) => {
      const connection = connectionOf(socket);
      socket.once('close', () => this.forget(connection));
    });
    server.addHook('onRequest', this.onRequest);
    server.addHook('onSend', this.onSend);
    server.addHook('onResponse', this.onResponse);
    server.addHook('onClose', (_server, done) => {
      this.lag.stop();
      done();
    });
    this.metrics.observeInFlight(() => this.inFlight);
  }

  /** Counts a request whose body has been received, or returns why it is shed. */
  admit(request: FastifyRequest): RequestError | undefined {
    if (request.load !== 'uncounted' || isProbe(request)) return undefined;
    if (this.makeRoom()) {
      this.begin(request);
      return undefined;
    }
    this.shed.count('in_flight');
    return new DomainError(SERVICE_UNAVAILABLE);
  }

  private readonly onRequest: onRequestHookHandler = (request, reply, done) => {
    const connection = connectionOf(request.raw.socket);
    if (connection.pending > MAX_PIPELINED) {
      connection.isEnded = true;
      this.respond(request, reply.header('connection', 'close'), 'pipelined');
    } else if (isProbe(request)) {
      done();
    } else if (!this.makeRoom()) {
      this.respond(request, reply, 'in_flight');
    } else if (this.lag.ms > this.limits.maxEventLoopLagMs) {
      this.respond(request, reply, 'event_loop_lag');
    } else {
      if (!isBodyReceived(request.raw)) this.begin(request);
      done();
    }
  };

  private readonly onSend: onSendHookHandler = (request, _reply, payload, done) => {
    if (request.load === 'processing') this.complete(request);
    done(null, payload);
  };

  private readonly onResponse: onResponseHookHandler = (request, _reply, done) => {
    const connection = connectionOf(request.raw.socket);
    connection.finishResponse();
    if (request.load === 'unsent' && !connection.isClosed) {
      this.inFlight--;
      if (--connection.unsent === 0) this.unread.delete(connection);
    }
    done();
  };

  private begin(request: FastifyRequest): void {
    request.load = 'processing';
    this.inFlight++;
  }

  private complete(request: FastifyRequest): void {
    const connection = connectionOf(request.raw.socket);
    if (connection.isClosed) {
      // Work on a request continues after its client has disconnected.
      request.load = 'uncounted';
      this.inFlight--;
      return;
    }
    request.load = 'unsent';
    if (connection.unsent++ === 0 && this.completed.push(connection) === 1) setImmediate(this.findUnread);
  }

  private readonly findUnread = () => {
    for (const connection of this.completed) if (connection.unsent > 0) this.unread.add(connection);
    this.completed = [];
  };

  /** Returns whether the limit allows a request. At the limit, closes an unread connection to make room. */
  private makeRoom(): boolean {
    return this.inFlight < this.limits.maxInFlight || this.closeUnread();
  }

  /** Closes a connection whose client does not read its responses. Returns false if there is none. */
  private closeUnread(): boolean {
    for (const connection of this.unread) {
      if (connection.socket.writableLength === 0) continue;
      connection.isClosed = true;
      connection.socket.destroy();
      this.forget(connection);
      return true;
    }
    return false;
  }

  private forget(connection: Connection): void {
    this.inFlight -= connection.unsent;
    connection.unsent = 0;
    this.unread.delete(connection);
  }

  private respond(request: FastifyRequest, reply: FastifyReply, reason: string): void {
    this.shed.count(reason);
    request.errorCode = BODY.code;
    void sendJson(reply.code(BODY.status).headers(HEADERS).headers(errorHeaders(request, this.help)), TEXT);
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
