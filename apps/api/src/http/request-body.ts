import type { IncomingMessage } from 'node:http';
import { INVALID_REQUEST } from '@animal-store/http-kit';
import { DomainError } from '@animal-store/kernel';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { BODY_LIMIT_BYTES, HTTP_ERRORS, HttpError, MERGE_PATCH, type RequestError, SERVICE_UNAVAILABLE } from '../errors/http-errors.js';
import type { ShedRequests } from '../observability/shed-requests.js';
import { addressGroup } from '../rate-limit/address-group.js';
import { connectionOf, MAX_DROPPED_BYTES, type Reception } from './connection.js';
import type { LoadShedding } from './load-shedding.js';

/** Maximum share of half-received requests per address. */
const SHARE_OF_ADDRESS = 1 / 4;

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

type HalfReceived = Pick<HalfReceivedRequests, 'begin' | 'end'>;

/** Receives every body, with or without a type, as a ReceivedBody for the pipe. */
export class RequestBodies {
  constructor(private readonly halfReceived: HalfReceived) {}

  /** Replaces Fastify's body parsers. */
  register(server: FastifyInstance): void {
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
    server.addContentTypeParser(['application/json', '*'], (request, payload, done) => {
      new BodyReception(request, payload, done, this.halfReceived).start();
    });
  }
}

/** Receives one body, until it is complete or abandoned. */
class BodyReception implements Reception {
  isOver = false;
  private chunks: Buffer[] = [];
  private size = 0;

  constructor(
    readonly request: FastifyRequest,
    private readonly payload: IncomingMessage,
    private readonly done: (error: null, body: ReceivedBody) => void,
    private readonly halfReceived: HalfReceived,
  ) {}

  start(): void {
    const { request, payload } = this;
    this.halfReceived.begin(this);
    payload.on('data', (chunk: Buffer) => this.add(chunk));
    payload.on('end', () => this.complete());
    payload.on('error', () => this.abandon(new HttpError(HTTP_ERRORS.malformedRequest)));
    if (declaresTooLargeBody(request.raw)) this.abandon(new HttpError(HTTP_ERRORS.payloadTooLarge));
    // A request without a body emits no events (`optimizeEmptyRequests`).
    if (payload.readableEnded) this.complete();
  }

  abandon(error: RequestError): void {
    this.settle({ error });
  }

  private add(chunk: Buffer): void {
    this.size += chunk.length;
    if (this.size > MAX_DROPPED_BYTES) this.payload.pause();
    if (this.isOver) return;
    if (this.size <= BODY_LIMIT_BYTES) this.chunks.push(chunk);
    else this.abandon(new HttpError(HTTP_ERRORS.payloadTooLarge));
  }

  private complete(): void {
    const { chunks } = this;
    this.settle(checkContentType(this.request, chunks.length === 1 && chunks[0] ? chunks[0] : Buffer.concat(chunks)));
  }

  private settle(body: ReceivedBody): void {
    if (this.isOver) return;
    this.isOver = true;
    this.chunks = [];
    const error = this.halfReceived.end(this);
    // With an error, Fastify would close the connection and lose the responses to pipelined requests.
    this.done(null, error ? { error } : body);
  }
}

/** `chunked`, with the empty list elements that RFC 9110, section 5.6.1.2, allows. */
const CHUNKED = /^[\s,]*chunked[\s,]*$/i;

/** Returns whether the body has a transfer coding other than chunked, or one in HTTP/1.0 (RFC 9112, section 6.1). Node's parser ignores both. */
export function hasUnknownFraming({ headers, httpVersion }: IncomingMessage): boolean {
  const coding = headers['transfer-encoding'];
  return coding !== undefined && (httpVersion === '1.0' || !CHUNKED.test(coding));
}

/** Returns whether Content-Length exceeds the limit. */
export function declaresTooLargeBody({ headers }: IncomingMessage): boolean {
  return Number(headers['content-length']) > BODY_LIMIT_BYTES;
}

/** RFC 9110, section 14.5. */
const PARTIAL_BODY = 'Content-Range is not supported: send the complete body';

function checkContentType(request: FastifyRequest, bytes: Buffer): ReceivedBody {
  if (request.headers['content-range'] !== undefined) return { error: new DomainError(INVALID_REQUEST, PARTIAL_BODY) };
  const isEmptyAndUntyped = bytes.length === 0 && request.contentType === undefined;
  const isPatch = request.method === 'PATCH';
  const isSupported =
    request.headers['content-encoding'] === undefined && (isEmptyAndUntyped || isJsonInUtf8(request.contentType, isPatch));
  return isSupported ? { bytes } : { error: new HttpError(isPatch ? HTTP_ERRORS.unsupportedPatch : HTTP_ERRORS.unsupportedMediaType) };
}

const PARTS = {
  ',': /(?:[^",]|"(?:[^"\\]|\\.)*"?)*/g,
  ';': /(?:[^";]|"(?:[^"\\]|\\.)*"?)*/g,
};

/** Splits a field at a separator outside of quoted strings (RFC 9110, section 5.6.4) into trimmed parts. Empty parts may be added after others. Takes linear time. */
export function splitUnquoted(field: string, separator: keyof typeof PARTS): string[] {
  return (field.match(PARTS[separator]) ?? []).map((part) => part.trim());
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

/**
 * Limits the number of requests whose bodies are being received, in total and per address. Above the limit, the oldest one is shed.
 * Most bodies are complete at the end of the turn of the event loop in which they begin. They are not counted.
 */
export class HalfReceivedRequests {
  private newReceptions: Reception[] = [];
  private readonly all = new Set<Reception>();
  private readonly byAddress = new Map<string, Set<Reception>>();

  constructor(
    private readonly max: number,
    private readonly load: Pick<LoadShedding, 'admit'>,
    private readonly shed: Pick<ShedRequests, 'count'>,
  ) {}

  /** Call when the service starts to receive a body. */
  begin(reception: Reception): void {
    connectionOf(reception.request.raw.socket).receiving = reception;
    if (this.newReceptions.push(reception) === 1) setImmediate(() => this.countNewReceptions());
  }

  /** Call when the reception is over. Returns an error if the request must not be processed. */
  end(reception: Reception): RequestError | undefined {
    const { request } = reception;
    const connection = connectionOf(request.raw.socket);
    // The next request of the connection may have begun.
    if (connection.receiving === reception) connection.receiving = undefined;
    if (this.all.delete(reception)) this.removeFromAddress(addressGroup(request.ip), reception);
    return this.load.admit(request);
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
    if (ofAddress.size > Math.ceil(this.max * SHARE_OF_ADDRESS)) this.shedOldest(ofAddress, 'slow_bodies');
    else if (this.all.size > this.max) this.shedOldest(this.all, 'receiving');
  }

  private shedOldest([oldest]: ReadonlySet<Reception>, reason: string): void {
    this.shed.count(reason);
    oldest?.abandon(new DomainError(SERVICE_UNAVAILABLE, 'Too many requests are being received; try again shortly.'));
  }

  private removeFromAddress(address: string, reception: Reception): void {
    const ofAddress = this.byAddress.get(address);
    ofAddress?.delete(reception);
    if (ofAddress?.size === 0) this.byAddress.delete(address);
  }
}
