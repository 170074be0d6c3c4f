import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/**
 * Creates a temporary folder for a server and removes the folders of killed processes. A server that still runs in one shuts down
 * within a minute, when it finds that its postmaster.pid is missing.
 */
export async function createTemporaryFolder(): Promise<string> {
  for (const name of await readdir(tmpdir())) {
    const [, pid] = /^animal-store-postgres-(\d+)-/.exec(name) ?? [];
    if (pid && !isRunning(Number(pid))) await rm(join(tmpdir(), name), { recursive: true, force: true }).catch(() => undefined);
  }
  return mkdtemp(join(tmpdir(), `animal-store-postgres-${process.pid}-`));
}

export function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return (error as { code?: unknown }).code === 'EPERM';
  }
}
