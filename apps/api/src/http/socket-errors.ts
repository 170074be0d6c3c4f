import { randomUUID } from 'node:crypto';
import { type IncomingMessage, type Server, STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import type { PublicUrl } from '@animal-store/http-kit';
import type { ErrorDefinition } from '@animal-store/kernel';
import { defaultErrorBody, helpLink } from '../errors/error-response.js';
import { HTTP_ERRORS, HttpError, type HttpErrorDefinition, RETRY_AFTER_SECONDS, SERVICE_UNAVAILABLE } from '../errors/http-errors.js';
import type { ShedRequests } from '../observability/shed-requests.js';
import { declaresTooLargeBody, hasUnknownFraming } from './request-body.js';
import { connectionOf } from './connection.js';
import { corsHeaders } from './cors.js';

export interface SocketErrorOptions {
  readonly corsOrigins: readonly string[];
  readonly publicUrl: PublicUrl;
  readonly shed: ShedRequests;
}

interface ClientError {
  readonly code?: string;
  /** Position of the error in `rawPacket`. */
  readonly bytesParsed?: number;
  /** A Buffer; Fastify's types are wrong. */
  readonly rawPacket?: unknown;
}

/** Responds to errors of Node's HTTP parser and server in our error shape. */
export class SocketErrors {
  constructor(private readonly options: SocketErrorOptions) {}

  /** Handles Expect and CONNECT, to which Node would respond without our error shape. */
  register(server: Server): void {
    // The hooks reject expectations other than 100-continue.
    server.on('checkExpectation', (request, response) => server.emit('request', request, response));
    server.on('checkContinue', (request, response) => {
      // A client that gets no 100 Continue need not send its body. Node.js closes its connection after the response.
      if (isContinue(request) && !declaresTooLargeBody(request) && !hasUnknownFraming(request)) response.writeContinue();
      server.emit('request', request, response);
    });
    server.on('connect', ({ headers, socket }) => {
      socket.on('error', () => undefined);
      connectionOf(socket).endWith(() =>
        this.writeAndClose(socket, HTTP_ERRORS.methodNotAllowed, headers.origin, { Allow: 'GET, HEAD, POST, OPTIONS' }),
      );
    });
  }

  /** Responds to an error of the HTTP parser or a timeout, then closes the connection. */
  onClientError(error: ClientError, socket: Socket): void {
    const connection = connectionOf(socket);
    const { lastRequest } = connection;
    const definition = definitionOf(error);
    if (error.code === 'ECONNRESET') {
      socket.destroy();
    } else if (connection.isEnded || error.code === 'HPE_CLOSED_CONNECTION') {
      // The last response of the connection is being sent. Further input is dropped.
      connection.isEnded = true;
    } else if (lastRequest && !lastRequest.complete) {
      connection.isBodyLost = true;
      // The response may have been sent already.
      connection.endWith(() => connection.close());
      if (lastRequest.listenerCount('error') > 0) lastRequest.emit('error', new HttpError(definition));
    } else {
      // Browsers open connections in advance, and may not use them.
      if (definition === HTTP_ERRORS.requestTimeout && socket.bytesRead > 0) this.options.shed.count('slow_headers');
      const request = failedRequest(error);
      const origin = /\r\norigin:([^\r\n]*)/i.exec(request)?.[1]?.trim();
      // A response to HEAD has no body, whatever its status.
      connection.endWith(() => this.writeAndClose(socket, definition, origin, {}, request.startsWith('HEAD ')));
    }
  }

  /** Responds to a connection above the limit with 503, and closes it. */
  refuse(socket: Socket): void {
    this.writeAndClose(socket, SERVICE_UNAVAILABLE, undefined, { 'Retry-After': RETRY_AFTER_SECONDS });
  }

  /** @param origin undefined if it is not known: of several configured origins, none can be allowed then */
  private writeAndClose(
    socket: Socket,
    definition: HttpErrorDefinition | ErrorDefinition,
    origin: string | undefined,
    extra: Record<string, string>,
    isHeadRequest = false,
  ): void {
    const { corsOrigins, publicUrl } = this.options;
    const error = defaultErrorBody(definition);
    const body = JSON.stringify(error);
    const help = helpLink(publicUrl, error.code);
    const headers = {
      Date: new Date().toUTCString(),
      'Content-Type': 'application/json',
      'Content-Length': String(Buffer.byteLength(body)),
      'Cache-Control': 'no-store',
      ...(help !== undefined && { Link: help }),
      'X-Content-Type-Options': 'nosniff',
      'X-Request-Id': randomUUID(),
      Connection: 'close',
      ...corsHeaders(corsOrigins, origin ?? (corsOrigins.length === 1 ? corsOrigins[0] : undefined)),
      ...extra,
    };
    const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
    const statusLine = `HTTP/1.1 ${String(error.status)} ${STATUS_CODES[error.status] ?? ''}\r\n`;
    socket.write(`${statusLine}${lines.join('')}\r\n${isHeadRequest ? '' : body}`);
    connectionOf(socket).close();
  }
}

/** Returns whether the expectation is 100-continue (RFC 9110, section 10.1.1). Node.js also accepts values that only contain it. */
export function isContinue({ headers }: IncomingMessage): boolean {
  return /^100-continue$/i.test(headers.expect ?? '');
}

function definitionOf({ code }: ClientError): HttpErrorDefinition {
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT') return HTTP_ERRORS.requestTimeout;
  return code === 'HPE_HEADER_OVERFLOW' ? HTTP_ERRORS.headersTooLarge : HTTP_ERRORS.malformedRequest;
}

const REQUEST_LINE = /\b[A-Z]+ (?:\/|\*|http)/g;

/** Returns the text of the request with the error, from its request line on if that is in the same packet. Requests may be pipelined. */
function failedRequest({ rawPacket, bytesParsed }: ClientError): string {
  if (!Buffer.isBuffer(rawPacket)) return '';
  const text = rawPacket.toString('latin1');
  return text.slice([...text.slice(0, bytesParsed).matchAll(REQUEST_LINE)].at(-1)?.index);
}
