import { readdirSync, readFileSync } from 'node:fs';

/** CLK_TCK, which is 100 on every Linux of today. */
const TICKS_PER_SECOND = 100;
const PAGE_KB = 4;

/** Fields of /proc/<pid>/stat after the name of the program, which may hold spaces; see proc_pid_stat(5). */
const UTIME = 11;
const CUTIME = 13;

/** The process and all that descend from it; those that ended meanwhile are left out. */
export function processTree(pid: number): number[] {
  const children = readIfThere(`/proc/${pid}/task/${pid}/children`).split(' ').filter(Boolean).map(Number);
  return [pid, ...children.flatMap(processTree)];
}

/** CPU milliseconds of the whole tree so far, with those of children that have ended. */
export function cpuMsOf(pid: number): number {
  const ticks = processTree(pid).map((member) => {
    const [user = 0, system = 0, endedUser = 0, endedSystem = 0] = statFields(readIfThere(`/proc/${member}/stat`)).slice(UTIME, CUTIME + 2);
    return user + system + endedUser + endedSystem;
  });
  return (ticks.reduce((sum, count) => sum + count, 0) * 1000) / TICKS_PER_SECOND;
}

/** CPU milliseconds of the children of this process that have ended and been waited for. */
export function cpuMsOfEndedChildren(): number {
  const [user = 0, system = 0] = statFields(readFileSync('/proc/self/stat', 'utf8')).slice(CUTIME, CUTIME + 2);
  return ((user + system) * 1000) / TICKS_PER_SECOND;
}

/** Resident megabytes of each process of the tree. */
export function residentMbOf(pid: number): number[] {
  return processTree(pid).map((member) => (Number(readIfThere(`/proc/${member}/statm`).split(' ')[1] ?? 0) * PAGE_KB) / 1024);
}

/** @throws Error with what to do about it */
export function requireProc(): void {
  try {
    readdirSync('/proc/self/task');
  } catch {
    throw new Error('CPU and memory of other processes are read from /proc: the bench runs on Linux only.');
  }
}

export function statFields(stat: string): number[] {
  return stat
    .slice(stat.lastIndexOf(')') + 2)
    .split(' ')
    .map(Number);
}

function readIfThere(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return '';
  }
}
