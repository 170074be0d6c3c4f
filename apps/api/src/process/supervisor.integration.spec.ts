import cluster from 'node:cluster';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { type AddressInfo, connect, createServer, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { waitFor } from '@animal-store/local-postgres/testing';
import { afterEach, beforeEach, expect, it } from '@jest/globals';
import pino from 'pino';
import { Supervisor, type SupervisorOptions } from './supervisor.js';
import { canSharePort, findWorkerPort } from './worker-port.js';

const HOST = '127.0.0.1';
const LISTEN = `
  const server = require('node:net').createServer((socket) => socket.end(String(process.pid))).on('error', () => process.exit(78));
  const report = () => process.send({ isWorker: true, listening: server.address() });
  const listen = () => server.listen({ port: process.env.PORT, host: '${HOST}', reusePort: ${String(canSharePort)} }, report);`;
/** The first worker exits when the second one starts. Other workers listen after the first one has exited. */
const FIRST_EXITS = `
  const { existsSync, readFileSync, writeFileSync } = require('node:fs');
  const [first, second] = [__dirname + '/first', __dirname + '/second'];
  const until = (condition, action) => (condition() ? action() : setTimeout(until, 10, condition, action));
  const hasExited = (pid) => { try { return !process.kill(pid, 0); } catch { return true; } };
  if (existsSync(first)) {
    writeFileSync(second, '');
    until(() => hasExited(Number(readFileSync(first, 'utf8'))), listen);
  } else {
    writeFileSync(first, String(process.pid));
    listen();
    until(() => existsSync(second), () => process.exit(1));
  }`;

let folder: string;
let taken: Server;
let takenPort: number;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'animal-store-supervisor-'));
  taken = createServer().listen(0, HOST);
  await once(taken, 'listening');
  takenPort = (taken.address() as AddressInfo).port;
});

afterEach(async () => {
  taken.close();
  await rm(folder, { recursive: true });
});

async function supervise(program: string, options: Pick<SupervisorOptions, 'port'> & Partial<SupervisorOptions>): Promise<Supervisor> {
  const exec = join(folder, 'worker.cjs');
  await writeFile(exec, LISTEN + program);
  const logger = pino({ level: 'silent' });
  return new Supervisor({ host: HOST, workers: 2, exec, env: {}, logger, onGiveUp: () => undefined, ...options });
}

it('uses another free port if a process has taken the found one', async () => {
  const freePort = await findWorkerPort(HOST);
  const ports = [takenPort, freePort];
  const supervisor = await supervise('listen()', { port: 0, findPort: () => Promise.resolve(ports.shift() ?? 0) });
  expect(await supervisor.start()).toMatchObject({ port: freePort });
  await supervisor.stop('SIGTERM');
});

it('fails if the configured port is in use', async () => {
  const supervisor = await supervise('listen()', { port: takenPort });
  await expect(supervisor.start()).rejects.toMatchObject({ code: 'EADDRINUSE', port: takenPort });
});

it('replaces a worker that has listened and exits before the others listen', async () => {
  const supervisor = await supervise(FIRST_EXITS, { port: 0 });
  await supervisor.start();
  await waitFor(() => expect(Object.keys(cluster.workers ?? {})).toHaveLength(2));
  await supervisor.stop('SIGTERM');
});

it('distributes connections over its workers, which accept them without the supervisor', async () => {
  const supervisor = await supervise('listen()', { port: 0 });
  const { port } = await supervisor.start();
  const pids = await Promise.all(Array.from({ length: 64 }, () => text(connect(port, HOST))));
  expect(new Set(pids)).toEqual(new Set(Object.values(cluster.workers ?? {}).map((worker) => String(worker?.process.pid))));
  await supervisor.stop('SIGTERM');
});
