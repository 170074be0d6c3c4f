import { setTimeout as sleep } from 'node:timers/promises';
import { join } from 'node:path';
import { readPostmasterFile, type Server, startServer } from './cluster.js';
import { type DataFolder, databaseUrl, ensureDatabase, makeFolder, startInFolder, urlOfRunningServer } from './data-folder.js';
import { type FolderLock, type Holder, lockFolder } from './folder-lock.js';
import { stopLeftOverServer } from './left-over-server.js';
import { asDataFolderError, LocalPostgresError } from './local-postgres-error.js';

const LOCK_POLL_MS = 100;
const TRANSIENT_WITHIN_MS = 30_000;
const RESTART_AFTER_MS = 1_000;

/** A running PostgreSQL whose data is in a data folder of the project. */
export interface LocalPostgres {
  /** postgres:// URL of the database `animal_store`; it stays the same when the server has to be restarted. */
  readonly url: string;
  /** Such as `18.4`. */
  readonly version: string;
  stop(): Promise<void>;
  /** Tells the server to end at once and does not wait; for a process that has to exit. What is committed stays. */
  kill(): void;
}

export interface StartOptions {
  readonly dataDir: string;
  /** Who has the folder, as another start is told: completes "is in use by …". */
  readonly announce?: () => string;
  /** Once it is aborted, another start waits for the folder instead of failing. */
  readonly stopping?: AbortSignal;
  /** Is told in one line when the server has died, and how its restart goes. */
  readonly report?: (line: string) => void;
}

/** Takes the lock of the data folder, ends what an earlier holder has left running, and starts the server. */
export async function startLocalPostgres(options: StartOptions): Promise<LocalPostgres> {
  const { dataDir, announce = () => `process ${process.pid}`, stopping, report = () => undefined } = options;
  try {
    const folder = await makeFolder(dataDir);
    const lock = await waitForLock(dataDir, folder, () => ({ isTransient: stopping?.aborted ?? false, description: announce() }));
    return await startWithLock(folder, lock, report);
  } catch (error) {
    throw asDataFolderError(dataDir, error);
  }
}

/** For a command: uses the server that a service runs on the folder, or else starts it until `stop()`. */
export async function useLocalPostgres(options: { readonly dataDir: string }): Promise<LocalPostgres> {
  const { dataDir } = options;
  const self: Holder = { isTransient: true, description: `a command (process ${process.pid})` };
  try {
    const folder = await makeFolder(dataDir);
    const deadline = Date.now() + TRANSIENT_WITHIN_MS;
    for (;;) {
      const result = await lockFolder(folder, () => self);
      if ('lock' in result) return await startWithLock(folder, result.lock, () => undefined);
      const running = result.holder.isTransient ? undefined : await connectToRunning(folder);
      if (running) return running;
      if (Date.now() > deadline) throw inUse(dataDir, result.holder);
      await sleep(LOCK_POLL_MS);
    }
  } catch (error) {
    throw asDataFolderError(dataDir, error);
  }
}

async function connectToRunning(folder: string): Promise<LocalPostgres | undefined> {
  const state = await readPostmasterFile(join(folder, 'postgres'));
  const url = state?.status === 'ready' ? await urlOfRunningServer(folder, state.port) : undefined;
  if (url === undefined) return undefined;
  return { url, version: await ensureDatabase(url), stop: () => Promise.resolve(), kill: () => undefined };
}

/** Waits only for a holder that lets go soon. */
async function waitForLock(dataDir: string, folder: string, self: () => Holder): Promise<FolderLock> {
  const deadline = Date.now() + TRANSIENT_WITHIN_MS;
  for (;;) {
    const result = await lockFolder(folder, self);
    if ('lock' in result) return result.lock;
    if (!result.holder.isTransient || Date.now() > deadline) throw inUse(dataDir, result.holder);
    await sleep(LOCK_POLL_MS);
  }
}

function inUse(dataDir: string, holder: Holder): LocalPostgresError {
  return new LocalPostgresError(`The data folder ${dataDir} is in use by ${holder.description}.`);
}

async function startWithLock(folder: string, lock: FolderLock, report: (line: string) => void): Promise<LocalPostgres> {
  let started: DataFolder | undefined;
  try {
    started = await startInFolder(folder, { durable: true });
    const url = databaseUrl(started.server.port, started.password);
    const version = await ensureDatabase(url);
    const supervisor = supervise(started, report);
    let stopped: Promise<void> | undefined;
    return {
      url,
      version,
      stop: () => (stopped ??= supervisor.stop().finally(() => lock.release())),
      kill: () => supervisor.kill(),
    };
  } catch (error) {
    await started?.server.stop();
    await lock.release();
    throw error;
  }
}

/** Starts the server again, on the same port, when it dies. */
function supervise({ cluster, server: first }: DataFolder, report: (line: string) => void): Pick<LocalPostgres, 'kill' | 'stop'> {
  const stopping = new AbortController();
  const isStopping = () => stopping.signal.aborted;
  let server: Server | undefined = first;
  let problem: string | undefined;

  const run = async () => {
    for (;;) {
      await server?.exited;
      if (isStopping()) return;
      if (server) report('PostgreSQL has stopped unexpectedly and is started again.');
      server = undefined;
      await sleep(RESTART_AFTER_MS, undefined, { signal: stopping.signal, ref: false }).catch(() => undefined);
      if (isStopping()) return;
      try {
        await stopLeftOverServer(cluster);
        server = await startServer(cluster, { port: first.port });
        if (isStopping()) return await server.stop();
        problem = undefined;
        report('PostgreSQL is back.');
      } catch (error) {
        const { message } = error as Error;
        if (message !== problem) report(message);
        problem = message;
      }
    }
  };
  const running = run();
  return {
    async stop() {
      stopping.abort();
      await server?.stop();
      await running;
    },
    kill() {
      stopping.abort();
      server?.kill();
    },
  };
}
