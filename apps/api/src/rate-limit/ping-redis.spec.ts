import { once } from 'node:events';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { expect, it } from '@jest/globals';
import { pingRedis } from './ping-redis.js';

/** Runs `work` with the URL of a server that sends this text for each command. */
async function withServer<T>(responses: string, work: (url: string, sockets: readonly Socket[]) => Promise<T>): Promise<T> {
  const sockets: Socket[] = [];
  const server = createServer((socket) => {
    sockets.push(socket);
    socket
      .on('error', () => undefined)
      .on('data', (bytes: Buffer) => {
        socket.write(responses.repeat([...bytes.toString().matchAll(/^\*\d/gm)].length));
      });
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  try {
    return await work(`redis://127.0.0.1:${String((server.address() as AddressInfo).port)}`, sockets);
  } finally {
    for (const socket of sockets) socket.destroy();
    server.close();
  }
}

it('resolves if the server responds, and closes the connection', async () => {
  await withServer('+OK\r\n', async (url, sockets) => {
    await pingRedis(url);
    const [socket, ...others] = sockets;
    expect(others).toEqual([]);
    if (!socket?.destroyed) await once(socket as Socket, 'close');
  });
});

it('rejects after one attempt if the server responds with an error, or is unreachable', async () => {
  const attempts = await withServer('-ERR not now\r\n', async (url, sockets) => {
    await expect(pingRedis(url)).rejects.toThrow('ERR not now');
    return sockets.length;
  });
  expect(attempts).toBe(1);
  await expect(pingRedis('redis://127.0.0.1:1')).rejects.toThrow(/ECONNREFUSED/);
});

it('rejects if the server does not respond', async () => {
  await withServer('', (url) => expect(pingRedis(url)).rejects.toThrow(/timeout/i));
});
