import { type Measurement, totalCpu } from './measurement.js';
import type { ScenarioResult } from './rounds.js';
import { median, medianRatio } from './statistics.js';

export type Figure = (measurement: Measurement) => number;

export const perSecond: Figure = (measured) => measured.perSecond;
export const p50: Figure = (measured) => measured.p50Ms ?? NaN;
export const p99: Figure = (measured) => measured.p99Ms ?? NaN;
export const cpu: Figure = totalCpu;

/** Returns the median over the rounds, or NaN if the target was not measured. */
export function typical({ rounds }: ScenarioResult, target: string, figure: Figure): number {
  return median((rounds[target] ?? []).map(figure));
}

/** Returns the median of the ratios per round, or NaN if one of the two was not measured. */
export function ratio({ rounds }: ScenarioResult, target: string, peer: string, figure: Figure): number {
  return medianRatio((rounds[target] ?? []).map(figure), (rounds[peer] ?? []).map(figure));
}
