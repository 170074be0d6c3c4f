import { existsSync, rmSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { PostgresServer } from '../postgres-server.js';
import { createTemporaryFolder } from './temporary-folder.js';

const SETTINGS = ['fsync=off', 'synchronous_commit=off', 'full_page_writes=off', 'max_connections=300'];
const REMOVE_TIMEOUT_MS = 5_000;
const REMOVE_POLL_MS = 10;
const EXIT_CODES = { SIGHUP: 129, SIGINT: 130, SIGTERM: 143 };

export interface ThrowAwayPostgres {
  /** URL of an empty database, with a superuser. */
  readonly url: string;
  stop(): Promise<void>;
}

/** Starts a fast server without durability in a temporary folder. It stops when the process exits. */
export async function startThrowAwayPostgres(): Promise<ThrowAwayPostgres> {
  const folder = await createTemporaryFolder();
  let server: PostgresServer | undefined;
  const removeAtExit = () => {
    server?.process?.kill('SIGQUIT');
    removeSync(folder);
  };
  const exitAtSignal = (signal: keyof typeof EXIT_CODES) => {
    process.off(signal, exitAtSignal);
    // Another listener, if there is one, decides when to exit. Otherwise the process exits, as it would by default.
    if (process.listenerCount(signal) === 0) process.exit(EXIT_CODES[signal]);
  };
  const signals = Object.keys(EXIT_CODES) as (keyof typeof EXIT_CODES)[];
  process.once('exit', removeAtExit);
  for (const signal of signals) process.on(signal, exitAtSignal);
  const stop = async () => {
    const pid = server?.process?.pid;
    if (pid !== undefined) await server?.stop(pid);
    await rm(folder, { recursive: true, force: true });
    process.off('exit', removeAtExit);
    for (const signal of signals) process.off(signal, exitAtSignal);
  };
  try {
    server = await PostgresServer.open(folder, ['--no-sync']);
    const { client, port } = await server.start({ settings: SETTINGS });
    await client.end();
    return { url: server.url(port), stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

/** Removes the folder. Blocks, because a process that exits gets no more events, and the server writes files until it has stopped. */
function removeSync(folder: string): void {
  const deadline = Date.now() + REMOVE_TIMEOUT_MS;
  while (existsSync(folder) && Date.now() < deadline) {
    try {
      rmSync(folder, { recursive: true, force: true });
    } catch {
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, REMOVE_POLL_MS);
    }
  }
}
