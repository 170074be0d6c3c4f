import { readdirSync, readFileSync } from 'node:fs';

/** CLK_TCK, which is 100 on all current Linux systems. */
const TICKS_PER_SECOND = 100;
const PAGE_KB = 4;

/** Fields of /proc/<pid>/stat after the program name, which may contain spaces; see proc_pid_stat(5). */
const UTIME = 11;
const CUTIME = 13;

/** Returns the ids of the process and its descendants, without those that have ended. */
export function processTree(pid: number): number[] {
  const children = readIfExists(`/proc/${pid}/task/${pid}/children`).split(' ').filter(Boolean).map(Number);
  return [pid, ...children.flatMap(processTree)];
}

/** Returns the CPU milliseconds of the whole process tree, including children that have ended. */
export function cpuMsOf(pid: number): number {
  const ticks = processTree(pid).map((member) => {
    const [user = 0, system = 0, endedUser = 0, endedSystem = 0] = statFields(readIfExists(`/proc/${member}/stat`)).slice(
      UTIME,
      CUTIME + 2,
    );
    return user + system + endedUser + endedSystem;
  });
  return (ticks.reduce((sum, count) => sum + count, 0) * 1000) / TICKS_PER_SECOND;
}

/** Returns the CPU milliseconds of the children of this process that have ended and were waited for. */
export function cpuMsOfEndedChildren(): number {
  const [user = 0, system = 0] = statFields(readFileSync('/proc/self/stat', 'utf8')).slice(CUTIME, CUTIME + 2);
  return ((user + system) * 1000) / TICKS_PER_SECOND;
}

/** Returns the resident megabytes of each process of the tree. */
export function residentMbOf(pid: number): number[] {
  return processTree(pid).map((member) => (Number(readIfExists(`/proc/${member}/statm`).split(' ')[1] ?? 0) * PAGE_KB) / 1024);
}

/** @throws Error if the system has no /proc */
export function requireProc(): void {
  try {
    readdirSync('/proc/self/task');
  } catch {
    throw new Error('The bench requires Linux: it reads CPU time and memory from /proc.');
  }
}

export function statFields(stat: string): number[] {
  return stat
    .slice(stat.lastIndexOf(')') + 2)
    .split(' ')
    .map(Number);
}

function readIfExists(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return '';
  }
}
