import type { IncomingMessage, Server } from 'node:http';
import { Server as NetServer, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import type { FastifyInstance } from 'fastify';
import type { ShedRequests } from '../observability/shed-requests.js';

/** How long a silent client has to read the last response before the connection is destroyed. */
const LINGER_MS = 500;
/** A client that is still sending has this many times LINGER_MS: a reset would discard a response that it has not read. */
const MAX_LINGERS = 4;

const CONNECTION = Symbol('connection');

declare module 'node:net' {
  interface Socket {
    [CONNECTION]?: Connection | undefined;
  }
}

/** State of one client connection. */
export class Connection {
  /** Requests whose responses have not been handed to the operating system. */
  pending = 0;
  /** No further request is processed (RFC 9112, section 9.6). */
  isEnded = false;
  /** The body of the last request cannot be read to its end. */
  isBodyLost = false;
  /** The last request so far; requests may be pipelined. */
  lastRequest: IncomingMessage | undefined;
  private last: (() => void) | undefined;

  constructor(readonly socket: Socket) {
    // Node calls this after a response with `Connection: close`. The original resets the connection if there are unread bytes.
    socket.destroySoon = () => this.close();
  }

  /** Closes the connection after the client has read the responses, or when its time is over. Further input is dropped. */
  close(): void {
    this.isEnded = true;
    const { socket } = this;
    socket.end();
    socket.resume();
    let received = socket.bytesRead;
    let lingers = 0;
    const timer = setInterval(() => {
      if (socket.bytesRead === received || ++lingers === MAX_LINGERS) socket.destroy();
      received = socket.bytesRead;
    }, LINGER_MS).unref();
    socket.once('close', () => clearInterval(timer));
  }

  /** Accepts no further requests, and calls `last` after the pending responses. */
  endWith(last: () => void): void {
    this.isEnded = true;
    if (this.pending === 0) last();
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

/** Whether the process is draining: it still serves requests, but is no longer ready. */
export class Draining {
  isActive = false;

  begin(): void {
    this.isActive = true;
  }
}

/** Adds `Connection: close` to the last response of a connection while draining, after the client has ended its side, and after a lost body. */
export function endConnections(server: FastifyInstance, draining: Draining): void {
  server.addHook('onSend', ({ raw }, reply, payload, done) => {
    const connection = connectionOf(raw.socket);
    if ((draining.isActive || raw.socket.readableEnded || connection.isBodyLost) && connection.lastRequest === raw) {
      connection.isEnded = true;
      reply.header('connection', 'close');
    }
    done(null, payload);
  });
  server.addHook('onResponse', ({ raw }, _reply, done) => {
    connectionOf(raw.socket).finishResponse();
    done();
  });
}

/** How long the first request of a new connection is awaited when the process stops. */
const FIRST_REQUEST_MS = 100;

/**
 * Accepts no further connections and closes idle ones. Resolves when all connections are closed. `close` of node:http also ends the
 * checks of headersTimeout and requestTimeout, so a half-received request would keep the process alive.
 */
export async function stopListening(server: Server): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  NetServer.prototype.close.call(server, () => resolve());
  await sleep(FIRST_REQUEST_MS);
  server.closeIdleConnections();
  await promise;
}

/** Share of the maximum: so many connections above it get a 503, and Node.js destroys further ones. */
const SHARE_REFUSED = 1 / 100;

/** Keeps at most `max` connections. Above that, the oldest idle one is closed. If there is none, the new one is refused. */
export function limitConnections(server: Server, max: number, shed: Pick<ShedRequests, 'count'>, refuse: (socket: Socket) => void): void {
  /** Oldest first. */
  const connections = new Set<Connection>();
  const count = () => shed.count('connections');
  server.maxConnections = Math.ceil(max * (1 + SHARE_REFUSED));
  server.on('drop', count);
  // Without a listener, a connection that the process has no file descriptor for would be an uncaught error.
  server.on('error', ({ syscall }: NodeJS.ErrnoException) => {
    if (syscall === 'accept') count();
  });
  server.on('connection', (socket) => {
    // Node.js keeps the address that it has read once. Later the client may be gone, and limits need its address.
    if (socket.remoteAddress === undefined) {
      socket.destroy();
      return;
    }
    const newest = connectionOf(socket);
    connections.add(newest);
    socket.once('close', () => connections.delete(newest));
    if (connections.size <= max) return;
    for (const connection of connections) {
      if (connection.pending > 0 || connection === newest) continue;
      connections.delete(connection);
      connection.socket.destroy();
      return;
    }
    newest.isEnded = true;
    count();
    refuse(socket);
  });
}
