import { type RequestListener, type Server, STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import type { PublicUrl } from '@animal-store/http-contract';
import type { ErrorDefinition } from '@animal-store/kernel';
import { defaultErrorBody } from '../errors/error-catalogue.js';
import { helpLink } from '../errors/error-response.js';
import { HTTP_ERRORS, HttpError, type HttpErrorDefinition, MAX_TARGET_LENGTH } from '../errors/http-errors.js';
import type { ShedRequests } from '../observability/shed-requests.js';
import { declaresTooLargeBody, hasUnknownFraming } from './request-body.js';
import { connectionOf } from './connection.js';
import { corsHeaders, corsHeadersOfUnknown } from './cors.js';
import { newRequestId } from '../observability/identify-requests.js';

const LONG_TARGET = new RegExp(`^[A-Z]+ [^ \\r\\n]{${String(MAX_TARGET_LENGTH + 1)}}`);

/** RFC 9110, section 10.1.1. */
const CONTINUE = /^100-continue$/i;

export interface SocketErrorOptions {
  readonly corsOrigins: readonly string[];
  readonly publicUrl: PublicUrl;
  readonly shed: ShedRequests;
}

interface ClientError {
  readonly code?: string;
  /** A Buffer; Fastify's types are wrong. */
  readonly rawPacket?: unknown;
}

/** Responds to errors of Node's HTTP parser and server in our error shape, then closes the connection. */
export function respondToClientError(error: ClientError, socket: Socket, { corsOrigins, publicUrl, shed }: SocketErrorOptions): void {
  const connection = connectionOf(socket);
  connection.hasTimedOut ||= error.code === 'ERR_HTTP_REQUEST_TIMEOUT';
  if (error.code === 'ECONNRESET') {
    socket.destroy();
  } else if (connection.isEnded || error.code === 'HPE_CLOSED_CONNECTION') {
    // The last response of the connection is being sent. Further input is dropped.
    connection.isEnded = true;
  } else if (connection.receiving && !connection.receiving.request.raw.complete) {
    connection.isEnded = true;
    connection.receiving.abandon(new HttpError(definitionOf(error)));
  } else {
    const definition = definitionOf(error);
    // Browsers open connections in advance, and may not use them.
    if (definition === HTTP_ERRORS.requestTimeout && socket.bytesRead > 0) shed.count('slow_headers');
    const origin = originOf(error);
    connection.endWith(() => {
      const cors = origin === undefined ? corsHeadersOfUnknown(corsOrigins) : corsHeaders(corsOrigins, origin);
      writeErrorAndClose(socket, definition, publicUrl, cors);
    });
  }
}

/** Handles Expect and CONNECT, to which Node would respond without our error shape. */
export function handleExpectAndConnect(server: Server, { corsOrigins, publicUrl }: SocketErrorOptions): void {
  const reject: RequestListener = (request, response) => {
    connectionOf(request.socket).isEnded = true;
    const { headers, body } = errorResponse(HTTP_ERRORS.expectationFailed, publicUrl);
    response.writeHead(HTTP_ERRORS.expectationFailed.status, { ...headers, ...corsHeaders(corsOrigins, request.headers.origin) }).end(body);
  };
  server.on('checkExpectation', reject);
  server.on('checkContinue', (request, response) => {
    // Node.js also emits this for values that only contain 100-continue.
    if (!CONTINUE.test(request.headers.expect ?? '')) {
      reject(request, response);
      return;
    }
    // A client that gets no 100 Continue need not send its body. Node.js closes its connection after the response.
    if (!declaresTooLargeBody(request) && !hasUnknownFraming(request)) response.writeContinue();
    server.emit('request', request, response);
  });
  server.on('connect', ({ headers, socket }) => {
    socket.on('error', () => undefined);
    connectionOf(socket).endWith(() => {
      const allow = { Allow: 'GET, HEAD, POST, OPTIONS' };
      writeErrorAndClose(socket, HTTP_ERRORS.methodNotAllowed, publicUrl, { ...allow, ...corsHeaders(corsOrigins, headers.origin) });
    });
  });
}

function definitionOf({ code, rawPacket }: ClientError): HttpErrorDefinition {
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT') return HTTP_ERRORS.requestTimeout;
  if (code === 'HPE_HEADER_OVERFLOW') return startsWithLongTarget(rawPacket) ? HTTP_ERRORS.uriTooLong : HTTP_ERRORS.headersTooLarge;
  return HTTP_ERRORS.malformedRequest;
}

function originOf({ rawPacket }: ClientError): string | undefined {
  if (!Buffer.isBuffer(rawPacket)) return undefined;
  return /\r\norigin:([^\r\n]*)/i.exec(rawPacket.toString('latin1'))?.[1]?.trim();
}

/** Returns whether the target is too long. Node's parser counts it as part of the header section and reports the same error for both. */
function startsWithLongTarget(packet: unknown): boolean {
  return Buffer.isBuffer(packet) && LONG_TARGET.test(packet.toString('latin1'));
}

/** Writes an error response to the socket and closes the connection. */
export function writeErrorAndClose(
  socket: Socket,
  error: HttpErrorDefinition | ErrorDefinition,
  publicUrl: PublicUrl,
  extra: Record<string, string> = {},
): void {
  const { status, headers, body } = errorResponse(error, publicUrl);
  const lines = Object.entries({ ...headers, ...extra }).map(([name, value]) => `${name}: ${value}\r\n`);
  socket.write(`HTTP/1.1 ${String(status)} ${STATUS_CODES[status] ?? ''}\r\n${lines.join('')}\r\n${body}`);
  connectionOf(socket).close();
}

function errorResponse(
  definition: HttpErrorDefinition | ErrorDefinition,
  publicUrl: PublicUrl,
): { status: number; headers: Record<string, string>; body: string } {
  const error = defaultErrorBody(definition);
  const body = JSON.stringify(error);
  return {
    status: error.status,
    body,
    headers: {
      Date: new Date().toUTCString(),
      'Content-Type': 'application/json',
      'Content-Length': String(Buffer.byteLength(body)),
      'Cache-Control': 'no-store',
      Link: helpLink(publicUrl, error.code),
      'X-Content-Type-Options': 'nosniff',
      'X-Request-Id': newRequestId(),
      Connection: 'close',
    },
  };
}
