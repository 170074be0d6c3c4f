import { execFileSync } from 'node:child_process';
import { readdirSync } from 'node:fs';

/** Returns the number of open file descriptors of a process. */
export function openFilesOf(pid: number): number {
  return readdirSync(`/proc/${pid}/fd`).length;
}

/** Limits the file descriptors of a running process. The limit can be raised again. */
export function limitOpenFiles(pid: number, limit: number): void {
  execFileSync('prlimit', ['--pid', String(pid), `--nofile=${limit}:`]);
}
