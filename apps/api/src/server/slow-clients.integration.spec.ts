import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { describe, expect, it } from '@jest/globals';
import { useTestApp } from '../testing/test-app.js';

const service = useTestApp(['pets:read', 'pets:write'], { env: { RATE_LIMIT: '0' } });

function open(): Socket {
  const { hostname, port } = new URL(service.url);
  return connect(Number(port), hostname).on('error', () => undefined);
}

/** Sends the text and then `more` every 100 ms, until the server closes the connection. Resolves to the response. */
async function trickle(text: string, more: string): Promise<string> {
  const socket = open();
  socket.write(text);
  const timer = setInterval(() => socket.write(more), 100);
  let received = '';
  socket.on('data', (data) => (received += data.toString()));
  await once(socket, 'close');
  clearInterval(timer);
  return received;
}

it('the timeout is 5 seconds for the header section, and 10 seconds for the request', () => {
  expect(service.app.getHttpServer()).toMatchObject({ headersTimeout: 5_000, requestTimeout: 10_000 });
});

describe('a slow client', () => {
  const post = () => `POST /v1/pets HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${service.key}\r\nContent-Type: application/json\r\n`;

  // Concurrent, because each takes seconds.
  it.concurrent.each([
    ['its first byte', () => '', ''],
    ['the header section', () => 'GET /v1/pets HTTP/1.1\r\nHost: x\r\nX: ', 'y'],
    ['header fields', () => 'GET /v1/pets HTTP/1.1\r\nHost: x\r\n', 'X: y\r\n'],
    ['the body', () => `${post()}Content-Length: 1000\r\n\r\n`, ' '],
    ['chunks', () => `${post()}Transfer-Encoding: chunked\r\n\r\n`, '1\r\n \r\n'],
  ])('gets 408 and is disconnected: %s', async (_what, begin, more) => {
    const [head = '', body = ''] = (await trickle(begin(), more)).split('\r\n\r\n');
    expect(head).toMatch(/^HTTP\/1\.1 408 /);
    expect(head).toMatch(/^Connection: close$/im);
    expect(JSON.parse(body)).toEqual({ code: 'request_timeout', message: expect.any(String), status: 408 });
  });
});

it('a client that sends the body of a second request slowly gets 408 after the response to the first', async () => {
  const post = `POST /v1/pets HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${service.key}\r\nContent-Type: application/json\r\n`;
  const received = await trickle(`${post}Content-Length: 2\r\n\r\n{}${post}Content-Length: 1000\r\n\r\n`, ' ');
  expect(received.match(/(?<=HTTP\/1\.1 )\d+/g)).toEqual(['400', '408']);
});

describe('a fast client', () => {
  it('gets the responses to pipelined requests in order', async () => {
    const COUNT = 64;
    const socket = open();
    const requests = Array.from(
      { length: COUNT },
      (_, i) => `GET /v1/pets/${String(i)} HTTP/1.1\r\nHost: x\r\nX-Request-Id: r${String(i)}\r\n\r\n`,
    );
    socket.write(requests.join(''));
    let received = '';
    socket.on('data', (data) => (received += data.toString()));
    const statuses = () => received.match(/(?<=HTTP\/1\.1 )\d+/g) ?? [];
    while (statuses().length < COUNT) await once(socket, 'data');
    expect([...received.matchAll(/^x-request-id: (\S+)\r$/gm)].map(([, id]) => id)).toEqual(requests.map((_, i) => `r${String(i)}`));
    for (const status of statuses()) expect(status).toBe('401');
    socket.destroy();
  });

  it('may keep an idle connection open for 72 seconds', async () => {
    const response = await fetch(`${service.url}/health/live`);
    expect([response.headers.get('keep-alive'), await response.json()]).toEqual(['timeout=72', { status: 'ok' }]);
  });
});
