import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Server } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { TcpProxy } from './tcp-proxy.js';

const BYTES = 1024 * 1024;
let server: Server;
let url: string;
beforeAll(async () => {
  server = createServer((socket) => socket.on('error', () => undefined).end(Buffer.alloc(BYTES))).listen(0, '127.0.0.1');
  await once(server, 'listening');
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterAll(() => void server.close());

it('closes new connections while there is no server for them, and transfers everything that a server sends before it closes its own', async () => {
  const targets: string[] = [];
  const proxy = await TcpProxy.startFor(() => targets[0]);
  const receive = () => buffer(connect(Number(new URL(proxy.url).port), '127.0.0.1'));
  expect((await receive()).length).toBe(0);
  targets.push(url);
  expect((await receive()).length).toBe(BYTES);
  await proxy.cut();
});
