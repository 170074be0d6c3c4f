import { table } from './table.js';
import type { Origin, ScenarioResult } from './bench.js';
import { type Comparison, ROWS } from './compare.js';
import { costAt, costRatio, judge, judgeScale, MANY_CONNECTIONS, rowCounts, type Verdict } from './goals.js';
import { median, medianOf, type Metric, p50, p99, perSecond, spread } from './measurement.js';
import type { ScaleResult } from './scale.js';
import { TARGETS, type Target } from './targets.js';
import { WORKLOADS } from './workloads.js';

/** The goals and the results of a run, as blocks of Markdown. */
export interface Report {
  readonly goals: readonly string[];
  readonly results: readonly string[];
}

export function reportComparison(comparison: Comparison): Report {
  const { scenarios, generator, startTimesMs } = comparison;
  const origin = `${describe(comparison)} Each target used a table with ${ROWS.toLocaleString('en')} rows. The load generator was ${generator}.`;
  return {
    goals: goalTables(judge(scenarios, median(startTimesMs))),
    results: [origin, ...problems(comparison), ...metricTables(scenarios)],
  };
}

export function reportScale(result: ScaleResult): Report {
  const { scenarios } = result;
  const verdicts = judgeScale(scenarios);
  const missed = verdicts.filter(({ met }) => !met).map((verdict) => `- ${verdict.goal}: ${formatVerdict(verdict)}`);
  const met =
    missed.length > 0
      ? `${verdicts.length - missed.length} of the ${verdicts.length} goals are met.`
      : `All ${verdicts.length} goals are met.`;
  const columns = 'The column for the fewest rows has the cost in ms. The columns for more rows have the ratio to this cost.';
  return {
    goals: missed.length > 0 ? [`${met} The list shows the missed goals.`, missed.join('\n')] : [met],
    results: [`${describe(result)} ${columns}`, scaleTable(scenarios)],
  };
}

function describe({ machine, measuredAt, options }: Origin): string {
  const { cores, cpu, node } = machine;
  const rounds = `${options.rounds} rounds of ${options.seconds} s`;
  return `The bench ran ${rounds} on ${cores} cores (${cpu}), with Node.js ${node}, on ${measuredAt.slice(0, 10)}.`;
}

/** Returns a line for each target that was skipped or failed, with the reason. */
function problems({ missing, scenarios }: Comparison): string[] {
  return [
    ...Object.entries(missing).map(([name, requirement]) => `${name} was skipped. It requires: ${requirement}`),
    ...scenarios.flatMap(({ workload, connections, failures }) =>
      Object.entries(failures).map(([name, failure]) => `${name} failed in ${workload}, connections: ${connections}: ${failure}`),
    ),
  ];
}

/** Returns a table with one row per goal and one column per workload, then a list of the goals that concern no single workload. */
export function goalTables(verdicts: readonly Verdict[]): string[] {
  const ofWorkloads = verdicts.filter(({ workload }) => workload !== undefined);
  const rows = [...Map.groupBy(ofWorkloads, ({ goal }) => goal)].map(([goal, group]) => [
    goal,
    ...WORKLOADS.map((name) => formatVerdict(group.find(({ workload }) => workload === name))),
  ]);
  const others = verdicts.filter(({ workload }) => workload === undefined).map((verdict) => `- ${verdict.goal}: ${formatVerdict(verdict)}`);
  return [table(['goal', ...WORKLOADS], rows), ...(others.length > 0 ? [others.join('\n')] : [])];
}

/** Formats the measured and the required value. A goal that is not met is bold. */
function formatVerdict(verdict: Verdict | undefined): string {
  if (verdict === undefined) return '–';
  const measured = number(verdict.measured);
  return `${verdict.met ? measured : `**${measured}**`} (${verdict.required})`;
}

/** Returns the results of a comparison: a heading and a table per metric, with one row per target and one column per workload. */
export function metricTables(scenarios: readonly ScenarioResult[]): string[] {
  const shown = scenarios.map((scenario) => without(scenario, ({ hasConflicts }) => hasConflicts));
  const many = shown.filter(({ connections }) => connections === MANY_CONNECTIONS);
  const single = shown.filter(({ connections }) => connections === 1);
  const measurements = scenarios.flatMap(({ rounds }) => Object.values(rounds));
  const errors = measurements.flat().reduce((sum, measured) => sum + measured.errors, 0);
  return [
    `Each cell shows the median of the rounds. There were ${errors.toLocaleString('en')} errors. ` + describeSpread(scenarios),
    ...metricTable('Requests per second, 64 connections', many, perSecond),
    ...metricTable('99th percentile, ms, 64 connections', many, p99),
    ...metricTable('CPU of the service, ms per 1,000 requests', many, ({ serviceCpu }) => serviceCpu),
    ...metricTable(
      'CPU of PostgreSQL, ms per 1,000 requests',
      many.map((scenario) => without(scenario, ({ constant }) => constant)),
      ({ postgresCpu }) => postgresCpu,
    ),
    ...metricTable('Median latency, ms, 1 connection', single, p50),
  ];
}

/** Names the largest spread of the requests per second of a target under a load. */
export function describeSpread(scenarios: readonly ScenarioResult[]): string {
  const spreads = scenarios.flatMap(({ rounds }) => Object.values(rounds).map((of) => spread(of.map(perSecond))));
  return `For each target, the fastest and the slowest round differ by at most ${Math.round(Math.max(...spreads) * 100)} % of the median requests per second.`;
}

/** Returns the scenario without the targets that a table leaves out. */
function without(scenario: ScenarioResult, isRemoved: (target: Target) => boolean | undefined): ScenarioResult {
  const targets: Readonly<Record<string, Target>> = TARGETS;
  const kept = Object.entries(scenario.rounds).filter(([name]) => !(targets[name] && isRemoved(targets[name])));
  return { ...scenario, rounds: Object.fromEntries(kept) };
}

function metricTable(title: string, scenarios: readonly ScenarioResult[], metric: Metric): string[] {
  if (scenarios.length === 0) return [];
  const targets = [...new Set(scenarios.flatMap(({ rounds }) => Object.keys(rounds)))].sort();
  const rows = targets.map((name) => [name, ...scenarios.map(({ rounds }) => number(medianOf(rounds, name, metric)))]);
  return [`### ${title}`, table(['target', ...scenarios.map(({ workload }) => workload)], rows)];
}

/** Has the cost at the fewest rows in milliseconds, and the other costs relative to it. */
function scaleTable(scenarios: readonly ScenarioResult[]): string {
  const [fewest = 0, ...counts] = [...new Set(scenarios.flatMap(rowCounts))];
  return table(
    ['read, connections', ...[fewest, ...counts].map((count) => `${count.toLocaleString('en')} rows`)],
    scenarios.map((scenario) => [
      `${scenario.workload}, ${scenario.connections}`,
      medianOf(scenario.rounds, String(fewest), costAt(scenario.connections)).toFixed(3),
      ...counts.map((count) => number(costRatio(scenario, count))),
    ]),
  );
}

/** Formats a number with grouped thousands and two decimals, one from 10 and none from 100. Returns a dash for a missing number. */
export function number(value: number): string {
  if (!Number.isFinite(value)) return '–';
  if (value >= 100) return Math.round(value).toLocaleString('en');
  return value.toFixed(value >= 10 ? 1 : 2);
}
