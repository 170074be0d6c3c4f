import type { Verdict } from '../verdicts.js';
import { WORKLOADS } from '../workloads.js';
import { table } from '@animal-store/faults/table';
import { number } from './number.js';

/** Returns one row per goal and one column per workload. Goals that concern no single workload follow as a list. */
export function goalTable(verdicts: readonly Verdict[]): string {
  const ofWorkloads = verdicts.filter(({ workload }) => workload !== undefined);
  const rows = [...Map.groupBy(ofWorkloads, ({ goal }) => goal)].map(([goal, group]) => [
    goal,
    ...WORKLOADS.map((name) => formatVerdict(group.find(({ workload }) => workload === name))),
  ]);
  const others = verdicts.filter(({ workload }) => workload === undefined).map((verdict) => `- ${verdict.goal}: ${formatVerdict(verdict)}`);
  return [table(['goal', ...WORKLOADS], rows), ...(others.length > 0 ? [others.join('\n')] : [])].join('\n\n');
}

/** Formats the measured and the required value. A goal that is not met is bold. */
export function formatVerdict(verdict: Verdict | undefined): string {
  if (verdict === undefined) return '–';
  const measured = number(verdict.measured);
  return `${verdict.met ? measured : `**${measured}**`} (${verdict.required})`;
}
