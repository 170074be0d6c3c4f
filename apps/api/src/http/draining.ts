import type { IncomingMessage } from 'node:http';
import type { FastifyInstance } from 'fastify';
import { connectionOf } from './connection.js';

const LAST_REQUEST = Symbol('last request');

declare module 'node:net' {
  interface Socket {
    /** The last request of the connection so far; requests may be pipelined. */
    [LAST_REQUEST]?: IncomingMessage;
  }
}

/** Whether the process is draining: it still serves requests, but is no longer ready. */
export class Draining {
  private hasBegun = false;

  get isActive(): boolean {
    return this.hasBegun;
  }

  begin(): void {
    this.hasBegun = true;
  }
}

/** While draining, or after the client has ended its side, responses carry `Connection: close`. Of pipelined ones, only the last does. */
export function closeConnectionsWhenDraining(fastify: FastifyInstance, draining: Draining): void {
  fastify.addHook('onRequest', ({ raw }, reply, done) => {
    raw.socket[LAST_REQUEST] = raw;
    // Fastify sets this header on every response while it closes.
    if (draining.isActive) reply.raw.removeHeader('connection');
    done();
  });

  fastify.addHook('onSend', ({ raw }, reply, payload, done) => {
    if ((draining.isActive || raw.socket.readableEnded) && raw.socket[LAST_REQUEST] === raw) {
      connectionOf(raw.socket).isEnded = true;
      reply.header('connection', 'close');
    }
    done(null, payload);
  });
}
