import cluster from 'node:cluster';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { type AddressInfo, connect, createServer, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { waitFor } from '@animal-store/local-postgres/testing';
import { afterEach, beforeEach, expect, it } from '@jest/globals';
import pino from 'pino';
import { findWorkerPort, Supervisor, type SupervisorOptions } from './supervisor.js';

const HOST = '127.0.0.1';
const LISTEN = `const listen = () => require('node:net').createServer((socket) => socket.end()).on('error', () => process.exit(78)).listen(process.env.PORT, '${HOST}');`;
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
  await expect(supervisor.start()).rejects.toThrow('The workers could not start; the cause is logged above.');
});

it('reports a host that is not an address of this machine', async () => {
  const supervisor = await supervise('listen()', { host: '192.0.2.1', port: 0 });
  await expect(supervisor.start()).rejects.toMatchObject({ code: 'EADDRNOTAVAIL' });
});

it('replaces a worker that has listened and exits before the others listen', async () => {
  const supervisor = await supervise(FIRST_EXITS, { port: 0 });
  await supervisor.start();
  await waitFor(() => expect(Object.keys(cluster.workers ?? {})).toHaveLength(2));
  await supervisor.stop('SIGTERM');
});

it('closes the connections that a killed worker has not accepted', async () => {
  const supervisor = await supervise('listen()', { port: 0 });
  const { port } = await supervisor.start();
  const workers = Object.values(cluster.workers ?? {}).flatMap((worker) => worker ?? []);
  for (const { process } of workers) process.kill('SIGSTOP');
  // One connection is handed to each worker.
  const sockets = workers.map(() => connect(port, HOST).on('error', () => undefined));
  const closed = Promise.all(sockets.map((socket) => once(socket, 'close')));
  await Promise.all(sockets.map((socket) => once(socket, 'connect')));
  await setImmediate();
  for (const { process } of workers) process.kill('SIGKILL');
  await closed;
  await supervisor.stop('SIGTERM');
});
