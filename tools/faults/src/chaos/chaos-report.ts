import type { ChaosResult } from './run-chaos.js';
import { table } from '../table.js';

const HEADER = ['phase', 'accepted', 'p50 ms', 'p99 ms', 'shed', 'no response', 'recovery ms'];

/** Returns a line for each phase, the result of the creations, and the broken promises. */
export function reportChaos({ phases, verdict, statuses, problems }: ChaosResult): string {
  const rows = phases.map(({ name, seen, recoveryMs }) => [
    name,
    `${seen.acceptedMs.length}`,
    seen.quantile(0.5).toFixed(1),
    seen.quantile(0.99).toFixed(1),
    `${seen.shed}`,
    `${seen.dropped.length + seen.excused}`,
    recoveryMs?.toFixed(0) ?? '',
  ]);
  const responses = [...statuses].sort(([a], [b]) => a - b).map(([status, count]) => `${status}: ${count}`);
  return [
    '',
    table(HEADER, rows),
    '',
    `responses     ${responses.join(', ')}`,
    `acknowledged  ${verdict.acknowledged}`,
    `stored        ${verdict.stored}`,
    `lost          ${verdict.lost}`,
    `duplicates    ${verdict.duplicates}`,
    '',
    ...(problems.length === 0 ? ['all promises kept'] : ['broken promises:', ...problems.map((problem) => `- ${problem}`)]),
  ].join('\n');
}
