import { rmSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { PostgresServer } from '../postgres-server.js';
import { createTemporaryFolder } from './temporary-folder.js';

const SETTINGS = ['fsync=off', 'synchronous_commit=off', 'full_page_writes=off', 'max_connections=300'];
const EXIT_CODES = { SIGHUP: 129, SIGINT: 130, SIGTERM: 143 };

export interface ThrowAwayPostgres {
  /** URL of an empty database, with a superuser. */
  readonly url: string;
  stop(): Promise<void>;
}

/** Starts a fast server without durability in a temporary folder. It stops when the process exits. */
export async function startThrowAwayPostgres(): Promise<ThrowAwayPostgres> {
  const folder = await createTemporaryFolder();
  const server = await PostgresServer.open(folder, ['--no-sync']);
  const removeAtExit = () => {
    if (server.pid !== undefined) process.kill(server.pid, 'SIGQUIT');
    // The server may still write files while it stops.
    rmSync(folder, { recursive: true, force: true, maxRetries: 100, retryDelay: 10 });
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
    await server.stop();
    await rm(folder, { recursive: true, force: true });
    process.off('exit', removeAtExit);
    for (const signal of signals) process.off(signal, exitAtSignal);
  };
  await server.start(SETTINGS).catch(async (error: unknown) => {
    await stop();
    throw error;
  });
  return { url: server.url(), stop };
}
