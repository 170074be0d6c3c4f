import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import type { FastifyRequest } from 'fastify';
import type { Refusal } from '../validation/request-body.js';

/** How long a client has to read the last response before the connection is cut. */
const LINGER_MS = 2_000;

const CONNECTION = Symbol('connection');

declare module 'node:net' {
  interface Socket {
    [CONNECTION]?: Connection | undefined;
  }
}

/** Of the body of a request. */
export interface Reception {
  readonly request: FastifyRequest;
  /** Ends it without the rest of the body. */
  readonly abandon: (refusal: Refusal) => void;
  isOver: boolean;
}

/** What the server knows about a connection. */
export class Connection {
  /** Requests whose responses have not been handed to the kernel. */
  pending = 0;
  /** Responses that are complete but have not been handed to the kernel. */
  unsent = 0;
  /** No further request is carried out: a response has said `Connection: close` (RFC 9112, section 9.6). */
  isEnded = false;
  isClosed = false;
  /** Whether a request has come. */
  isUsed = false;

  receiving: Reception | undefined;
  /** A request that did not get the 100 Continue that it asked for: its client may or may not send the body. */
  withoutContinue: IncomingMessage | undefined;
  private last: (() => void) | undefined;

  constructor(readonly socket: Socket) {
    socket.once('close', () => {
      this.isClosed = true;
    });
    // Node calls it after a response with `Connection: close`. Its own would reset the connection if there are unread bytes.
    socket.destroySoon = () => {
      this.close();
    };
  }

  /** Closes the connection once the client has read what was sent, or had the time to. What still arrives is dropped. */
  close(): void {
    this.isEnded = true;
    const { socket } = this;
    socket.end();
    socket.resume();
    const timer = setTimeout(() => socket.destroy(), LINGER_MS).unref();
    socket.once('close', () => clearTimeout(timer));
  }

  /** Ends the connection, by `last` after the responses to the requests that were carried out. */
  endWith(last: () => void): void {
    this.isEnded = true;
    if (this.pending <= 0) last();
    else this.last = last;
  }

  /** A response has been handed to the kernel. */
  finishResponse(): void {
    this.pending--;
    if (this.pending === 0 && this.last && this.socket.writable) this.last();
  }
}

export function connectionOf(socket: Socket): Connection {
  return (socket[CONNECTION] ??= new Connection(socket));
}
