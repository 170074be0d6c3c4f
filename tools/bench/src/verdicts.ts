import { cpu, type Figure, p50, p99, perSecond, ratio } from './comparison.js';
import { GOALS } from './goals.js';
import type { ScenarioResult } from './rounds.js';
import { OURS } from './targets.js';

export const MANY_CONNECTIONS = 64;
const TWO_WORKERS = 'animal-store-2';
const BASELINE = 'baseline';

export interface Verdict {
  readonly goal: string;
  readonly measured: number;
  readonly wanted: string;
  readonly met: boolean;
}

/** Returns a verdict for each goal of which both sides were measured. */
export function judge(results: readonly ScenarioResult[], startMs?: number): Verdict[] {
  const many = results.filter(({ connections }) => connections === MANY_CONNECTIONS);
  const single = results.filter(({ connections }) => connections === 1);
  const memory = many.flatMap(({ rounds }) => rounds[OURS] ?? []).map(({ residentMb = 0 }) => residentMb);
  const verdicts = [
    ...many.flatMap((result) => against(result, GOALS.throughput[result.workload], 'requests/s', perSecond, atLeast)),
    ...many.flatMap((result) => against(result, { 'go-pgx': GOALS.cpu[result.workload] }, 'CPU per request', cpu, atMost)),
    ...many.flatMap((result) => against(result, GOALS.p99, 'p99', p99, atMost)),
    ...many.flatMap((result) => against(result, { [BASELINE]: GOALS.baseline.throughput }, 'requests/s', perSecond, atLeast)),
    ...many.flatMap((result) => against(result, { [BASELINE]: GOALS.baseline.cpu }, 'CPU per request', cpu, atMost)),
    ...many.flatMap((result) => against(result, { [BASELINE]: GOALS.baseline.p99 }, 'p99', p99, atMost)),
    ...single.flatMap((result) => against(result, GOALS.single, 'p50 at 1 connection', p50, atMost)),
    ...many.map((result) =>
      atLeast(`${result.workload}: requests/s, WORKERS=2 ÷ WORKERS=1`, ratio(result, TWO_WORKERS, OURS, perSecond), GOALS.twoWorkers),
    ),
    atMost('resident MB of a process under load', Math.max(...memory), GOALS.residentMb),
    atMost('start to first answer, ms', startMs ?? NaN, GOALS.startMs),
  ];
  return verdicts.filter(({ measured }) => Number.isFinite(measured));
}

type Judgement = (goal: string, measured: number, limit: number) => Verdict;

const atLeast: Judgement = (goal, measured, limit) => ({ goal, measured, wanted: `≥ ${limit}`, met: measured >= limit });
export const atMost: Judgement = (goal, measured, limit) => ({ goal, measured, wanted: `≤ ${limit}`, met: measured <= limit });

function against(
  result: ScenarioResult,
  limits: Readonly<Record<string, number>>,
  what: string,
  figure: Figure,
  judgement: Judgement,
): Verdict[] {
  return Object.entries(limits).map(([peer, limit]) =>
    judgement(`${result.workload}: ${what} ÷ ${peer}`, ratio(result, OURS, peer, figure), limit),
  );
}
