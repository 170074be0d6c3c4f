import { createServer, IncomingMessage, METHODS, type RequestListener, type Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { DomainError } from '@animal-store/kernel';
import type { FastifyInstance } from 'fastify';
import { HEADER_SECTION_BYTES, HTTP_ERRORS, HttpError, type RequestError, SERVICE_UNAVAILABLE } from '../errors/http-errors.js';
import type { CountShed } from '../observability/shed-requests.js';
import type { Config } from '../config/config.js';
import { declaresTooLargeBody } from './request-body.js';

/** How long a client has to read the last response: a reset would discard what it has not read. */
const LINGER_MS = 2_000;

const KNOWN_METHODS = new Set(METHODS);

const CONNECTION = Symbol('connection');

declare module 'node:net' {
  interface Socket {
    [CONNECTION]?: Connection | undefined;
  }
}

declare module 'node:http' {
  interface IncomingMessage {
    /** Why the request could not be read. */
    failure?: RequestError | undefined;
    /** The target as it was received, if the router cannot parse that. */
    originalUrl?: string;
    /** Sends 100 Continue to a client that waits for it with a large body. */
    sendContinue?: () => void;
  }
}

export class Connection {
  /** Requests whose responses have not been handed to the operating system. */
  pending = 0;
  /** No further request is processed (RFC 9112, section 9.6). */
  isEnded = false;
  /** The last request so far; requests may be pipelined. */
  lastRequest: IncomingMessage | undefined;
  private last: (() => void) | undefined;

  constructor(readonly socket: Socket) {
    // Node calls this after a response with `Connection: close`. The original resets the connection if there are unread bytes.
    socket.destroySoon = () => this.close();
  }

  begin(request: IncomingMessage, response: ServerResponse): void {
    this.lastRequest = request;
    this.pending++;
    response.on('close', this.finish);
  }

  /** Accepts no further requests, and calls `last` after the pending responses. */
  end(last = () => this.close()): void {
    this.isEnded = true;
    if (this.pending === 0) last();
    else this.last = last;
  }

  /** Closes the connection after the client has read the responses, or when its time is over. Further input is dropped. */
  close(): void {
    this.isEnded = true;
    this.socket.end();
    this.socket.resume();
    setTimeout(() => this.socket.destroy(), LINGER_MS).unref();
  }

  private readonly finish = (): void => {
    this.pending--;
    if (this.pending === 0 && this.last && this.socket.writable) this.last();
  };
}

export function connectionOf(socket: Socket): Connection {
  return (socket[CONNECTION] ??= new Connection(socket));
}

/** Calls the listener when the response has been sent or its client is gone, which may be the case already. */
export function onClose(response: ServerResponse, listener: () => void): void {
  if (response.destroyed) listener();
  else response.on('close', listener);
}

/** Whether the process is draining: it still serves requests, but is no longer ready. */
export class Draining {
  isActive = false;
}

/** Adds `Connection: close` to the last response of a connection that has ended, also by its client, and while draining. */
export function endConnections(server: FastifyInstance, draining: Draining): void {
  server.addHook('onSend', ({ raw }, reply, payload, done) => {
    const connection = connectionOf(raw.socket);
    if ((draining.isActive || connection.isEnded || raw.socket.readableEnded) && connection.lastRequest === raw) {
      connection.isEnded = true;
      reply.header('connection', 'close');
    }
    done(null, payload);
  });
}

/** Creates the server of Node.js, with its limits. Requests that it cannot read have a `failure`, and are served like all others. */
export function createNodeServer(serve: RequestListener, options: Config, countShed: CountShed): Server {
  const server = createServer(
    {
      maxHeaderSize: HEADER_SECTION_BYTES,
      headersTimeout: 5_000,
      requestTimeout: 10_000,
      keepAliveTimeout: options.keepAliveSeconds * 1_000,
      connectionsCheckingInterval: 1_000,
      // Node's own response lacks our error shape; the hooks check Host.
      requireHostHeader: false,
      // By default, Node drops a second Authorization or Host without an error.
      joinDuplicateHeaders: true,
      // Saves the stream events of requests without a body.
      optimizeEmptyRequests: true,
    },
    (request, response) => {
      const connection = connectionOf(request.socket);
      // On a connection that is ending, further requests are dropped without a response.
      if (connection.isEnded) {
        request.resume();
        return;
      }
      const failure = malformationOf(request);
      if (failure) {
        request.failure = failure;
        // Fastify runs no hooks for methods of RTSP.
        if (!KNOWN_METHODS.has(request.method ?? '')) request.method = 'GET';
      }
      // The next bytes may not be the beginning of a request.
      if (failure || (request.headers.upgrade !== undefined && mayHaveDroppedBytes(request))) connection.isEnded = true;
      connection.begin(request, response);
      serve(request, response);
    },
  );
  const { databaseConnectTimeoutMs: connectMs, databaseStatementTimeoutMs: statementMs } = options;
  // For clients that do not read. Longer than any request takes: it usually waits for two statements, to look up the key and to run the operation.
  server.timeout = statementMs === 0 ? 0 : Math.max(30_000, 2 * (connectMs + statementMs) + 5_000);
  // A client may end its side of the connection after its last request and still gets the response (RFC 9112, section 9.6).
  Object.assign(server, { httpAllowHalfOpen: true });
  // A hook counts the fields; Node silently drops those above its limit.
  server.maxHeadersCount = 0;

  /** Serves a request, to which Node would respond without our error shape, after the pending ones. Then closes the connection. */
  const serveLast = (request: IncomingMessage) => {
    const { socket } = request;
    const connection = connectionOf(socket);
    connection.lastRequest = request;
    connection.end(() => {
      const response = new ServerResponse(request);
      response.shouldKeepAlive = false;
      response.assignSocket(socket);
      response.on('finish', () => connection.close());
      connection.begin(request, response);
      serve(request, response);
    });
  };
  /** @param head as far as it is known: of several configured origins, none can be allowed without it */
  const fail = (socket: Socket, failure: RequestError, head = '') => {
    const [onlyOrigin, ...otherOrigins] = options.corsOrigins;
    const origin = /\r\norigin:([^\r\n]*)/i.exec(head)?.[1]?.trim() ?? (otherOrigins.length === 0 ? onlyOrigin : undefined);
    const method = head.startsWith('HEAD ') ? 'HEAD' : 'GET';
    serveLast(Object.assign(new IncomingMessage(socket), { failure, method, url: '*', httpVersion: '1.1', headers: { origin } }));
  };

  server.on('clientError', (error: ClientError, socket) => {
    const connection = connectionOf(socket as Socket);
    const { lastRequest } = connection;
    if (error.code === 'ECONNRESET') {
      socket.destroy();
    } else if (connection.isEnded || error.code === 'HPE_CLOSED_CONNECTION') {
      // The last response of the connection is being sent. Further input is dropped.
      connection.isEnded = true;
    } else if (lastRequest && !lastRequest.complete) {
      // The response may have been sent already.
      connection.end();
      if (lastRequest.listenerCount('error') > 0) lastRequest.emit('error', failureOf(error));
    } else {
      fail(connection.socket, failureOf(error), headOf(error));
    }
  });
  server.on('connect', (request) => {
    request.socket.on('error', () => undefined);
    // For all resources, so that the response lists the methods of the server.
    request.url = '*';
    request.failure = malformationOf(request);
    serveLast(request);
  });
  server.on('checkExpectation', (request, response) => server.emit('request', request, response));
  server.on('checkContinue', (request, response) => {
    // A client that gets no 100 Continue need not send its body. Node.js closes its connection after the response.
    if (declaresTooLargeBody(request)) request.sendContinue = () => response.writeContinue();
    else if (!malformationOf(request)) response.writeContinue();
    server.emit('request', request, response);
  });
  limitConnections(server, options.maxConnections, countShed, (socket) => fail(socket, new DomainError(SERVICE_UNAVAILABLE)));
  return server;
}

/** Keeps at most `max` connections. Above that, the oldest idle one is closed. If there is none, the new one is refused. */
function limitConnections(server: Server, max: number, countShed: CountShed, refuse: (socket: Socket) => void): void {
  /** Oldest first. */
  const connections = new Set<Connection>();
  const count = () => countShed('connections');
  // So many of those above the maximum get a 503; Node.js destroys further ones.
  server.maxConnections = Math.ceil(max * 1.01);
  server.on('drop', count);
  // Without a listener, a connection that the process has no file descriptor for would be an uncaught error.
  server.on('error', ({ syscall }: NodeJS.ErrnoException) => {
    if (syscall === 'accept') count();
  });
  server.on('connection', (socket) => {
    // Node.js keeps the address that it has read once. Later the client may be gone, and limits need its address.
    if (socket.remoteAddress === undefined) {
      socket.destroy();
      return;
    }
    const newest = connectionOf(socket);
    connections.add(newest);
    socket.once('close', () => connections.delete(newest));
    if (connections.size <= max) return;
    for (const connection of connections) {
      if (connection.pending > 0 || connection === newest) continue;
      connections.delete(connection);
      connection.socket.destroy();
      return;
    }
    count();
    refuse(socket);
  });
}

interface ClientError extends Error {
  readonly code?: string;
  /** Position of the error in `rawPacket`. */
  readonly bytesParsed?: number;
  readonly rawPacket?: Buffer;
}

function failureOf({ code }: ClientError): HttpError {
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT') return new HttpError(HTTP_ERRORS.requestTimeout);
  return new HttpError(code === 'HPE_HEADER_OVERFLOW' ? HTTP_ERRORS.headersTooLarge : HTTP_ERRORS.malformedRequest);
}

const REQUEST_LINE = /\b[A-Z]+ (?:\/|\*|http)/g;

/** Returns the text of the request with the error, from its request line on if that is in the same packet. Requests may be pipelined. */
function headOf({ rawPacket, bytesParsed }: ClientError): string {
  const text = rawPacket?.toString('latin1') ?? '';
  return text.slice([...text.slice(0, bytesParsed).matchAll(REQUEST_LINE)].at(-1)?.index);
}

/** uri-host [ ":" port ] (RFC 9112, section 3.2). A comma means that the field was repeated. */
const HOST = /^(?:\[[\w.~!$&'()*+;=:-]+\]|[\w.~!$&'()*+;=%-]*)(?::\d*)?$/;
/** With the empty list elements that RFC 9110, section 5.6.1.2, allows. */
const CHUNKED = /^[\s,]*chunked[\s,]*$/i;

/** Returns why a request is malformed that Node's HTTP parser accepts. */
function malformationOf({ headers, httpVersion, httpVersionMajor, method = '' }: IncomingMessage): HttpError | undefined {
  const { host, expect, 'transfer-encoding': coding } = headers;
  // A request line without a version is HTTP/0.9. HTTP/1.0 has no transfer codings (RFC 9112, section 6.1).
  if (httpVersionMajor !== 1 || !KNOWN_METHODS.has(method) || (coding !== undefined && (httpVersion === '1.0' || !CHUNKED.test(coding))))
    return new HttpError(HTTP_ERRORS.malformedRequest);
  if (host === undefined ? httpVersion === '1.1' : !HOST.test(host))
    return new HttpError(HTTP_ERRORS.malformedRequest, 'The request must have exactly one valid Host header.');
  if (expect !== undefined && httpVersion === '1.1' && !/^100-continue$/i.test(expect)) return new HttpError(HTTP_ERRORS.expectationFailed);
  return undefined;
}

/** Returns whether bytes may have followed a request with Upgrade, which is ignored. Node drops them, even in the middle of a body. */
function mayHaveDroppedBytes({ headers, socket }: IncomingMessage): boolean {
  const { parser } = socket as { parser?: { getCurrentBuffer?: () => Buffer | undefined } };
  const received = parser?.getCurrentBuffer?.() ?? '';
  const hasBody = headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0;
  return hasBody || received.indexOf('\r\n\r\n') !== received.length - 4;
}
