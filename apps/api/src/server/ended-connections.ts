import type { Socket } from 'node:net';

const ended = new WeakSet<Socket>();

/** To be told with `Connection: close`: what the client has sent behind this request is no longer carried out (RFC 9112, section 9.6). */
export function endConnection(socket: Socket): void {
  ended.add(socket);
}

export function isConnectionEnded(socket: Socket): boolean {
  return ended.has(socket);
}
