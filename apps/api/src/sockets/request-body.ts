import type { IncomingMessage } from 'node:http';
import type { DomainError } from '@animal-store/kernel';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { HTTP_ERRORS, HttpError, MERGE_PATCH } from '../errors/http-errors.js';

const BODY_LIMIT_BYTES = 64 * 1024;
/** Maximum size of a refused body that is always read completely, so that the connection can be reused. */
const DRAIN_LIMIT_BYTES = 1024 * 1024;
/** Maximum size of a refused body that is read and dropped, because many clients send the whole body before they read the response. */
export const MAX_DROPPED_BYTES = 8 * 1024 * 1024;

/** Why a request is refused. */
export type Refusal = HttpError | DomainError;

/** Called when the service starts to receive a body, and when it has received it or stops waiting for it. */
export interface BodyObserver<Reception> {
  begin(request: FastifyRequest, abandon: (refusal: Refusal) => void): Reception;
  /** Returns a refusal if the request must not be processed. */
  end(reception: Reception): Refusal | undefined;
}

/** The result of receiving a body. The pipe throws the refusal, because the guards must run first, for example for a 401. */
export type ReceivedBody = ({ readonly bytes: Buffer } | { readonly refusal: Refusal }) & {
  /** Unknown members are errors. */
  strict?: boolean;
};

declare module 'fastify' {
  interface FastifyRequest {
    contentType: string | undefined;
  }
}

/** Replaces Fastify's body parsers by one that receives every body, with or without a type, as a ReceivedBody for the pipe. */
export function receiveBodies<Reception>(fastify: FastifyInstance, observer: BodyObserver<Reception>): void {
  fastify.decorateRequest('contentType', undefined);
  fastify.addHook('onRequest', (request, _reply, done) => {
    const { headers } = request.raw;
    request.contentType = headers['content-type'];
    // Without this, Fastify responds with 415 to a malformed type, and with 400 to a QUERY without one, before any guard.
    if (request.contentType !== undefined || request.method === 'QUERY') headers['content-type'] = 'application/json';
    done();
  });
  fastify.removeAllContentTypeParsers();
  // By '*' alone, Fastify would parse the type again for each request.
  fastify.addContentTypeParser(['application/json', '*'], (request, payload, done) => {
    let chunks: Buffer[] = [];
    let size = 0;
    let settled = false;
    const settle = (body: ReceivedBody) => {
      if (settled) return;
      settled = true;
      chunks = [];
      const refusal = observer.end(reception);
      // With an error, Fastify would close the connection and lose the responses to pipelined requests.
      done(null, refusal ? { refusal } : body);
    };
    const abandon = (refusal: Refusal) => {
      settle({ refusal });
    };
    const tooLarge = () => {
      abandon(new HttpError(HTTP_ERRORS.payloadTooLarge));
    };
    const reception = observer.begin(request, abandon);
    payload.on('data', (chunk: Buffer) => {
      size += chunk.length;
      if (size > BODY_LIMIT_BYTES) tooLarge();
      else if (!settled) chunks.push(chunk);
      if (size > MAX_DROPPED_BYTES) payload.pause();
    });
    payload.on('end', () => {
      settle(checkContentType(request, chunks.length === 1 && chunks[0] ? chunks[0] : Buffer.concat(chunks)));
    });
    payload.on('error', () => {
      abandon(new HttpError(HTTP_ERRORS.malformedRequest));
    });
    if (declaresTooLargeBody(request.raw)) tooLarge();
  });
}

/** Reads and drops the rest of a body, up to MAX_DROPPED_BYTES. */
export function dropBody(request: IncomingMessage): void {
  let size = 0;
  request.on('data', ({ length }: Buffer) => {
    size += length;
    if (size > MAX_DROPPED_BYTES) request.pause();
  });
}

/** Returns whether the request has a body that the service reads. Bodies of GET and HEAD are ignored. */
export function isBodyReceived(request: IncomingMessage): boolean {
  return request.method !== 'GET' && request.method !== 'HEAD' && hasBody(request);
}

/** Returns whether the headers announce a body. */
export function hasBody({ headers }: IncomingMessage): boolean {
  const length = headers['content-length'];
  return (length !== undefined && length !== '0') || headers['transfer-encoding'] !== undefined;
}

/** Returns whether the rest of a refused body is read and dropped. The size of a chunked body is not known. */
export function isDrained({ headers }: IncomingMessage): boolean {
  return Number(headers['content-length']) <= DRAIN_LIMIT_BYTES;
}

/** Returns whether Content-Length exceeds the limit. */
export function declaresTooLargeBody({ headers }: IncomingMessage): boolean {
  return Number(headers['content-length']) > BODY_LIMIT_BYTES;
}

function checkContentType(request: FastifyRequest, bytes: Buffer): ReceivedBody {
  const isEmptyAndUntyped = bytes.length === 0 && request.contentType === undefined;
  const isPatch = request.method === 'PATCH';
  const isSupported =
    request.headers['content-encoding'] === undefined && (isEmptyAndUntyped || isJsonInUtf8(request.contentType, isPatch));
  return isSupported ? { bytes } : { refusal: new HttpError(isPatch ? HTTP_ERRORS.unsupportedPatch : HTTP_ERRORS.unsupportedMediaType) };
}

// RFC 9110, sections 5.6.6 and 8.3.1
const PARAMETER = /^([!#$%&'*+.^_`|~\w-]+)=(?:([!#$%&'*+.^_`|~\w-]+)|"((?:[^"\\]|\\.)*)")$/;

function isJsonInUtf8(contentType: string | undefined, isPatch: boolean): boolean {
  if (contentType === 'application/json') return true;
  const [type = '', ...parameters] = (contentType ?? '').split(';').map((part) => part.trim());
  const isJson = type.toLowerCase() === 'application/json' || (isPatch && type.toLowerCase() === MERGE_PATCH);
  return (
    isJson &&
    parameters.every((parameter) => {
      if (parameter === '') return true;
      const [, name = '', token, quoted] = PARAMETER.exec(parameter) ?? [];
      return name.toLowerCase() === 'charset' ? (token ?? quoted ?? '').toLowerCase() === 'utf-8' : name !== '';
    })
  );
}
