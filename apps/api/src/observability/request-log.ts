import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { loggedPath } from './logged-path.js';
import type { ServiceLogger } from './logger.js';

/** Logs responses after they have been sent: all errors, and a random share of the others. */
export function logRequests(fastify: FastifyInstance, logger: ServiceLogger, share = 1): void {
  const write = createRequestLogger(logger);
  fastify.addHook('onResponse', (request, reply, done) => {
    if (share === 1 || reply.statusCode >= 400 || Math.random() < share) write(request, reply);
    done();
  });
}

/** Returns a function that writes exactly the line that `logger.info` would write. ADR 35 has the measurement that justifies it. */
export function createRequestLogger(logger: ServiceLogger): (request: FastifyRequest, reply: FastifyReply) => void {
  const { format, base } = logger;
  const level = JSON.stringify(format.level('info', logger.levels.values['info'] ?? 0)).slice(0, -1);

  return (request, reply) => {
    if (!logger.isLevelEnabled('info')) return;
    const { id, traceId, principal, operation, method, url, errorCode } = request;
    const client = principal === undefined ? '' : `,"clientId":"${String(principal.clientId)}","keyId":"${String(principal.keyId)}"`;
    // Request ids and logged paths contain no API key. The values without JSON.stringify contain no characters that JSON escapes.
    logger.destination.write(
      `${level}${format.time()},${base},"requestId":${JSON.stringify(id)}${text('traceId', traceId)}${client}${text('operation', operation)}` +
        `,"method":"${method}","path":${JSON.stringify(loggedPath(url))},"status":${String(reply.statusCode)}${text('code', errorCode)}` +
        `,"durationMs":${String(Math.round(reply.elapsedTime * 1000) / 1000)},"${format.message}":"request"}\n`,
    );
  };
}

function text(name: string, value: string | undefined): string {
  return value === undefined ? '' : `,"${name}":"${value}"`;
}
