import type { IncomingMessage } from 'node:http';
import { MIMEType } from 'node:util';
import { type AcceptedBytes, INVALID_REQUEST } from '@animal-store/http-kit';
import { DomainError } from '@animal-store/kernel';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import {
  BODY_LIMIT_BYTES,
  errorsOfBytes,
  HTTP_ERRORS,
  HttpError,
  MERGE_PATCH,
  type RequestError,
  SERVICE_UNAVAILABLE,
} from '../errors/http-errors.js';
import type { CountShed } from '../observability/shed-requests.js';

type ReceivedBytes = { readonly bytes: Buffer } | { readonly error: RequestError };

/** The pipe throws the error, because guards run first. With `@ReceivesBytes`, it also calls `receive`, after the guards. */
export type ReceivedBody = (ReceivedBytes | { readonly receive: () => Promise<ReceivedBytes> }) & {
  /** Unknown members are errors. */
  strict?: boolean;
};

declare module 'fastify' {
  interface FastifyRequest {
    contentType: string | undefined;
    /** Set on routes with `@ReceivesBytes`. */
    acceptedBytes: AcceptedBytes | undefined;
    bodyReceiver: BodyReceiver | undefined;
  }
}

/** Maximum size of all half-received bodies, and of bytes until their handlers have responded. */
const MAX_BUFFERED_BYTES = 64 * 1024 * 1024;
/** Above this share of the maximum, only JSON is received. */
const SHARE_OF_BYTES = 3 / 4;
/** A body of bytes counts at least this share. Each occupies a request in flight, so this limits how many clients can send one slowly. */
const MIN_SHARE_OF_BODY = 1 / 256;
const EMPTY: Buffer = Buffer.alloc(0);

/** Receives every body, with or without a type, as a ReceivedBody for the pipe. Replaces Fastify's body parsers. */
export function receiveBodies(server: FastifyInstance, countShed: CountShed, maxBytes = MAX_BUFFERED_BYTES): void {
  const buffered: Buffered = { bytes: 0, maxBytes, countShed };
  server.decorateRequest('contentType', undefined);
  acceptBytes(server, maxBytes * SHARE_OF_BYTES);
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
    const receiver = new BodyReceiver(request, payload, buffered);
    // With an error, Fastify would close the connection and lose the responses to pipelined requests. The rest of the body is dropped.
    if (!request.acceptedBytes) receiver.receive((body) => done(null, body));
    else done(null, { receive: () => new Promise((resolve) => receiver.receive(resolve)) });
  });
}

/** Tells the receiver about routes with `@ReceivesBytes`. `shedLoad` frees the bytes at the end of the request. */
function acceptBytes(server: FastifyInstance, limit: number): void {
  server.decorateRequest('acceptedBytes', undefined);
  server.decorateRequest('bodyReceiver', undefined);
  server.addHook('onRoute', (route) => {
    const accepted = route.config?.acceptedBytes;
    if (!accepted) return;
    if (route.method === 'GET') throw new Error(`@ReceivesBytes at ${route.url} must not be on a GET route, which has no body.`);
    if (!(accepted.maxBytes >= 1 && accepted.maxBytes <= limit))
      throw new Error(`maxBytes of @ReceivesBytes at ${route.url} must be from 1 to ${String(limit)}.`);
    route.onRequest = [route.onRequest ?? []].flat().concat((request, _reply, done) => {
      request.acceptedBytes = accepted;
      done();
    });
  });
}

interface Buffered {
  bytes: number;
  readonly maxBytes: number;
  readonly countShed: CountShed;
}

class BodyReceiver {
  private buffer = EMPTY;
  private size = 0;
  /** The part of `buffered` for this body. */
  private counted = 0;
  private result: ReceivedBytes | undefined;
  private deliver: (result: ReceivedBytes) => void = () => undefined;

  constructor(
    private readonly request: FastifyRequest,
    private readonly payload: IncomingMessage,
    private readonly buffered: Buffered,
  ) {
    if (request.acceptedBytes) request.bodyReceiver = this;
    // Also before `receive`, because the request may time out while the guards run.
    payload.on('error', (error) =>
      this.settle({ error: error instanceof HttpError ? error : new HttpError(HTTP_ERRORS.malformedRequest) }),
    );
  }

  /** Calls `deliver` once, with the body or an error. */
  receive(deliver: (result: ReceivedBytes) => void): void {
    const { request, payload } = this;
    this.deliver = deliver;
    if (this.result) {
      deliver(this.result);
      return;
    }
    payload.on('data', (chunk: Buffer) => {
      if (!this.result) this.append(chunk);
    });
    payload.on('end', () => this.complete());
    const { acceptedBytes, contentType } = request;
    const error = acceptedBytes && contentType !== undefined ? rejectionOf(request, false) : undefined;
    if (declaresTooLargeBody(request.raw, acceptedBytes?.maxBytes)) this.rejectTooLarge();
    else if (error) this.settle({ error });
    else if (acceptedBytes) {
      this.count(this.buffered.maxBytes * MIN_SHARE_OF_BODY);
      request.raw.sendContinue?.();
    }
    // A request without a body emits no events (`optimizeEmptyRequests`).
    if (payload.readableEnded) this.complete();
  }

  /** Frees the memory. Without a result yet, the rest of the body is dropped. */
  release(): void {
    this.settle({ error: new HttpError(HTTP_ERRORS.malformedRequest) });
    this.count(0);
  }

  private append(chunk: Buffer): void {
    const { acceptedBytes } = this.request;
    const { maxBytes = BODY_LIMIT_BYTES } = acceptedBytes ?? {};
    const size = this.size + chunk.length;
    if (size > maxBytes) {
      this.rejectTooLarge();
      return;
    }
    if (this.size === 0) {
      this.buffer = chunk;
    } else {
      // A list of small chunks would take many times their size.
      if (size > this.buffer.length) {
        const larger = Buffer.allocUnsafe(Math.min(2 * size, maxBytes));
        this.buffer.copy(larger, 0, 0, this.size);
        this.buffer = larger;
      }
      chunk.copy(this.buffer, this.size);
    }
    this.size = size;
    this.count(Math.max(this.counted, this.buffer.length));
    const { buffered } = this;
    if (buffered.bytes > buffered.maxBytes * (acceptedBytes ? SHARE_OF_BYTES : 1)) {
      buffered.countShed('receiving');
      this.settle({ error: new DomainError(SERVICE_UNAVAILABLE) });
    }
  }

  private complete(): void {
    const error = rejectionOf(this.request, this.size === 0);
    const bytes = this.buffer.length === this.size ? this.buffer : this.buffer.subarray(0, this.size);
    this.settle(error ? { error } : { bytes });
  }

  private rejectTooLarge(): void {
    const { acceptedBytes } = this.request;
    this.settle({ error: new HttpError((acceptedBytes ? errorsOfBytes(acceptedBytes) : HTTP_ERRORS).payloadTooLarge) });
  }

  private settle(result: ReceivedBytes): void {
    if (this.result) return;
    this.result = result;
    this.buffer = EMPTY;
    if (!this.request.acceptedBytes || 'error' in result) this.count(0);
    this.deliver(result);
  }

  private count(bytes: number): void {
    this.buffered.bytes += bytes - this.counted;
    this.counted = bytes;
  }
}

export function declaresTooLargeBody({ headers }: IncomingMessage, maxBytes = BODY_LIMIT_BYTES): boolean {
  return Number(headers['content-length']) > maxBytes;
}

/** Returns why a body is rejected for its headers, or because it is empty. */
function rejectionOf({ headers, contentType, method, acceptedBytes }: FastifyRequest, isEmpty: boolean): RequestError | undefined {
  // RFC 9110, section 14.5.
  if (headers['content-range'] !== undefined)
    return new DomainError(INVALID_REQUEST, 'Content-Range is not supported: send the complete body');
  const isPatch = method === 'PATCH';
  const isSupported = acceptedBytes
    ? acceptedBytes.types.includes(mediaTypeOf(contentType)?.essence ?? '')
    : isJsonInUtf8(contentType, isPatch);
  if (headers['content-encoding'] !== undefined || !(isSupported || (isEmpty && contentType === undefined)))
    return new HttpError(
      acceptedBytes
        ? errorsOfBytes(acceptedBytes).unsupportedMediaType
        : isPatch
          ? HTTP_ERRORS.unsupportedPatch
          : HTTP_ERRORS.unsupportedMediaType,
    );
  return undefined;
}

function isJsonInUtf8(contentType: string | undefined, isPatch: boolean): boolean {
  if (contentType === 'application/json') return true;
  const { essence, params } = mediaTypeOf(contentType) ?? {};
  const charset = params?.get('charset')?.toLowerCase() ?? 'utf-8';
  return (essence === 'application/json' || (isPatch && essence === MERGE_PATCH)) && charset === 'utf-8';
}

function mediaTypeOf(contentType = ''): MIMEType | undefined {
  // MIMEType takes quadratic time.
  if (contentType.length > 256) return undefined;
  try {
    return new MIMEType(contentType);
  } catch {
    return undefined;
  }
}
