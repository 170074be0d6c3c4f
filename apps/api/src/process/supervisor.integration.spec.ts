import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer, type AddressInfo, type Server } from 'node:net';
import { once } from 'node:events';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from '@jest/globals';
import pino from 'pino';
import { findFreePort } from './find-free-port.js';
import { Supervisor } from './supervisor.js';

const HOST = '127.0.0.1';
const WORKER = `require('node:net').createServer().on('error', () => process.exit(78)).listen(process.env.PORT, '${HOST}');`;

let folder: string;
let taken: Server;
let takenPort: number;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'animal-store-supervisor-'));
  await writeFile(join(folder, 'worker.cjs'), WORKER);
  taken = createServer().listen(0, HOST);
  await once(taken, 'listening');
  takenPort = (taken.address() as AddressInfo).port;
});

afterEach(async () => {
  taken.close();
  await rm(folder, { recursive: true });
});

function supervise(port: number, findPort?: () => Promise<number>): Supervisor {
  const options = { host: HOST, port, workers: 2, exec: join(folder, 'worker.cjs'), env: {}, onGiveUp: () => undefined };
  return new Supervisor({ ...options, logger: pino({ level: 'silent' }), ...(findPort && { findPort }) });
}

it('uses another free port if a process has taken the found one', async () => {
  const ports = [takenPort, await findFreePort(HOST)];
  const supervisor = supervise(0, () => Promise.resolve(ports.shift() ?? 0));
  const expected = ports[1];
  expect(await supervisor.start()).toMatchObject({ port: expected });
  await supervisor.stop('SIGTERM');
});

it('fails if the configured port is in use', async () => {
  await expect(supervise(takenPort).start()).rejects.toThrow('A worker ended before it listened.');
});
