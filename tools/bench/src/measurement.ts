import { readdirSync, readFileSync } from 'node:fs';

/** Figures of one target under one load for a few seconds. */
export interface Measurement {
  readonly perSecond: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly errors: number;
  /** CPU microseconds per request: `serviceCpu` of all processes of the service, `postgresCpu` of PostgreSQL. */
  readonly serviceCpu: number;
  readonly postgresCpu: number;
}

export type Metric = (measurement: Measurement) => number;
export const perSecond: Metric = (measured) => measured.perSecond;
export const p50: Metric = (measured) => measured.p50Ms;
export const p99: Metric = (measured) => measured.p99Ms;
export const cpu: Metric = ({ serviceCpu, postgresCpu }) => serviceCpu + postgresCpu;

export type Rounds = Readonly<Record<string, readonly Measurement[]>>;

/** Returns the median over the rounds, or NaN if the target was not measured. */
export function medianOf(rounds: Rounds, target: string, metric: Metric): number {
  return median((rounds[target] ?? []).map(metric));
}

/** Returns the median of the ratios per round, so that a slow round affects both sides. NaN if one of the two was not measured. */
export function ratio(rounds: Rounds, target: string, peer: string, metric: Metric): number {
  const ratios = (rounds[target] ?? []).map((measured, round) => {
    const other = rounds[peer]?.[round];
    return other ? metric(measured) / metric(other) : NaN;
  });
  return median(ratios.filter(Number.isFinite));
}

/** Returns the median, or NaN for an empty list. */
export function median(numbers: readonly number[]): number {
  const sorted = numbers.toSorted((a, b) => a - b);
  const middle = sorted.length >> 1;
  const [low, high] = sorted.length % 2 === 1 ? [sorted[middle], sorted[middle]] : [sorted[middle - 1], sorted[middle]];
  return low === undefined || high === undefined ? NaN : (low + high) / 2;
}

/** CLK_TCK, which is 100 on all current Linux systems. */
const TICKS_PER_SECOND = 100;
/** The first of four fields of /proc/<pid>/stat after the program name, which may contain spaces; see proc_pid_stat(5). */
const UTIME = 11;

/** Returns the CPU milliseconds of the whole process tree, including children that have ended. */
export function cpuMsOf(pid: number): number {
  return processTree(pid).reduce((sum, member) => sum + cpuMs(readIfExists(`/proc/${member}/stat`)), 0);
}

/** Returns the CPU milliseconds of /proc/<pid>/stat: of the process, and of its children that have ended. */
export function cpuMs(stat: string): number {
  const values = stat
    .slice(stat.lastIndexOf(')') + 2)
    .split(' ')
    .map(Number);
  return (values.slice(UTIME, UTIME + 4).reduce((sum, ticks) => sum + ticks, 0) * 1000) / TICKS_PER_SECOND;
}

/** @throws Error if the system has no /proc */
export function requireProc(): void {
  try {
    readdirSync('/proc/self/task');
  } catch {
    throw new Error('The bench requires Linux: it reads CPU time and memory from /proc.');
  }
}

/** Returns the ids of the process and its descendants, without those that have ended. */
function processTree(pid: number): number[] {
  const children = readIfExists(`/proc/${pid}/task/${pid}/children`).split(' ').filter(Boolean).map(Number);
  return [pid, ...children.flatMap(processTree)];
}

function readIfExists(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return '';
  }
}
