import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { barChart } from './bar-chart.js';
import { table } from './table.js';
import { format, resolveConfig } from 'prettier';
import type { ScenarioResult } from './bench.js';
import type { Comparison } from './compare.js';
import { costRatio, costRatios, describeConnections, MANY_CONNECTIONS, rowCounts, SCALE_GOAL } from './goals.js';
import { cpu, medianOf, type Metric, p99, perSecond } from './measurement.js';
import { describeSpread, number, reportComparison, reportScale } from './report.js';
import type { ScaleResult } from './scale.js';
import { ANIMAL_STORE } from './targets.js';

const DOCS = 'docs';
const PAGE = join(DOCS, 'performance.md');
const README = 'README.md';
/** The targets in the charts and in README.md. The tables of performance.md have the others, too. */
const CHARTED = {
  [ANIMAL_STORE]: 'vermillion',
  'rust-hyper': 'blue',
  'go-pgx': 'green',
  'fastify-pg': 'purple',
  'stock-nest': 'orange',
} as const;

/** Writes the charts, goals and results of a comparison to docs/performance.md, and those of the load `mixed`, if measured, to README.md. */
export async function writeComparison(comparison: Comparison): Promise<void> {
  const { goals, results } = reportComparison(comparison);
  const { scenarios } = comparison;
  const throughputChart = workloadChart('Requests per second, 64 connections', '', scenarios, perSecond);
  const cpuChart = workloadChart('CPU time of a request in µs, 64 connections', 'Service and PostgreSQL. ', scenarios, cpu);
  const charts = [
    await writeChart('throughput', 'Requests per second', throughputChart),
    await writeChart('cpu', 'CPU per request', cpuChart),
  ];
  await writeSections(PAGE, { goals: [...charts, ...goals], bench: results });
  if (scenarios.some(({ workload }) => workload === 'mixed'))
    await writeSections(README, { mixed: [...results.slice(0, 1), mixedTable(scenarios), mixedSpread(scenarios)] });
}

/** Writes the chart, goals and results by number of rows to docs/performance.md. */
export async function writeScale(result: ScaleResult): Promise<void> {
  const { goals, results } = reportScale(result);
  const chart = await writeChart('scale', 'Cost by number of rows', scaleChart(result.scenarios));
  await writeSections(PAGE, { 'scale-goals': [chart, ...goals], scale: results });
}

/** Returns the Markdown of the image. */
async function writeChart(name: string, title: string, svg: string): Promise<string> {
  const file = `performance-${name}.generated.svg`;
  await writeFile(join(DOCS, file), svg);
  return `![${title}](${file})`;
}

async function writeSections(file: string, sections: Readonly<Record<string, readonly string[]>>): Promise<void> {
  const page = await readFile(file, 'utf8');
  const text = Object.entries(sections).reduce((replaced, [name, blocks]) => replaceSection(replaced, name, blocks.join('\n\n')), page);
  await writeFile(file, await format(text, { ...(await resolveConfig(file)), parser: 'markdown' }));
}

export function mixedTable(scenarios: readonly ScenarioResult[]): string {
  const rounds = scenarios.find(({ workload }) => workload === 'mixed')?.rounds ?? {};
  const rows = Object.keys(CHARTED).map((name) => [name, ...[perSecond, cpu, p99].map((metric) => number(medianOf(rounds, name, metric)))]);
  return table(['Service', 'Requests/s', 'CPU per request, µs', 'p99, ms'], rows);
}

/** Returns the spread of the rounds of the targets in README.md. */
export function mixedSpread(scenarios: readonly ScenarioResult[]): string {
  const mixed = scenarios.filter(({ workload }) => workload === 'mixed');
  const isCharted = ([name]: readonly [string, unknown]) => name in CHARTED;
  return describeSpread(
    mixed.map((scenario) => ({ ...scenario, rounds: Object.fromEntries(Object.entries(scenario.rounds).filter(isCharted)) })),
  );
}

/**
 * Returns the page with the text between the markers of the section replaced.
 * @throws Error if the page has no such markers
 */
export function replaceSection(page: string, name: string, content: string): string {
  const begin = page.indexOf(`<!-- ${name}: written by `);
  const beginEnd = page.indexOf('-->', begin) + '-->'.length;
  const end = page.indexOf(`<!-- end of ${name} -->`, beginEnd);
  if (begin < 0 || end < 0) throw new Error(`The page has no markers of the section ${name}.`);
  return `${page.slice(0, beginEnd)}\n\n${content}\n\n${page.slice(end)}`;
}

const range = (values: readonly number[]) => [Math.min(...values), Math.max(...values)] as const;

/** Returns a chart of the costs relative to those at the fewest rows, with a column for each number of connections. */
function scaleChart(scenarios: readonly ScenarioResult[]): string {
  return barChart({
    title: 'Cost of a read, relative to 1,000 rows',
    note: `Whiskers: slowest and fastest round. Dashed: the goal (≤ ${SCALE_GOAL}).`,
    columns: 2,
    labelWidth: 94,
    textWidth: 92,
    limit: SCALE_GOAL,
    groups: scenarios.map((scenario) => ({
      title: `${scenario.workload}, ${describeConnections(scenario)}`,
      bars: rowCounts(scenario)
        .slice(1)
        .map((rows, index, all) => {
          const value = costRatio(scenario, rows);
          const isMissed = index === all.length - 1 && value > SCALE_GOAL;
          return {
            label: rows.toLocaleString('en'),
            color: isMissed ? 'vermillion' : 'blue',
            value,
            range: range(costRatios(scenario, rows)),
            text: `${number(value)}${isMissed ? ', missed' : ''}`,
          } as const;
        }),
    })),
  });
}

/** Returns a chart with a group for each workload and a bar for each of the main targets. */
function workloadChart(title: string, note: string, scenarios: readonly ScenarioResult[], metric: Metric): string {
  const many = scenarios.filter(({ connections }) => connections === MANY_CONNECTIONS);
  return barChart({
    title,
    note: `${note}Whiskers: slowest and fastest round.`,
    labelWidth: 104,
    textWidth: 60,
    groups: many.map(({ workload, rounds }) => ({
      title: workload,
      bars: Object.entries(CHARTED).map(([label, color]) => {
        const value = medianOf(rounds, label, metric);
        return { label, color, value, range: range((rounds[label] ?? []).map(metric)), text: number(value) };
      }),
    })),
  });
}
