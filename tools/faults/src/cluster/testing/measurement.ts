import type { Verdict } from '../../ledger.js';
import { type FaultRun, tenths } from '../../fault-record.js';

/** The effect of a fault on the service, in milliseconds. */
export interface Measurement {
  readonly fault: string;
  readonly withoutWritesMs: number;
  /** From the first commit of a new primary to the first write of the service. Undefined if the primary had no outage. */
  readonly recoveryAfterFailoverMs: number | undefined;
  readonly errors: readonly string[];
}

interface Gap {
  readonly begin: number;
  readonly end: number;
}

/** A shorter time without commits does not count as an outage of the database. */
const MIN_OUTAGE_MS = 1_500;

/** Returns the longest time without a success between two moments. */
export function longestGap(successes: readonly number[], from: number, to: number): Gap {
  const times = [from, ...successes.filter((time) => time > from && time < to).sort((a, b) => a - b), to];
  const gaps = times.slice(1).map((end, index) => ({ begin: times[index] ?? from, end }));
  return gaps.reduce((longest, gap) => (gap.end - gap.begin > longest.end - longest.begin ? gap : longest));
}

/** Returns the time from the first commit of a new primary to the next write of the service, or undefined if the primary had no outage. */
export function recoveryAfterFailover(commits: readonly number[], writes: readonly number[], from: number, to: number): number | undefined {
  const outage = longestGap(commits, from, to);
  if (outage.end - outage.begin < MIN_OUTAGE_MS) return undefined;
  return Math.min(...writes.filter((time) => time >= outage.end)) - outage.end;
}

/** Returns the figures, in seconds. */
export function figuresOf({ fault, withoutWritesMs, recoveryAfterFailoverMs, errors }: Measurement): FaultRun {
  return {
    fault,
    figures: {
      'No writes, s': tenths(withoutWritesMs / 1_000),
      ...(recoveryAfterFailoverMs !== undefined && { 'After new primary, s': tenths(recoveryAfterFailoverMs / 1_000) }),
      Errors: errors.length,
    },
  };
}

/** Returns the sums of verdicts. */
export function sumOf(verdicts: readonly Verdict[]): Verdict {
  const sum = (name: keyof Verdict) => verdicts.reduce((total, verdict) => total + verdict[name], 0);
  return { acknowledged: sum('acknowledged'), stored: sum('stored'), lost: sum('lost'), duplicates: sum('duplicates') };
}
