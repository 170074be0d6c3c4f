import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';

const CONNECTIONS = 200;
const FLOODS_AT_ONCE = 20;
/** Maximum number of pipelined requests per connection. */
const PIPELINED = 64;
/** Twice the maximum size of headers. */
const HEADER_LINES = Array.from({ length: 160 }, (_, i) => `X-Flood-${String(i)}: ${'x'.repeat(100)}\r\n`).join('');
const TOO_LARGE = 'HTTP/1.1 431 ';

function open(url: string): Socket {
  const { port, hostname } = new URL(url);
  return connect(Number(port), hostname).on('error', () => undefined);
}

/** Opens connections that send nothing, or a text whose responses they do not read. */
export async function openSockets(url: string, count: number, ms: number, text?: string): Promise<void> {
  const sockets = Array.from({ length: count }, () => open(url));
  if (text !== undefined) for (const socket of sockets) socket.pause().write(text);
  await sleep(ms);
  for (const socket of sockets) socket.destroy();
}

/** Opens connections that send a byte every 200 ms: half of them within the headers, half of them within the body. */
export async function sendSlowly(url: string, ms: number): Promise<void> {
  const headers = 'GET /v1/pets HTTP/1.1\r\nHost: a\r\nX-Slow: ';
  const body = 'POST /v1/pets HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nContent-Length: 60000\r\n\r\n';
  const sockets = Array.from({ length: CONNECTIONS }, (_, i) => {
    const socket = open(url).resume();
    socket.write(i % 2 ? headers : body);
    return socket;
  });
  for (const end = performance.now() + ms; performance.now() < end; await sleep(200))
    for (const socket of sockets) if (socket.writable) socket.write('x');
  for (const socket of sockets) socket.destroy();
}

/** Opens connections that pipeline many requests and read no response. */
export function leaveResponsesUnread(url: string, key: string, ms: number): Promise<void> {
  const request = `GET /v1/pets?limit=100 HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${key}\r\n\r\n`;
  return openSockets(url, CONNECTIONS, ms, request.repeat(PIPELINED));
}

/** Opens connections that send too many headers. Throws unless each gets a 431 before it is closed. */
export async function floodHeaders(url: string, ms: number): Promise<void> {
  const end = performance.now() + ms;
  const floodOn = async () => {
    while (performance.now() < end) {
      const socket = open(url).setEncoding('latin1');
      let received = '';
      socket.on('data', (text: string) => (received += text));
      socket.write(`GET /v1/pets HTTP/1.1\r\nHost: a\r\n${HEADER_LINES}\r\n`);
      await once(socket, 'close');
      if (!received.startsWith(TOO_LARGE))
        throw new Error(`expected status 431 for too many headers, received "${received.slice(0, 200)}"`);
    }
  };
  await Promise.all(Array.from({ length: FLOODS_AT_ONCE }, floodOn));
}
