import { once } from 'node:events';
import { readFile, rm, writeFile } from 'node:fs/promises';
import { type AddressInfo } from 'node:net';
import { createServer, type Server, type TLSSocket } from 'node:tls';
import { join } from 'node:path';
import { type Certificates, createCertificates, waitFor } from '@animal-store/local-postgres/testing';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { pino } from 'pino';
import { createRedisClient } from './redis-client.js';
import { parseRedisUrl, redisConnectionOptions } from './redis-url.js';

let certificates: Certificates;
let server: Server;
let received = '';
const sockets: TLSSocket[] = [];

/** Starts a server that responds with OK to every command. */
beforeAll(async () => {
  certificates = await createCertificates();
  server = createServer({ cert: await readFile(certificates.certificate), key: await readFile(certificates.key) }, (socket) => {
    sockets.push(socket);
    socket
      .on('error', () => undefined)
      .on('data', (bytes: Buffer) => {
        const text = bytes.toString();
        received += text;
        socket.write('+OK\r\n'.repeat([...text.matchAll(/^\*\d/gm)].length));
      });
  });
  server.on('tlsClientError', () => undefined).listen(0, '127.0.0.1');
  await once(server, 'listening');
});

afterAll(async () => {
  server.close();
  for (const socket of sockets) socket.destroy();
  await certificates.remove();
});

async function connect(host: string, parameters: string, credentials = ''): Promise<boolean> {
  const { port } = server.address() as AddressInfo;
  const query = parameters.replace(/\b(?:OTHER|CA)\b/, (name) => (name === 'CA' ? certificates.ca : certificates.otherCa));
  return connectTo(`rediss://${credentials}${host}:${port}?${query}`);
}

async function connectTo(url: string | { file: string }): Promise<boolean> {
  const client = createRedisClient(url, pino({ level: 'silent' }));
  const outcome = Promise.race([
    once(client, 'ready').then(() => true),
    new Promise<boolean>((resolve) => client.on('error', () => resolve(false))),
  ]);
  client.connect().catch(() => undefined);
  return outcome.finally(() => client.destroy());
}

// Promise (Connections): Redis URLs support TLS and passwords in files.
describe('a rediss:// URL', () => {
  it.each([
    ['sslmode=require', true, true],
    ['sslmode=verify-ca&sslrootcert=CA', true, true],
    ['sslmode=verify-ca&sslrootcert=OTHER', false, false],
    ['sslmode=verify-full&sslrootcert=CA', false, true],
    ['sslrootcert=CA', false, true],
    ['', false, false],
  ])('with %j connects by address: %s, by name: %s', async (parameters, byAddress, byName) => {
    expect(await connect('127.0.0.1', parameters)).toBe(byAddress);
    expect(await connect('localhost', parameters)).toBe(byName);
  });

  // Promise (Connections): Redis URLs support TLS and passwords in files.
  it('in a file is read again for each new connection', async () => {
    const file = join(certificates.ca, '..', 'redis-url');
    const { port } = server.address() as AddressInfo;
    const rotate = (password: string) => writeFile(file, `rediss://store:${password}@localhost:${port}?sslrootcert=${certificates.ca}\n`);
    await rotate('first');
    const client = createRedisClient({ file }, pino({ level: 'silent' }));
    await client.connect();
    expect(received).toContain('first');
    await rotate('second');
    for (const socket of sockets.splice(0)) socket.destroy();
    await waitFor(() => expect(received).toContain('second'));
    client.destroy();
    await rm(file);
  });
});

it('credentials are decoded and removed from the URL', () => {
  const parsed = parseRedisUrl('redis://us%40er:p%25ss@localhost:6379/2');
  expect(parsed).toEqual({ url: 'redis://localhost:6379/2', tls: {}, credentials: { username: 'us@er', password: 'p%ss' } });
  expect(parseRedisUrl('redis://:secret@localhost').credentials).toEqual({ password: 'secret' });
  expect(parseRedisUrl('redis://localhost').credentials).toBeUndefined();
});

it.each([
  ['http://localhost', 'must be a redis:// or rediss:// URL'],
  ['localhost:6379', 'must be a redis:// or rediss:// URL'],
  ['redis', 'must be a redis:// or rediss:// URL'],
  ['redis://localhost?sslmode=require', 'must be a rediss:// URL with sslmode or sslrootcert'],
  ['redis://localhost?sslrootcert=/ca.pem', 'must be a rediss:// URL with sslmode or sslrootcert'],
  ['rediss://localhost?sslmode=prefer', 'must have an sslmode of require, verify-ca, verify-full'],
  ['rediss://localhost?sslmod=require', 'must not have the parameter sslmod: only sslmode and sslrootcert are supported'],
  ['rediss://localhost?ssl_cert_reqs=none', 'must not have the parameter ssl_cert_reqs: only sslmode and sslrootcert are supported'],
  ['redis://localhost?db=2', 'must not have the parameter db: only sslmode and sslrootcert are supported'],
  ['redis://:a?b@localhost', 'must be a redis:// or rediss:// URL'],
  ['redis://u:1?p@ss@localhost', 'must not have a parameter: only sslmode and sslrootcert are supported'],
  ['rediss://localhost?sslmode=verify-full&sslmode=off', 'must have an sslmode of require, verify-ca, verify-full'],
  ['redis://localhost/store', 'must end with the number of the database, such as /0'],
  ['redis://localhost/0/1', 'must end with the number of the database, such as /0'],
  ['redis://localhost/0#x', 'must end with the number of the database, such as /0'],
  ['redis://user@localhost', 'must have a password with the user name'],
  ['redis://local\nhost', 'must not contain line breaks or other control characters'],
  ['redis://localhost/0\t', 'must not contain line breaks or other control characters'],
  ['redis://:100%@localhost', 'must be percent-encoded; write % as %25'],
  ['redis://us%er:x@localhost', 'must be percent-encoded; write % as %25'],
])('%s is rejected: %s', (url, message) => {
  expect(() => parseRedisUrl(url)).toThrow(new Error(message));
});

it('the connection has no credentials if the URL has none', () => {
  expect(redisConnectionOptions('redis://localhost:6379/2')).toEqual({ url: 'redis://localhost:6379/2', socket: {} });
  expect(redisConnectionOptions('redis://:x@localhost')).toMatchObject({ credentialsProvider: { type: 'async-credentials-provider' } });
  expect(parseRedisUrl('rediss://localhost?sslmode=verify-full')).toEqual(parseRedisUrl('rediss://localhost'));
  expect(parseRedisUrl('rediss://localhost?sslmode=require')).toMatchObject({
    url: 'rediss://localhost',
    tls: { rejectUnauthorized: false },
  });
});
