import type { FastifyInstance } from 'fastify';
import type { Logger } from 'pino';
import { loggedPath } from './logged-path.js';

/** Logs every response once it is sent. */
export function logRequests(fastify: FastifyInstance, logger: Logger): void {
  fastify.addHook('onResponse', (request, reply, done) => {
    const { id, traceId, principal, operation, method, url, errorCode } = request;
    logger.info(
      {
        requestId: id,
        traceId,
        clientId: principal && String(principal.clientId),
        keyId: principal && String(principal.keyId),
        operation,
        method,
        path: loggedPath(url),
        status: reply.statusCode,
        code: errorCode,
        durationMs: Math.round(reply.elapsedTime * 1000) / 1000,
      },
      'request',
    );
    done();
  });
}
