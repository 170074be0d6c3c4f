import type { Fault } from './faults.js';
import type { Observations } from './load.js';

/** What a request that is accepted may take at the 99th percentile under an overload. */
const OVERLOAD_P99_MS = 1_500;

export interface FaultOutcome {
  /** Until each operation had succeeded again; undefined when patience ended first. */
  readonly recoveryMs: number | undefined;
  readonly seen: Pick<Observations, 'dropped'>;
  readonly isRunning: boolean;
}

/** What broke a promise while a fault lasted, or after it. Beside other work, times and requests without a response are not judged. */
export function brokenByFault(fault: Omit<Fault, 'run'>, { recoveryMs, seen, isRunning }: FaultOutcome, isStrict: boolean): string[] {
  const { name, mayDrop, recoversWithinMs = Infinity } = fault;
  return [
    ...(recoveryMs === undefined ? [`${name}: no recovery`] : []),
    ...(isStrict && recoveryMs !== undefined && recoveryMs > recoversWithinMs
      ? [`${name}: recovered after ${Math.round(recoveryMs)} ms instead of ${recoversWithinMs}`]
      : []),
    ...(isStrict && !mayDrop && seen.dropped > 0 ? [`${name}: ${seen.dropped} requests got no answer`] : []),
    ...(isRunning ? [] : [`${name}: the service has ended`]),
  ];
}

/** The same for an overload, of those who caused it and of the others. */
export function brokenByOverload(name: string, flooded: Observations, others: Pick<Observations, 'dropped'>, isStrict: boolean): string[] {
  const p99 = flooded.quantile(0.99);
  return [
    ...(others.dropped > 0 ? [`${name}: ${others.dropped} requests of others got no answer`] : []),
    ...(isStrict && p99 > OVERLOAD_P99_MS ? [`${name}: accepted requests took ${Math.round(p99)} ms at p99`] : []),
    ...(flooded.dropped > 0 ? [`${name}: ${flooded.dropped} requests got no answer`] : []),
  ];
}
