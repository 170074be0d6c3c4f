import { medianOf, type Metric, p50, p99, perSecond } from '../comparison.js';
import type { ScenarioResult } from '../rounds.js';
import { spread } from '../statistics.js';
import { HTTP_TARGETS, type HttpTarget } from '../targets.js';
import { MANY_CONNECTIONS } from '../verdicts.js';
import { table } from '@animal-store/faults/table';
import { number } from './number.js';

/** Returns the results of a comparison: a heading and a table per metric, with one row per target and one column per workload. */
export function metricTables(scenarios: readonly ScenarioResult[]): string[] {
  const many = scenarios.filter(({ connections }) => connections === MANY_CONNECTIONS);
  const single = scenarios.filter(({ connections }) => connections === 1);
  const measurements = scenarios.flatMap(({ rounds }) => Object.values(rounds));
  const errors = measurements.flat().reduce((sum, measured) => sum + measured.errors, 0);
  const maxSpread = Math.max(...measurements.map((rounds) => spread(rounds.map(perSecond))));
  return [
    `All cells are medians. Errors: ${errors}. Largest spread of requests/s between the rounds of a target: ${Math.round(maxSpread * 100)} %.`,
    ...metricTable('Requests per second, 64 connections', many, perSecond),
    ...metricTable('99th percentile, ms, 64 connections', many, p99),
    ...metricTable('CPU of the service, ms per 1,000 requests', many, ({ serviceCpu }) => serviceCpu),
    ...metricTable('CPU of PostgreSQL, ms per 1,000 requests', many.map(withoutConstantResponses), ({ postgresCpu }) => postgresCpu),
    ...metricTable('Median latency, ms, 1 connection', single, p50),
  ];
}

/** Removes the targets that do not use PostgreSQL. */
function withoutConstantResponses(scenario: ScenarioResult): ScenarioResult {
  const targets: Readonly<Record<string, HttpTarget>> = HTTP_TARGETS;
  return { ...scenario, rounds: Object.fromEntries(Object.entries(scenario.rounds).filter(([name]) => !targets[name]?.constant)) };
}

function metricTable(title: string, scenarios: readonly ScenarioResult[], metric: Metric): string[] {
  if (scenarios.length === 0) return [];
  const targets = [...new Set(scenarios.flatMap(({ rounds }) => Object.keys(rounds)))].sort();
  const rows = targets
    .map((name) => ({ name, values: scenarios.map((scenario) => medianOf(scenario, name, metric)) }))
    .filter(({ values }) => values.some(Number.isFinite))
    .map(({ name, values }) => [name, ...values.map(number)]);
  return [`### ${title}`, table(['target', ...scenarios.map(({ workload }) => workload)], rows)];
}
