import { GOALS } from './goals.js';
import type { Measurement } from './measurement.js';
import type { ScaleResult, ScaleSeries } from './scale.js';
import { median, medianRatio } from './statistics.js';
import { atMost, type Verdict } from './verdicts.js';

const cost = ({ perSecond, p50Ms = NaN }: Measurement, connections: number) => (connections === 1 ? p50Ms : 1_000 / perSecond);

export function rowCounts({ rounds }: ScaleSeries): number[] {
  return Object.keys(rounds)
    .map(Number)
    .sort((a, b) => a - b);
}

/** Returns the median cost in milliseconds: the median latency at one connection, the time between responses at many. */
export function medianCost({ rounds, connections }: ScaleSeries, rows: number): number {
  return median((rounds[rows] ?? []).map((measured) => cost(measured, connections)));
}

/** Returns the ratio to the cost at the fewest rows. */
export function costRatio(series: ScaleSeries, rows: number): number {
  const costs = (count: number | undefined) => (series.rounds[count ?? 0] ?? []).map((measured) => cost(measured, series.connections));
  return medianRatio(costs(rows), costs(rowCounts(series)[0]));
}

/** Compares the largest catalogue with the smallest. */
export function judgeScale({ series }: ScaleResult): Verdict[] {
  return series.map((one) => {
    const rows = rowCounts(one).at(-1) ?? 0;
    const goal = `${one.read}, ${one.connections} ${one.connections === 1 ? 'connection' : 'connections'}: cost at ${rows.toLocaleString('en')} rows`;
    return atMost(goal, costRatio(one, rows), GOALS.scale);
  });
}
