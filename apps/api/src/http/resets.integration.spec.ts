import { once } from 'node:events';
import { connect, type Server } from 'node:net';
import { Writable } from 'node:stream';
import { waitFor } from '@animal-store/local-postgres/testing';
import { expect, it } from '@jest/globals';
import { createLogger, useTestApp } from './testing/test-app.js';

/** Per minute and address. */
const FAILED_AUTHENTICATIONS = 600;

const lines: string[] = [];
const logger = createLogger('info', new Writable({ write: (line: Buffer, _encoding, done) => done(void lines.push(line.toString())) }));
const service = useTestApp(['pets:read'], { logger });

/** Sends bytes and resets the connection before the server reads them. */
async function sendAndReset(bytes: string): Promise<void> {
  const socket = connect(Number(new URL(service.url).port), '127.0.0.1');
  await Promise.all([once(socket, 'connect'), once(service.app.getHttpServer() as Server, 'connection')]);
  socket.write(bytes);
  socket.resetAndDestroy();
}

it('clients without a key that reset their connections cause no error, and count as failed authentications', async () => {
  const post = 'POST /v1/pets HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{"name":';
  for (let i = 0; i < FAILED_AUTHENTICATIONS / 2; i++) {
    await sendAndReset('GET /v1/pets HTTP/1.1\r\nHost: x\r\n\r\n');
    await sendAndReset(post);
  }
  await waitFor(async () => expect((await fetch(`${service.url}/v1/pets`)).status).toBe(429), { timeoutMs: 20_000 });
  expect(lines.filter((line) => line.includes('request failed'))).toEqual([]);
});
