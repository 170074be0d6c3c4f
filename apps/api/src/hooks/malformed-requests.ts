import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { HTTP_ERRORS, HttpError } from '../errors/http-errors.js';
import { connectionOf } from '../sockets/connection.js';
import { UNREADABLE_TARGET } from '../sockets/http-server.js';

const MAX_TARGET_LENGTH = 4096;
const MAX_HEADER_FIELDS = 64;
/** uri-host [ ":" port ] (RFC 9112, section 3.2). A comma means that the field was repeated. */
const HOST = /^[^\s,/?#@]*$/;

/** Refuses malformed requests that Node's HTTP parser accepts. */
export function refuseMalformedRequests(fastify: FastifyInstance): void {
  fastify.addHook('onRequest', (request, reply, done) => {
    done(refusalOf(request, reply));
  });
}

function refusalOf({ raw, url, originalUrl }: FastifyRequest, reply: FastifyReply): HttpError | undefined {
  const { host, upgrade } = raw.headers;
  const end = () => {
    connectionOf(raw.socket).isEnded = true;
    reply.header('connection', 'close');
  };
  // Node drops the bytes that arrived after an upgrade request, so the next bytes may begin in the middle of a body.
  if (upgrade !== undefined) end();
  // Node's parser treats a request line without a version as HTTP/0.9.
  if (raw.httpVersionMajor < 1) {
    end();
    return new HttpError(HTTP_ERRORS.malformedRequest);
  }
  if ((host === undefined && raw.httpVersion === '1.1') || (host !== undefined && !HOST.test(host))) {
    end();
    return new HttpError(HTTP_ERRORS.malformedRequest, 'The request must have exactly one valid Host header.');
  }
  if (url === UNREADABLE_TARGET) return new HttpError(HTTP_ERRORS.malformedRequest);
  if (originalUrl.length > MAX_TARGET_LENGTH) return new HttpError(HTTP_ERRORS.uriTooLong);
  if (raw.rawHeaders.length > 2 * MAX_HEADER_FIELDS) return new HttpError(HTTP_ERRORS.headersTooLarge);
  return undefined;
}
