import type { IncomingMessage, Server } from 'node:http';
import { Server as NetServer, type Socket } from 'node:net';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { RequestError } from '../errors/http-errors.js';
import type { ShedRequests } from '../observability/shed-requests.js';

/** Maximum size of a rejected body that is always read completely, so that the connection can be reused. */
const DRAIN_LIMIT_BYTES = 1024 * 1024;
/** Maximum size of a rejected body that is read and dropped, because many clients send the whole body before they read the response. */
export const MAX_DROPPED_BYTES = 8 * 1024 * 1024;
/** How long a silent client has to read the last response before the connection is destroyed. */
const LINGER_MS = 2_000;
/** A client that is still sending has this many times LINGER_MS: a reset would discard a response that it has not read. */
const MAX_LINGERS = 5;
/** The same for a client whose request has timed out. One such client must not delay the end of the process. */
const TIMED_OUT_LINGER_MS = 500;

const CONNECTION = Symbol('connection');

declare module 'node:net' {
  interface Socket {
    [CONNECTION]?: Connection | undefined;
  }
}

/** A request whose body is being received. */
export interface Reception {
  readonly request: FastifyRequest;
  readonly isOver: boolean;
  /** Stops waiting for the rest of the body. The request gets the error. */
  abandon(error: RequestError): void;
}

/** State of one client connection. */
export class Connection {
  /** Requests whose responses have not been handed to the operating system. */
  pending = 0;
  /** Responses that are complete but have not been handed to the operating system. */
  unsent = 0;
  /** No further request is processed, because a response carries `Connection: close` (RFC 9112, section 9.6). */
  isEnded = false;
  isClosed = false;
  hasTimedOut = false;
  /** Whether a request has been received. */
  isUsed = false;

  /** The last request so far; requests may be pipelined. */
  lastRequest: IncomingMessage | undefined;
  receiving: Reception | undefined;
  private last: (() => void) | undefined;

  constructor(readonly socket: Socket) {
    socket.once('close', () => {
      this.isClosed = true;
    });
    // Node calls this after a response with `Connection: close`. The original resets the connection if there are unread bytes.
    socket.destroySoon = () => {
      this.close();
    };
  }

  /** Closes the connection after the client has read the responses, or when its time is over. Further input is dropped. */
  close(): void {
    this.isEnded = true;
    const { socket } = this;
    socket.end();
    socket.resume();
    const start = socket.bytesRead;
    let received = start;
    let lingers = 0;
    const [lingerMs, maxLingers] = this.hasTimedOut ? [TIMED_OUT_LINGER_MS, 1] : [LINGER_MS, MAX_LINGERS];
    const timer = setInterval(() => {
      const { bytesRead } = socket;
      if (bytesRead === received || bytesRead - start > MAX_DROPPED_BYTES || ++lingers === maxLingers) socket.destroy();
      received = bytesRead;
    }, lingerMs).unref();
    socket.once('close', () => clearInterval(timer));
  }

  /** Accepts no further requests, and calls `last` after the pending responses. */
  endWith(last: () => void): void {
    this.isEnded = true;
    if (this.pending <= 0) last();
    else this.last = last;
  }

  /** Call after a response has been handed to the operating system. */
  finishResponse(): void {
    this.pending--;
    if (this.pending === 0 && this.last && this.socket.writable) this.last();
  }
}

export function connectionOf(socket: Socket): Connection {
  return (socket[CONNECTION] ??= new Connection(socket));
}

/** Returns whether the headers announce a body. */
function hasBody({ headers }: IncomingMessage): boolean {
  const length = headers['content-length'];
  return (length !== undefined && length !== '0') || headers['transfer-encoding'] !== undefined;
}

/** Returns whether the request has a body that the service reads. Bodies of GET and HEAD are ignored. */
export function isBodyReceived(request: IncomingMessage): boolean {
  return request.method !== 'GET' && request.method !== 'HEAD' && hasBody(request);
}

/** Whether the process is draining: it still serves requests, but is no longer ready. */
export class Draining {
  isActive = false;

  begin(): void {
    this.isActive = true;
  }
}

/**
 * Adds `Connection: close` to responses to requests whose bodies will not be read completely and, while draining or after the client has
 * ended its side, to the last one of pipelined responses.
 */
export function endConnections(server: FastifyInstance, draining: Draining): void {
  server.addHook('onRequest', ({ raw }, reply, done) => {
    connectionOf(raw.socket).lastRequest = raw;
    // Fastify sets this header on every response while it closes.
    if (draining.isActive) reply.raw.removeHeader('connection');
    done();
  });

  server.addHook('onSend', ({ raw }, reply, payload, done) => {
    const mayEnd = draining.isActive || raw.socket.readableEnded;
    const hasUnreadBody = !raw.complete && hasBody(raw);
    if (mayEnd || hasUnreadBody) {
      const connection = connectionOf(raw.socket);
      if ((mayEnd && connection.lastRequest === raw) || (hasUnreadBody && (connection.isEnded || !isDrained(raw)))) {
        connection.isEnded = true;
        reply.header('connection', 'close');
        if (hasUnreadBody) dropBody(raw);
      }
    }
    done(null, payload);
  });
}

/** Returns whether the rest of a rejected body is read and dropped. The size of a chunked body is not known. */
export function isDrained({ headers }: IncomingMessage): boolean {
  return Number(headers['content-length']) <= DRAIN_LIMIT_BYTES;
}

/** Reads and drops the rest of a body, up to MAX_DROPPED_BYTES. */
export function dropBody(request: IncomingMessage): void {
  let size = 0;
  request.on('data', ({ length }: Buffer) => {
    size += length;
    if (size > MAX_DROPPED_BYTES) request.pause();
  });
}

/**
 * Accepts no further connections and closes idle ones. Resolves when all connections are closed. `close` of node:http also ends the
 * checks of headersTimeout and requestTimeout, so a half-received request would keep the process alive.
 */
export function stopListening(server: Server): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  NetServer.prototype.close.call(server, () => resolve());
  server.closeIdleConnections();
  return promise;
}

/** Share of `max`. At most this many idle connections are closed at a time, and at most this many connections above `max` get a 503. */
const SHARE = 1 / 100;
/** Minimum time between a search that found no idle connection and the next search. */
const SEARCH_AGAIN_AFTER_MS = 100;

/** Keeps at most `max` connections. Above that, idle ones are closed; if there are none, the new one is refused. */
export class ConnectionLimit {
  /** Oldest first. */
  private readonly connections = new Set<Connection>();
  private readonly batch: number;
  private searchAfter = 0;

  constructor(
    private readonly max: number,
    private readonly errors: { refuse(socket: Socket): void },
    private readonly shed: Pick<ShedRequests, 'count'>,
  ) {
    this.batch = Math.ceil(max * SHARE);
  }

  register(server: Server): void {
    // Without a listener, a connection that the process has no file descriptor for would be an uncaught error.
    server.on('error', ({ syscall }: NodeJS.ErrnoException) => {
      if (syscall === 'accept') this.shed.count('connections');
    });
    server.on('connection', (socket) => this.add(connectionOf(socket)));
  }

  private add(connection: Connection): void {
    const { connections, max, batch } = this;
    const { socket } = connection;
    // Node.js keeps the address that it has read once. Later the client may be gone, and limits need its address.
    if (socket.remoteAddress === undefined) {
      socket.destroy();
      return;
    }
    connections.add(connection);
    socket.once('close', () => connections.delete(connection));
    if (connections.size <= max || this.closeIdle(connection)) return;
    connection.isEnded = true;
    this.shed.count('connections');
    if (connections.size > max + batch) socket.destroy();
    else this.errors.refuse(socket);
  }

  private closeIdle(newest: Connection): boolean {
    const now = performance.now();
    if (now < this.searchAfter) return false;
    const closed = this.findIdle(newest);
    for (const connection of closed) {
      this.connections.delete(connection);
      connection.socket.destroy();
    }
    if (closed.length === 0) this.searchAfter = now + SEARCH_AGAIN_AFTER_MS;
    return closed.length > 0;
  }

  /** Returns a batch of connections that never sent a request, or else of idle ones. */
  private findIdle(newest: Connection): readonly Connection[] {
    const unused: Connection[] = [];
    const idle: Connection[] = [];
    for (const connection of this.connections) {
      if (connection.pending > 0 || connection === newest) continue;
      (connection.isUsed ? idle : unused).push(connection);
      if (unused.length === this.batch) break;
    }
    return unused.length > 0 ? unused : idle.slice(0, this.batch);
  }
}
