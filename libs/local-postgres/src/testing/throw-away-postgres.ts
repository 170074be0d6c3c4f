import { existsSync, rmSync } from 'node:fs';
import { mkdtemp, readdir, realpath, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { databaseUrl, ensureDatabase, startInFolder } from '../data-folder.js';
import { lockFolder } from '../folder-lock.js';
import { stopLeftOverServer } from '../left-over-server.js';
import { findRuntime } from '../runtime.js';

const PREFIX = 'animal-store-test-';
const ABANDONED_AFTER_MS = 60_000;
const EXIT_WITHIN_MS = 5_000;
const EXIT_POLL_MS = 10;
const SETTINGS = ['fsync=off', 'synchronous_commit=off', 'full_page_writes=off', 'max_connections=300'];

export interface ThrowAwayPostgres {
  /** Of an empty database, as a superuser. */
  readonly url: string;
  stop(): Promise<void>;
}

/** A server for tests and measurements: fast, not durable, in a temporary folder. It goes with the process. */
export async function startThrowAwayPostgres(): Promise<ThrowAwayPostgres> {
  await removeAbandoned();
  const folder = await realpath(await mkdtemp(join(tmpdir(), PREFIX)));
  const result = await lockFolder(folder, () => ({ isTransient: false, description: `process ${process.pid}` }));
  if ('holder' in result) throw new Error(`${folder} is in use by ${result.holder.description}`);
  const { server, password } = await startInFolder(folder, { durable: false, settings: SETTINGS }).catch(async (error: unknown) => {
    await rm(folder, { recursive: true, force: true });
    throw error;
  });
  const url = databaseUrl(server.port, password);
  await ensureDatabase(url);

  const killAtExit = () => {
    server.kill();
    // The server removes this file last. No event is delivered any more, so wait by blocking.
    const pidFile = join(folder, 'postgres', 'postmaster.pid');
    const deadline = Date.now() + EXIT_WITHIN_MS;
    while (existsSync(pidFile) && Date.now() < deadline) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, EXIT_POLL_MS);
    rmSync(folder, { recursive: true, force: true, maxRetries: 10 });
  };
  const exitAtSignal = (signal: NodeJS.Signals) => {
    process.off(signal, exitAtSignal);
    // Another listener decides by itself; without one the signal would have ended the process.
    if (process.listenerCount(signal) === 0) process.exit(signal === 'SIGINT' ? 130 : 143);
  };
  process.once('exit', killAtExit).on('SIGINT', exitAtSignal).on('SIGTERM', exitAtSignal);
  return {
    url,
    async stop() {
      process.off('exit', killAtExit).off('SIGINT', exitAtSignal).off('SIGTERM', exitAtSignal);
      await server.stop();
      await rm(folder, { recursive: true, force: true });
      await result.lock.release();
    },
  };
}

/** What runs that were killed have left. A folder younger than a minute may not have been locked yet by its maker. */
async function removeAbandoned(): Promise<void> {
  const parent = await realpath(tmpdir());
  for (const name of await readdir(parent)) {
    if (!name.startsWith(PREFIX)) continue;
    const folder = join(parent, name);
    const stats = await stat(folder).catch(() => undefined);
    if (!stats || Date.now() - stats.mtimeMs < ABANDONED_AFTER_MS) continue;
    await removeUnlessInUse(folder).catch(() => undefined);
  }
}

async function removeUnlessInUse(folder: string): Promise<void> {
  const result = await lockFolder(folder, () => ({ isTransient: true, description: `a cleaner (process ${process.pid})` }));
  if ('holder' in result) return;
  try {
    await stopLeftOverServer({
      folder: join(folder, 'postgres'),
      logFile: join(folder, 'postgres.log'),
      runtime: await findRuntime(folder),
    });
    await rm(folder, { recursive: true, force: true });
  } finally {
    await result.lock.release();
  }
}
