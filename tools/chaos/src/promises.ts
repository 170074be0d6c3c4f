import type { Fault } from './faults.js';
import type { Observations } from './load.js';

/** What a request that is accepted may take at the 99th percentile under an overload. */
const OVERLOAD_P99_MS = 1_500;
/** Of requests without an answer, how many are shown. */
const EXAMPLES = 3;

export interface FaultOutcome {
  /** Until each operation had succeeded again; undefined when patience ended first. */
  readonly recoveryMs: number | undefined;
  readonly seen: Pick<Observations, 'dropped'>;
  readonly isRunning: boolean;
}

/** What broke a promise while a fault lasted, or after it. Beside other work, times are not judged. */
export function brokenByFault(
  fault: Pick<Fault, 'name' | 'recoversWithinMs'>,
  { recoveryMs, seen, isRunning }: FaultOutcome,
  isStrict: boolean,
): string[] {
  const { name, recoversWithinMs = Infinity } = fault;
  return [
    ...(recoveryMs === undefined ? [`${name}: no recovery`] : []),
    ...(isStrict && recoveryMs !== undefined && recoveryMs > recoversWithinMs
      ? [`${name}: recovered after ${Math.round(recoveryMs)} ms instead of ${recoversWithinMs}`]
      : []),
    ...(seen.dropped.length > 0 ? [`${name}: ${unanswered(seen)}`] : []),
    ...(isRunning ? [] : [`${name}: the service has ended`]),
  ];
}

/** The same for an overload, of those who caused it and of the others. */
export function brokenByOverload(name: string, flooded: Observations, others: Pick<Observations, 'dropped'>, isStrict: boolean): string[] {
  const p99 = flooded.quantile(0.99);
  return [
    ...(others.dropped.length > 0 ? [`${name}: of others, ${unanswered(others)}`] : []),
    ...(isStrict && p99 > OVERLOAD_P99_MS ? [`${name}: accepted requests took ${Math.round(p99)} ms at p99`] : []),
    ...(flooded.dropped.length > 0 ? [`${name}: ${unanswered(flooded)}`] : []),
  ];
}

function unanswered({ dropped }: Pick<Observations, 'dropped'>): string {
  return `${dropped.length} requests got no answer (${dropped.slice(0, EXAMPLES).join('; ')})`;
}
