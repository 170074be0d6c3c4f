import type { FastifyInstance } from 'fastify';
import { dropBody, hasBody, isDrained } from './request-body.js';
import { connectionOf } from './connection.js';

/** Adds `Connection: close` to responses to requests whose bodies will not be read completely. */
export function endConnectionsWithUnreadBodies(fastify: FastifyInstance): void {
  fastify.addHook('onSend', ({ raw }, reply, payload, done) => {
    if (!raw.complete && hasBody(raw)) {
      const connection = connectionOf(raw.socket);
      if (connection.isEnded || connection.withoutContinue === raw || !isDrained(raw)) {
        connection.isEnded = true;
        reply.header('connection', 'close');
        dropBody(raw);
      }
    }
    done(null, payload);
  });
}
