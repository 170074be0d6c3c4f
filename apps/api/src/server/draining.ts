import type { IncomingMessage } from 'node:http';
import type { FastifyInstance } from 'fastify';
import { connectionOf } from './connection.js';

const LAST_REQUEST = Symbol('last request');

declare module 'node:net' {
  interface Socket {
    /** The last of those that were sent one behind the other. */
    [LAST_REQUEST]?: IncomingMessage;
  }
}

/** Whether the process is about to end: still serving, but no longer ready. */
export class Draining {
  private hasBegun = false;

  get isActive(): boolean {
    return this.hasBegun;
  }

  begin(): void {
    this.hasBegun = true;
  }
}

/**
 * From then on each answer ends its connection, so that the client comes back elsewhere; of requests that were sent one behind
 * the other it is the answer to the last one, so that each is answered.
 */
export function closeConnectionsWhenDraining(fastify: FastifyInstance, draining: Draining): void {
  fastify.addHook('onRequest', ({ raw }, reply, done) => {
    raw.socket[LAST_REQUEST] = raw;
    // Once it closes, Fastify sets this on every answer.
    if (draining.isActive) reply.raw.removeHeader('Connection');
    done();
  });

  fastify.addHook('onSend', ({ raw }, reply, payload, done) => {
    if (draining.isActive && raw.socket[LAST_REQUEST] === raw) {
      connectionOf(raw.socket).isEnded = true;
      reply.header('Connection', 'close');
    }
    done(null, payload);
  });

  // Closing waits for connections, also where nothing was drained before.
  fastify.addHook('preClose', (done) => {
    draining.begin();
    done();
  });
}
