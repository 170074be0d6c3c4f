import { readFile, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:tls';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Certificates, createCertificates } from '@animal-store/local-postgres/testing';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { FakeRedis } from './testing/fake-redis.js';
import { checkRedis } from './redis-counters.js';
import { parseRedisUrl } from './redis-url.js';

let certificates: Certificates;
let redis: FakeRedis;

beforeAll(async () => {
  certificates = await createCertificates();
  const [cert, key] = [await readFile(certificates.certificate), await readFile(certificates.key)];
  redis = await FakeRedis.start((onConnection) => createServer({ cert, key }, onConnection).on('tlsClientError', () => undefined));
});

afterAll(async () => {
  await redis.stop();
  await certificates.remove();
});

async function connect(host: string, parameters: string, credentials = ''): Promise<boolean> {
  const query = parameters.replace('CA', certificates.ca);
  return connectTo(`rediss://${credentials}${host}:${redis.port}?${query}`);
}

/** Tries again like the service, because a busy machine may take longer for TLS than the time limit. */
async function connectTo(url: string | { file: string }): Promise<boolean> {
  for (let attempt = 1; attempt <= 5; attempt++) {
    const isConnected = await checkRedis(url, 'spec').then(
      () => true,
      () => false,
    );
    if (isConnected) return true;
  }
  return false;
}

describe('a rediss:// URL', () => {
  it.each([
    ['sslmode=require', true, true],
    ['sslmode=verify-ca&sslrootcert=CA', true, true],
    ['sslrootcert=CA', false, true],
    ['', false, false],
  ])('with %j connects by address: %s, by name: %s', async (parameters, byAddress, byName) => {
    expect(await connect('127.0.0.1', parameters)).toBe(byAddress);
    expect(await connect('localhost', parameters)).toBe(byName);
  });

  it('in a file is read again for each new connection', async () => {
    const file = join(certificates.ca, '..', 'redis-url');
    const write = (password: string) =>
      writeFile(file, `rediss://store:${password}@localhost:${redis.port}?sslrootcert=${certificates.ca}\n`);
    for (const password of ['first', 'second']) {
      await write(password);
      redis.commands.length = 0;
      expect(await connectTo({ file })).toBe(true);
      expect(redis.commands[0]).toEqual(['AUTH', 'store', password]);
    }
    await rm(file);
  });
});

it.each([
  [
    'redis://us%40er:p%25ss@localhost:6380/2',
    { socket: { host: 'localhost', port: 6380 }, username: 'us@er', password: 'p%ss', database: 2 },
  ],
  ['redis://:secret@[::1]/', { socket: { host: '::1', port: 6379 }, password: 'secret', database: 0 }],
  ['rediss://localhost?sslmode=require', { socket: { tls: true, rejectUnauthorized: false } }],
  ['rediss://localhost?sslmode=verify-full', parseRedisUrl('rediss://localhost')],
])('%s is parsed', (url, parsed) => {
  expect(parseRedisUrl(url)).toMatchObject(parsed);
});

it.each([
  ['http://localhost', 'must be a redis:// or rediss:// URL'],
  ['localhost:6379', 'must be a redis:// or rediss:// URL'],
  ['redis://localhost?sslmode=require', 'must be a rediss:// URL with sslmode or sslrootcert'],
  ['rediss://localhost?sslmode=prefer', 'must have an sslmode of require, verify-ca, verify-full'],
  ['rediss://localhost?sslmod=require', 'must not have the parameter sslmod: only sslmode and sslrootcert are supported'],
  ['redis://localhost?db=2', 'must not have the parameter db: only sslmode and sslrootcert are supported'],
  ['redis://:a?b@localhost', 'must be a redis:// or rediss:// URL'],
  ['redis://u:1?p@ss@localhost', 'must not have a parameter: only sslmode and sslrootcert are supported'],
  ['rediss://localhost?sslmode=verify-full&sslmode=off', 'must have an sslmode of require, verify-ca, verify-full'],
  ['redis://localhost/store', 'must end with the number of the database, such as /0'],
  ['redis://localhost/0#x', 'must end with the number of the database, such as /0'],
  ['redis://user@localhost', 'must have a password with the user name'],
  ['redis://local\nhost', 'must not contain line breaks or other control characters'],
  ['redis://:100%@localhost', 'must be percent-encoded; write % as %25'],
])('%s is rejected: %s', (url, message) => {
  expect(() => parseRedisUrl(url)).toThrow(new Error(message));
});

it('rejects a file of sslrootcert that is empty, which would mean any public CA', async () => {
  const file = join(tmpdir(), `empty-${String(process.pid)}.pem`);
  await writeFile(file, '');
  expect(() => parseRedisUrl(`rediss://localhost?sslrootcert=${file}`)).toThrow(file);
  await rm(file);
});
