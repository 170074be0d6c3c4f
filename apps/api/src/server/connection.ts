import type { Socket } from 'node:net';

const CONNECTION = Symbol('connection');

declare module 'node:net' {
  interface Socket {
    [CONNECTION]?: Connection | undefined;
  }
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

  constructor(readonly socket: Socket) {
    socket.once('close', () => {
      this.isClosed = true;
    });
  }
}

export function connectionOf(socket: Socket): Connection {
  return (socket[CONNECTION] ??= new Connection(socket));
}
