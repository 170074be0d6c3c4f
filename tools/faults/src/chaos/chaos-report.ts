import { describeRuns, type FaultRun, tenths } from '../fault-record.js';
import type { ChaosResult, Phase } from './run-chaos.js';

/** Returns the figures of a phase that docs/how-we-know.json has. */
export function runOf({ name, seen, recoveryMs }: Phase): FaultRun {
  return {
    fault: name,
    figures: {
      ...(recoveryMs !== undefined && { 'Recovery, s': tenths(recoveryMs / 1_000) }),
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
