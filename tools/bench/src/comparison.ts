import { type Measurement, totalCpu } from './measurement.js';
import type { ScenarioResult } from './rounds.js';
import { median, medianRatio } from './statistics.js';

export type Metric = (measurement: Measurement) => number;

export const perSecond: Metric = (measured) => measured.perSecond;
export const p50: Metric = (measured) => measured.p50Ms ?? NaN;
export const p99: Metric = (measured) => measured.p99Ms ?? NaN;
export const cpu: Metric = totalCpu;

/** Returns the median over the rounds, or NaN if the target was not measured. */
export function medianOf({ rounds }: ScenarioResult, target: string, metric: Metric): number {
  return median((rounds[target] ?? []).map(metric));
}

/** Returns the median of the ratios per round, or NaN if one of the two was not measured. */
export function ratio({ rounds }: ScenarioResult, target: string, peer: string, metric: Metric): number {
  return medianRatio((rounds[target] ?? []).map(metric), (rounds[peer] ?? []).map(metric));
}
