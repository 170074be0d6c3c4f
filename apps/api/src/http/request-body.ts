import type { IncomingMessage } from 'node:http';
import { MIMEType } from 'node:util';
import { INVALID_REQUEST } from '@animal-store/http-kit';
import { DomainError } from '@animal-store/kernel';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { BODY_LIMIT_BYTES, HTTP_ERRORS, HttpError, MERGE_PATCH, type RequestError, SERVICE_UNAVAILABLE } from '../errors/http-errors.js';
import type { ShedRequests } from '../observability/shed-requests.js';

/** The result of receiving a body. The pipe throws the error, because the guards must run first, for example for a 401. */
export type ReceivedBody = ({ readonly bytes: Buffer } | { readonly error: RequestError }) & {
  /** Unknown members are errors. */
  strict?: boolean;
};

declare module 'fastify' {
  interface FastifyRequest {
    contentType: string | undefined;
  }
}

/** Maximum size of all half-received bodies. */
const MAX_HALF_RECEIVED_BYTES = 64 * 1024 * 1024;

/** Receives every body, with or without a type, as a ReceivedBody for the pipe. Replaces Fastify's body parsers. */
export function receiveBodies(server: FastifyInstance, shed: Pick<ShedRequests, 'count'>, maxBytes = MAX_HALF_RECEIVED_BYTES): void {
  let halfReceivedBytes = 0;
  server.decorateRequest('contentType', undefined);
  server.addHook('onRequest', (request, _reply, done) => {
    const { headers } = request.raw;
    request.contentType = headers['content-type'];
    // Without this, Fastify responds with 415 to a malformed type, and with 400 to a QUERY without one, before any guard.
    if (request.contentType !== undefined || request.method === 'QUERY') headers['content-type'] = 'application/json';
    done();
  });
  server.removeAllContentTypeParsers();
  // By '*' alone, Fastify would parse the type again for each request.
  server.addContentTypeParser(['application/json', '*'], (request, payload, done: (error: null, body: ReceivedBody) => void) => {
    const chunks: Buffer[] = [];
    let size = 0;
    let isSettled = false;
    // With an error, Fastify would close the connection and lose the responses to pipelined requests. The rest of the body is dropped.
    const settle = (body: ReceivedBody) => {
      if (isSettled) return;
      isSettled = true;
      halfReceivedBytes -= size;
      chunks.length = 0;
      done(null, body);
    };
    const complete = () => {
      const [first] = chunks;
      settle(checkContentType(request, chunks.length === 1 && first ? first : Buffer.concat(chunks)));
    };
    payload.on('data', (chunk: Buffer) => {
      if (isSettled) return;
      chunks.push(chunk);
      size += chunk.length;
      halfReceivedBytes += chunk.length;
      if (size > BODY_LIMIT_BYTES) {
        settle({ error: new HttpError(HTTP_ERRORS.payloadTooLarge) });
      } else if (halfReceivedBytes > maxBytes) {
        shed.count('receiving');
        settle({ error: new DomainError(SERVICE_UNAVAILABLE) });
      }
    });
    payload.on('end', complete);
    payload.on('error', (error) => settle({ error: error instanceof HttpError ? error : new HttpError(HTTP_ERRORS.malformedRequest) }));
    if (declaresTooLargeBody(request.raw)) settle({ error: new HttpError(HTTP_ERRORS.payloadTooLarge) });
    // A request without a body emits no events (`optimizeEmptyRequests`).
    if (payload.readableEnded) complete();
  });
}

/** Returns whether Content-Length exceeds the limit. */
export function declaresTooLargeBody({ headers }: IncomingMessage): boolean {
  return Number(headers['content-length']) > BODY_LIMIT_BYTES;
}

function checkContentType(request: FastifyRequest, bytes: Buffer): ReceivedBody {
  // RFC 9110, section 14.5.
  if (request.headers['content-range'] !== undefined)
    return { error: new DomainError(INVALID_REQUEST, 'Content-Range is not supported: send the complete body') };
  const isEmptyAndUntyped = bytes.length === 0 && request.contentType === undefined;
  const isPatch = request.method === 'PATCH';
  const isSupported =
    request.headers['content-encoding'] === undefined && (isEmptyAndUntyped || isJsonInUtf8(request.contentType, isPatch));
  return isSupported ? { bytes } : { error: new HttpError(isPatch ? HTTP_ERRORS.unsupportedPatch : HTTP_ERRORS.unsupportedMediaType) };
}

function isJsonInUtf8(contentType = '', isPatch: boolean): boolean {
  if (contentType === 'application/json') return true;
  // MIMEType takes quadratic time.
  if (contentType.length > 256) return false;
  try {
    const { essence, params } = new MIMEType(contentType);
    const charset = params.get('charset')?.toLowerCase() ?? 'utf-8';
    return (essence === 'application/json' || (isPatch && essence === MERGE_PATCH)) && charset === 'utf-8';
  } catch {
    return false;
  }
}
