import { execFileSync, spawnSync } from 'node:child_process';
import type { Service } from '@animal-store/api-e2e/support/service';

/** Poll interval for conditions that call `workersOf`, since `ps` reads every process of the machine. */
export const WORKER_POLL = { intervalMs: 250 };

/** Returns the process ids of the workers of a service. */
export function workersOf(service: Service): number[] {
  const output = execFileSync('ps', ['-A', '-o', 'ppid=,pid='], { encoding: 'utf8' });
  const processes = output.split('\n').map((line) => line.trim().split(/\s+/).map(Number));
  return processes.filter(([parent]) => parent === service.pid && parent !== 0).flatMap(([, pid]) => pid ?? []);
}

/** Sends a signal to processes. Ignores those that have already exited. */
export function kill(pids: readonly number[], signal: NodeJS.Signals = 'SIGKILL'): void {
  for (const pid of pids) {
    try {
      process.kill(pid, signal);
    } catch {
      // The process has already exited.
    }
  }
}

/** Returns whether a process runs. One that has ended may still be listed, until its parent has noticed that. */
export function isRunning(pid: number): boolean {
  const { stdout } = spawnSync('ps', ['-o', 'stat=', '-p', String(pid)], { encoding: 'utf8' });
  return !/^(?:Z|$)/.test(stdout.trim());
}
