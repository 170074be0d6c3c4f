import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import type { FastifyInstance } from 'fastify';
import { endConnection } from '../http/ended-connections.js';

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
  const lastRequests = new WeakMap<Socket, IncomingMessage>();

  fastify.addHook('onRequest', ({ raw }, reply, done) => {
    lastRequests.set(raw.socket, raw);
    // Once it closes, Fastify sets this on every answer.
    if (draining.isActive) reply.raw.removeHeader('Connection');
    done();
  });

  fastify.addHook('onSend', ({ raw }, reply, payload, done) => {
    if (draining.isActive && lastRequests.get(raw.socket) === raw) {
      endConnection(raw.socket);
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
