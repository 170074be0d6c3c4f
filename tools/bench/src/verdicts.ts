import { cpu, type Metric, p50, p99, perSecond, ratio } from './comparison.js';
import { GOALS } from './goals.js';
import type { ScenarioResult } from './rounds.js';
import { ANIMAL_STORE } from './targets.js';
import type { Workload } from './workloads.js';

export const MANY_CONNECTIONS = 64;
const TWO_WORKERS = 'animal-store-2';
const BASELINE = 'baseline';

export interface Verdict {
  readonly goal: string;
  /** Undefined for goals that concern no single workload. */
  readonly workload?: Workload;
  readonly measured: number;
  readonly required: string;
  readonly met: boolean;
}

/** Returns a verdict for each goal whose targets were measured. */
export function judge(results: readonly ScenarioResult[], startMs?: number): Verdict[] {
  const many = results.filter(({ connections }) => connections === MANY_CONNECTIONS);
  const single = results.filter(({ connections }) => connections === 1);
  const memory = many.flatMap(({ rounds }) => rounds[ANIMAL_STORE] ?? []).map(({ residentMb = 0 }) => residentMb);
  const verdicts = [
    ...many.flatMap((result) => compareWithPeers(result, GOALS.throughput[result.workload], 'requests/s', perSecond, atLeast)),
    ...many.flatMap((result) => compareWithPeers(result, GOALS.cpu[result.workload], 'CPU per request', cpu, atMost)),
    ...many.flatMap((result) => compareWithPeers(result, GOALS.p99, 'p99', p99, atMost)),
    ...many.flatMap((result) => compareWithPeers(result, { [BASELINE]: GOALS.baseline.throughput }, 'requests/s', perSecond, atLeast)),
    ...many.flatMap((result) => compareWithPeers(result, { [BASELINE]: GOALS.baseline.cpu }, 'CPU per request', cpu, atMost)),
    ...many.flatMap((result) => compareWithPeers(result, { [BASELINE]: GOALS.baseline.p99 }, 'p99', p99, atMost)),
    ...single.flatMap((result) => compareWithPeers(result, GOALS.single, 'p50 at 1 connection', p50, atMost)),
    ...many.map((result) => ({
      ...atLeast('requests/s, WORKERS=2 ÷ WORKERS=1', ratio(result, TWO_WORKERS, ANIMAL_STORE, perSecond), GOALS.twoWorkers),
      workload: result.workload,
    })),
    atMost('resident MB of a process under load', Math.max(...memory), GOALS.residentMb),
    atMost('start to first response, ms', startMs ?? NaN, GOALS.startMs),
  ];
  return verdicts.filter(({ measured }) => Number.isFinite(measured));
}

type Judgement = (goal: string, measured: number, limit: number) => Verdict;

const atLeast: Judgement = (goal, measured, limit) => ({ goal, measured, required: `≥ ${limit}`, met: measured >= limit });
export const atMost: Judgement = (goal, measured, limit) => ({ goal, measured, required: `≤ ${limit}`, met: measured <= limit });

function compareWithPeers(
  result: ScenarioResult,
  limits: Readonly<Record<string, number>>,
  metricName: string,
  metric: Metric,
  judgement: Judgement,
): Verdict[] {
  return Object.entries(limits).map(([peer, limit]) => ({
    ...judgement(`${metricName} ÷ ${peer}`, ratio(result, ANIMAL_STORE, peer, metric), limit),
    workload: result.workload,
  }));
}
