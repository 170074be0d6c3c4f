import { once } from 'node:events';
import { connect, type Socket } from 'node:net';

/** A GET request as it is sent on a socket. */
export const rawGet = (path: string, fields = '') => `GET ${path} HTTP/1.1\r\nHost: x\r\n${fields}\r\n`;

/** Sends pipelined requests and does not read the responses. */
export async function pipelineUnread(port: number, request: string, times: number): Promise<Socket> {
  const socket = connect(port, '127.0.0.1').on('error', () => undefined);
  await once(socket, 'connect');
  socket.pause();
  socket.write(request.repeat(times));
  return socket;
}
