import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { closeSync, constants, openSync, rmSync } from 'node:fs';
import { connect, createServer, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';

const ANSWER_WITHIN_MS = 2_000;
const ATTEMPTS = 20;
/** open(2) of macOS and the BSDs takes a lock that the kernel releases with the process; Node.js has no name for it. */
const O_EXLOCK = 0x20;

export interface Holder {
  /** Lets go soon by itself: a command, or a service that stops. */
  readonly isTransient: boolean;
  /** Completes "is in use by …". */
  readonly description: string;
}

export interface FolderLock {
  release(): Promise<void>;
}

/**
 * Takes the lock of a folder, or tells who holds it. The holder listens on an address made from the folder's real path
 * and answers who it is. The kernel closes it with the process, so that no lock outlives its holder or depends on pids.
 */
export async function lockFolder(folder: string, self: () => Holder): Promise<{ lock: FolderLock } | { holder: Holder }> {
  const address = lockAddress(folder);
  for (let attempt = 1; attempt <= ATTEMPTS; attempt += 1) {
    const lock = await tryLock(folder, address, self);
    if (lock) return { lock };
    const holder = await askHolder(address);
    if (holder) return { holder };
  }
  return { holder: { isTransient: false, description: 'another process' } };
}

function lockAddress(folder: string): string {
  const name = `animal-store-${createHash('sha256').update(folder).digest('hex').slice(0, 32)}`;
  // On Linux an abstract socket, which is no file.
  if (process.platform === 'linux') return `\0${name}`;
  if (process.platform === 'win32') return `\\\\.\\pipe\\${name}`;
  return join(tmpdir(), name);
}

async function tryLock(folder: string, address: string, self: () => Holder): Promise<FolderLock | undefined> {
  const isFile = process.platform !== 'linux' && process.platform !== 'win32';
  const guard = isFile ? openLocked(join(folder, 'lock')) : undefined;
  if (isFile) {
    if (guard === undefined) return undefined;
    rmSync(address, { force: true });
  }
  const server = createServer((socket) => {
    socket.on('error', () => undefined);
    socket.end(JSON.stringify(self()));
  });
  try {
    server.listen({ path: address, exclusive: true });
    await once(server, 'listening');
  } catch (error) {
    if (guard !== undefined) closeSync(guard);
    if ((error as NodeJS.ErrnoException).code === 'EADDRINUSE') return undefined;
    throw error;
  }
  server.unref();
  return {
    async release() {
      await close(server);
      if (guard !== undefined) closeSync(guard);
    },
  };
}

function openLocked(file: string): number | undefined {
  try {
    return openSync(file, constants.O_RDWR | constants.O_CREAT | constants.O_NONBLOCK | O_EXLOCK, 0o600);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EAGAIN') return undefined;
    throw error;
  }
}

function close(server: Server): Promise<void> {
  return new Promise((resolve) => server.close(() => resolve()));
}

/** Undefined when nobody listens any more. */
async function askHolder(address: string): Promise<Holder | undefined> {
  const socket = connect(address);
  socket.setTimeout(ANSWER_WITHIN_MS, () => socket.destroy(new Error('no answer')));
  try {
    await once(socket, 'connect');
  } catch {
    return undefined;
  }
  try {
    return JSON.parse(await text(socket)) as Holder;
  } catch {
    return { isTransient: false, description: 'a process that does not answer' };
  }
}
