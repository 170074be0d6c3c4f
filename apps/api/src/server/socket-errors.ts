import { type Server, type ServerResponse, STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import type { ErrorDefinition } from '@animal-store/kernel';
import { publicError } from '../errors/error-catalogue.js';
import { HTTP_ERRORS, type HttpErrorDefinition } from '../errors/http-errors.js';
import { declaresTooLargeBody } from '../validation/request-body.js';
import { connectionOf } from './connection.js';
import { newRequestId } from './request-id.js';

const LINGER_MS = 2_000;

interface ClientError {
  readonly code?: string;
  /** Node gives a Buffer, whatever Fastify's types say. */
  readonly rawPacket?: unknown;
}

/** What Node's HTTP parser and server refuse before there is a request: the same error shape, then the connection closes. */
export function answerClientError(error: ClientError, socket: Socket & { _httpMessage?: ServerResponse | null }): void {
  // Once an answer has begun on this connection, a second one would be read as part of it.
  if (!socket.writable || error.code === 'ECONNRESET' || socket._httpMessage?.headersSent) {
    socket.destroy();
    return;
  }
  writeAndClose(socket, definitionOf(error));
}

/** What Node answers by itself, without the error shape, unless it is listened for. */
export function answerSpecialRequests(server: Server): void {
  server.on('checkExpectation', (request, response) => {
    connectionOf(request.socket).isEnded = true;
    const { headers, body } = plainAnswer(HTTP_ERRORS.expectationFailed);
    response.writeHead(HTTP_ERRORS.expectationFailed.status, headers).end(body);
  });
  server.on('checkContinue', (request, response) => {
    // A client that asks first is not told to send what would be refused.
    if (!declaresTooLargeBody(request)) response.writeContinue();
    server.emit('request', request, response);
  });
  server.on('connect', (_request, socket: Duplex) => {
    socket.on('error', () => undefined);
    writeAndClose(socket, HTTP_ERRORS.methodNotAllowed, { Allow: 'GET, HEAD, POST, OPTIONS' });
  });
}

function definitionOf({ code, rawPacket }: ClientError): HttpErrorDefinition {
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT') return HTTP_ERRORS.requestTimeout;
  if (code === 'HPE_HEADER_OVERFLOW') return startsWithLongTarget(rawPacket) ? HTTP_ERRORS.uriTooLong : HTTP_ERRORS.headersTooLarge;
  return HTTP_ERRORS.malformedRequest;
}

/** The parser counts the request target as part of the header section; its own error does not tell them apart. */
function startsWithLongTarget(packet: unknown): boolean {
  return Buffer.isBuffer(packet) && /^[A-Z]+ [^ \r\n]{4097}/.test(packet.toString('latin1'));
}

/** Writes a response without a request, and closes the connection once the client had time to read it. */
export function writeAndClose(socket: Duplex, error: HttpErrorDefinition | ErrorDefinition, extra: Record<string, string> = {}): void {
  const { status, headers, body } = plainAnswer(error);
  const lines = Object.entries({ ...headers, ...extra }).map(([name, value]) => `${name}: ${value}\r\n`);
  socket.end(`HTTP/1.1 ${String(status)} ${STATUS_CODES[status] ?? ''}\r\n${lines.join('')}\r\n${body}`);
  // What the client still sends is dropped, since closing at once could take the answer from it.
  socket.resume();
  setTimeout(() => socket.destroy(), LINGER_MS).unref();
}

function plainAnswer(definition: HttpErrorDefinition | ErrorDefinition): { status: number; headers: Record<string, string>; body: string } {
  const error = publicError(definition);
  const body = JSON.stringify(error);
  return {
    status: error.status,
    body,
    headers: {
      Date: new Date().toUTCString(),
      'Content-Type': 'application/json',
      'Content-Length': String(Buffer.byteLength(body)),
      'Cache-Control': 'no-store',
      'X-Content-Type-Options': 'nosniff',
      'X-Request-Id': newRequestId(),
      Connection: 'close',
    },
  };
}
