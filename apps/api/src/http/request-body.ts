import type { IncomingMessage } from 'node:http';
import { INVALID_REQUEST } from '@animal-store/http-contract';
import { DomainError } from '@animal-store/kernel';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { BODY_LIMIT_BYTES, HTTP_ERRORS, HttpError, MERGE_PATCH, type Rejection, SERVICE_UNAVAILABLE } from '../errors/http-errors.js';
import type { ShedRequests } from '../observability/shed-requests.js';
import { addressGroup } from '../rate-limit/address-group.js';
import { connectionOf, MAX_DROPPED_BYTES, type Reception } from './connection.js';
import { splitUnquoted } from './split-unquoted.js';

/** Maximum size of a rejected body that is always read completely, so that the connection can be reused. */
const DRAIN_LIMIT_BYTES = 1024 * 1024;
/** Maximum share of half-received requests per address. */
const SHARE_OF_ADDRESS = 1 / 4;

/** The result of receiving a body. The pipe throws the rejection, because the guards must run first, for example for a 401. */
export type ReceivedBody = ({ readonly bytes: Buffer } | { readonly rejection: Rejection }) & {
  /** Unknown members are errors. */
  strict?: boolean;
};

declare module 'fastify' {
  interface FastifyRequest {
    contentType: string | undefined;
  }
}

/** Replaces Fastify's body parsers by one that receives every body, with or without a type, as a ReceivedBody for the pipe. */
export function receiveBodies(fastify: FastifyInstance, halfReceived: Pick<HalfReceivedRequests, 'begin' | 'end'>): void {
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
      const rejection = halfReceived.end(reception);
      // With an error, Fastify would close the connection and lose the responses to pipelined requests.
      done(null, rejection ? { rejection } : body);
    };
    const abandon = (rejection: Rejection) => {
      settle({ rejection });
    };
    const tooLarge = () => {
      abandon(new HttpError(HTTP_ERRORS.payloadTooLarge));
    };
    const reception = halfReceived.begin(request, abandon);
    payload.on('data', (chunk: Buffer) => {
      size += chunk.length;
      if (size > BODY_LIMIT_BYTES) tooLarge();
      else if (!settled) chunks.push(chunk);
      if (size > MAX_DROPPED_BYTES) payload.pause();
    });
    const complete = () => {
      settle(checkContentType(request, chunks.length === 1 && chunks[0] ? chunks[0] : Buffer.concat(chunks)));
    };
    payload.on('end', complete);
    payload.on('error', () => {
      abandon(new HttpError(HTTP_ERRORS.malformedRequest));
    });
    if (declaresTooLargeBody(request.raw)) tooLarge();
    // A request without a body emits no events (`optimizeEmptyRequests`).
    if (payload.readableEnded) complete();
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

/** `chunked`, with the empty list elements that RFC 9110, section 5.6.1.2, allows. */
const CHUNKED = /^[\s,]*chunked[\s,]*$/i;

/** Returns whether the body has a transfer coding other than chunked, or one in HTTP/1.0 (RFC 9112, section 6.1). Node's parser ignores both. */
export function hasUnknownFraming({ headers, httpVersion }: IncomingMessage): boolean {
  const coding = headers['transfer-encoding'];
  return coding !== undefined && (httpVersion === '1.0' || !CHUNKED.test(coding));
}

/** Returns whether the rest of a rejected body is read and dropped. The size of a chunked body is not known. */
export function isDrained({ headers }: IncomingMessage): boolean {
  return Number(headers['content-length']) <= DRAIN_LIMIT_BYTES;
}

/** Returns whether Content-Length exceeds the limit. */
export function declaresTooLargeBody({ headers }: IncomingMessage): boolean {
  return Number(headers['content-length']) > BODY_LIMIT_BYTES;
}

/** RFC 9110, section 14.5. */
const PARTIAL_BODY = 'Content-Range is not supported: send the complete body';

function checkContentType(request: FastifyRequest, bytes: Buffer): ReceivedBody {
  if (request.headers['content-range'] !== undefined) return { rejection: new DomainError(INVALID_REQUEST, PARTIAL_BODY) };
  const isEmptyAndUntyped = bytes.length === 0 && request.contentType === undefined;
  const isPatch = request.method === 'PATCH';
  const isSupported =
    request.headers['content-encoding'] === undefined && (isEmptyAndUntyped || isJsonInUtf8(request.contentType, isPatch));
  return isSupported ? { bytes } : { rejection: new HttpError(isPatch ? HTTP_ERRORS.unsupportedPatch : HTTP_ERRORS.unsupportedMediaType) };
}

// RFC 9110, sections 5.6.6 and 8.3.1
const PARAMETER = /^([!#$%&'*+.^_`|~\w-]+)=(?:([!#$%&'*+.^_`|~\w-]+)|"((?:[^"\\]|\\.)*)")$/;

function isJsonInUtf8(contentType: string | undefined, isPatch: boolean): boolean {
  if (contentType === 'application/json') return true;
  const [type = '', ...parameters] = splitUnquoted(contentType ?? '', ';');
  const isJson = type.toLowerCase() === 'application/json' || (isPatch && type.toLowerCase() === MERGE_PATCH);
  return (
    isJson &&
    parameters.every((parameter) => {
      if (parameter === '') return true;
      const [, name = '', token, quoted] = PARAMETER.exec(parameter) ?? [];
      const value = token ?? quoted?.replace(/\\(.)/g, '$1') ?? '';
      return name.toLowerCase() === 'charset' ? value.toLowerCase() === 'utf-8' : name !== '';
    })
  );
}

/** Adds `Connection: close` to responses to requests whose bodies will not be read completely. */
export function endConnectionsWithUnreadBodies(fastify: FastifyInstance): void {
  fastify.addHook('onSend', ({ raw }, reply, payload, done) => {
    if (!raw.complete && hasBody(raw)) {
      const connection = connectionOf(raw.socket);
      if (connection.isEnded || !isDrained(raw)) {
        connection.isEnded = true;
        reply.header('connection', 'close');
        dropBody(raw);
      }
    }
    done(null, payload);
  });
}

/**
 * Limits the number of requests whose bodies are being received, in total and per address. Above the limit, the oldest one is rejected.
 * Most bodies are complete at the end of the turn of the event loop in which they begin. They are not counted.
 * @param admit Counts a request that has been received, or returns why it is rejected.
 */
export class HalfReceivedRequests {
  private newReceptions: Reception[] = [];
  private readonly all = new Set<Reception>();
  private readonly byAddress = new Map<string, Set<Reception>>();

  constructor(
    private readonly max: number,
    private readonly admit: (request: FastifyRequest) => Rejection | undefined,
    private readonly shed: Pick<ShedRequests, 'count'>,
  ) {}

  /** Call when the service starts to receive a body. */
  begin(request: FastifyRequest, abandon: (rejection: Rejection) => void): Reception {
    const reception = { request, abandon, isOver: false };
    connectionOf(request.raw.socket).receiving = reception;
    if (this.newReceptions.push(reception) === 1) setImmediate(() => this.countNewReceptions());
    return reception;
  }

  /** Call when the body has been received, or when it is abandoned. Returns a rejection if the request must not be processed. */
  end(reception: Reception): Rejection | undefined {
    const { request } = reception;
    reception.isOver = true;
    const connection = connectionOf(request.raw.socket);
    // The next request of the connection may have begun.
    if (connection.receiving === reception) connection.receiving = undefined;
    if (this.all.delete(reception)) this.removeFromAddress(addressGroup(request.ip), reception);
    return this.admit(request);
  }

  private countNewReceptions(): void {
    const { newReceptions } = this;
    this.newReceptions = [];
    for (const reception of newReceptions) if (!reception.isOver) this.count(reception);
  }

  private count(reception: Reception): void {
    const address = addressGroup(reception.request.ip);
    const ofAddress = this.byAddress.get(address) ?? new Set();
    this.byAddress.set(address, ofAddress.add(reception));
    this.all.add(reception);
    if (ofAddress.size > Math.ceil(this.max * SHARE_OF_ADDRESS)) this.rejectOldest(ofAddress, 'slow_bodies');
    else if (this.all.size > this.max) this.rejectOldest(this.all, 'receiving');
  }

  private rejectOldest([oldest]: ReadonlySet<Reception>, reason: string): void {
    this.shed.count(reason);
    oldest?.abandon(new DomainError(SERVICE_UNAVAILABLE, 'Too many requests are being received; try again shortly.'));
  }

  private removeFromAddress(address: string, reception: Reception): void {
    const ofAddress = this.byAddress.get(address);
    ofAddress?.delete(reception);
    if (ofAddress?.size === 0) this.byAddress.delete(address);
  }
}
