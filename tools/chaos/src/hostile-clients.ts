import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';

const CONNECTIONS = 200;
const FLOODS_AT_ONCE = 20;
/** As many as one connection may have waiting. */
const PIPELINED = 64;
/** Twice what the service reads of headers. */
const HEADER_LINES = Array.from({ length: 160 }, (_, i) => `X-Flood-${String(i)}: ${'x'.repeat(100)}\r\n`).join('');
const TOO_LARGE = 'HTTP/1.1 431 ';

function open(url: string): Socket {
  const { port, hostname } = new URL(url);
  return connect(Number(port), hostname).on('error', () => undefined);
}

/** Connections that send many requests one behind the other and read none of the responses. */
export async function unreadResponses(url: string, key: string, ms: number): Promise<void> {
  const request = `GET /v1/pets?limit=100 HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${key}\r\n\r\n`;
  const sockets = Array.from({ length: CONNECTIONS }, () => {
    const socket = open(url).pause();
    socket.write(request.repeat(PIPELINED));
    return socket;
  });
  await sleep(ms);
  for (const socket of sockets) socket.destroy();
}

/** One connection after the other that sends more headers than the service reads. Throws unless each gets a 431 before it is closed. */
export async function headerFloods(url: string, ms: number): Promise<void> {
  const end = Date.now() + ms;
  const floodOn = async () => {
    while (Date.now() < end) {
      const socket = open(url).setEncoding('latin1');
      let received = '';
      socket.on('data', (text: string) => (received += text));
      socket.write(`GET /v1/pets HTTP/1.1\r\nHost: a\r\n${HEADER_LINES}\r\n`);
      await once(socket, 'close');
      if (!received.startsWith(TOO_LARGE)) throw new Error(`too many headers were answered with "${received.slice(0, 200)}"`);
    }
  };
  await Promise.all(Array.from({ length: FLOODS_AT_ONCE }, floodOn));
}
