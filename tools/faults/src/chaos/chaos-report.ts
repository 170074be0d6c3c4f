import { describeRuns, type FaultRun, tenths } from '../fault-record.js';
import type { Fault } from './faults.js';
import type { Observations } from './load.js';
import type { ChaosResult, Phase } from './run-chaos.js';

/** Maximum 99th percentile of the latency of accepted requests under overload. */
const OVERLOAD_P99_MS = 1_500;
/** Maximum number of requests without a response that are shown. */
const EXAMPLES = 3;

/** Returns the figures of a phase that docs/how-we-know.json has. */
export function runOf({ name, seen, recoveryMs }: Phase): FaultRun {
  return {
    fault: name,
    figures: {
      ...(recoveryMs !== undefined && { 'Recovery, s': tenths(recoveryMs / 1_000) }),
      Requests: seen.acceptedMs.length + seen.shed + seen.dropped.length + seen.excused,
      'Without response': seen.dropped.length + seen.excused,
    },
  };
}

/** Returns a line for each phase, the result of the creations, and the broken promises. */
export function reportChaos({ phases, verdict, statuses, problems }: ChaosResult): string {
  const runs = phases.map((phase) => {
    const { fault, figures } = runOf(phase);
    const { acceptedMs, shed } = phase.seen;
    const [p50, p99] = [tenths(phase.seen.quantile(0.5)), tenths(phase.seen.quantile(0.99))];
    return { fault, figures: { accepted: acceptedMs.length, 'p50, ms': p50, 'p99, ms': p99, shed, ...figures } };
  });
  const responses = [...statuses].sort(([a], [b]) => a - b).map(([status, count]) => `${status}: ${count}`);
  return [
    '',
    describeRuns(runs),
    '',
    `responses     ${responses.join(', ')}`,
    ...Object.entries(verdict).map(([name, count]) => `${name.padEnd(13)} ${count}`),
    '',
    ...(problems.length === 0 ? ['all promises kept'] : ['broken promises:', ...problems.map((problem) => `- ${problem}`)]),
  ].join('\n');
}

export interface FaultOutcome {
  /** Time until each operation had succeeded again. Undefined if it did not within the time limit. */
  readonly recoveryMs: number | undefined;
  readonly seen: Pick<Observations, 'dropped'>;
  readonly isRunning: boolean;
}

/** Returns the promises that a fault broke. Times are only checked if `isStrict`. */
export function promisesBrokenByFault(
  fault: Pick<Fault, 'name' | 'recoversWithinMs'>,
  { recoveryMs, seen, isRunning }: FaultOutcome,
  isStrict: boolean,
): string[] {
  const { name, recoversWithinMs = Infinity } = fault;
  return [
    ...(recoveryMs === undefined ? [`${name}: no recovery`] : []),
    ...(isStrict && recoveryMs !== undefined && recoveryMs > recoversWithinMs
      ? [`${name}: recovered after ${Math.round(recoveryMs)} ms instead of within ${recoversWithinMs} ms`]
      : []),
    ...(seen.dropped.length > 0 ? [`${name}: ${describeDropped(seen)}`] : []),
    ...(isRunning ? [] : [`${name}: the service exited`]),
  ];
}

/** Returns the promises that an overload broke, to the clients that caused it and to the others. */
export function promisesBrokenByOverload(
  name: string,
  flooded: Observations,
  others: Pick<Observations, 'dropped'>,
  isStrict: boolean,
): string[] {
  const p99 = flooded.quantile(0.99);
  return [
    ...(others.dropped.length > 0 ? [`${name}: other clients: ${describeDropped(others)}`] : []),
    ...(isStrict && p99 > OVERLOAD_P99_MS ? [`${name}: accepted requests took ${Math.round(p99)} ms at p99`] : []),
    ...(flooded.dropped.length > 0 ? [`${name}: ${describeDropped(flooded)}`] : []),
  ];
}

function describeDropped({ dropped }: Pick<Observations, 'dropped'>): string {
  return `${dropped.length} requests got no response (${dropped.slice(0, EXAMPLES).join('; ')})`;
}
