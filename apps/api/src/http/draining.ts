import type { Server } from 'node:http';
import { Server as NetServer } from 'node:net';
import type { FastifyInstance } from 'fastify';
import { connectionOf } from './connection.js';
import { dropBody, hasBody, isDrained } from './request-body.js';

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
    const connection = connectionOf(raw.socket);
    const isLast = (draining.isActive || raw.socket.readableEnded) && connection.lastRequest === raw;
    const hasUnreadBody = !raw.complete && hasBody(raw);
    if (isLast || (hasUnreadBody && (connection.isEnded || !isDrained(raw)))) {
      connection.isEnded = true;
      reply.header('connection', 'close');
      if (hasUnreadBody) dropBody(raw);
    }
    done(null, payload);
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
