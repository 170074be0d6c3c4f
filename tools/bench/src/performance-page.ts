import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type EChartsCoreOption, init } from 'echarts';
import { format, resolveConfig } from 'prettier';
import type { ScenarioResult } from './bench.js';
import type { Comparison } from './compare.js';
import { costRatio, MANY_CONNECTIONS, rowCounts, SCALE_GOAL } from './goals.js';
import { cpu, medianOf, type Metric, perSecond } from './measurement.js';
import { reportComparison, reportScale } from './report.js';
import type { ScaleResult } from './scale.js';
import { ANIMAL_STORE } from './targets.js';

const DOCS = 'docs';
const PAGE = join(DOCS, 'performance.md');
const WIDTH = 960;
const HEIGHT = 440;
const ANIMAL_STORE_COLOR = '#c2410c';
const PEER_COLORS = ['#0f766e', '#1d4ed8', '#7c3aed', '#64748b', '#94a3b8', '#b8c2cf', '#a16207', '#4d7c0f'];

/** Writes the charts, goals and results of a comparison to docs/performance.md. */
export async function writeComparison(comparison: Comparison): Promise<void> {
  const { goals, results } = reportComparison(comparison);
  const { scenarios } = comparison;
  const throughputChart = barChart('Requests per second, 64 connections', scenarios, perSecond);
  const cpuChart = barChart('CPU of service and PostgreSQL, ms per 1,000 requests, 64 connections', scenarios, cpu);
  const charts = [
    await writeChart('throughput', 'Requests per second', throughputChart),
    await writeChart('cpu', 'CPU per request', cpuChart),
  ];
  await writeSections({ goals: [...charts, ...goals], bench: results });
}

/** Writes the chart, goals and results by number of rows to docs/performance.md. */
export async function writeScale(result: ScaleResult): Promise<void> {
  const { goals, results } = reportScale(result);
  const chart = await writeChart('scale', 'Cost by number of rows', scaleChart(result.scenarios));
  await writeSections({ 'scale-goals': [chart, ...goals], scale: results });
}

/** Returns the Markdown of the image. */
async function writeChart(name: string, title: string, svg: string): Promise<string> {
  const file = `performance-${name}.generated.svg`;
  await writeFile(join(DOCS, file), svg);
  return `![${title}](${file})`;
}

async function writeSections(sections: Readonly<Record<string, readonly string[]>>): Promise<void> {
  const page = await readFile(PAGE, 'utf8');
  const text = Object.entries(sections).reduce((replaced, [name, blocks]) => replaceSection(replaced, name, blocks.join('\n\n')), page);
  await writeFile(PAGE, await format(text, { ...(await resolveConfig(PAGE)), parser: 'markdown' }));
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

/** Returns a chart of the costs at 1 connection, relative to those at the fewest rows. */
function scaleChart(scenarios: readonly ScenarioResult[]): string {
  const single = scenarios.filter(({ connections }) => connections === 1);
  const counts = [...new Set(single.flatMap(rowCounts))];
  return render({
    ...frame('Cost by number of rows, relative to 1,000 rows, 1 connection'),
    xAxis: { type: 'category', data: counts.map((rows) => rows.toLocaleString('en')) },
    yAxis: { type: 'value', min: 0 },
    series: [
      ...single.map((one) => ({ type: 'line', name: one.workload, data: counts.map((rows) => rounded(costRatio(one, rows))) })),
      { type: 'line', name: 'goal', lineStyle: { type: 'dashed' }, symbol: 'none', data: counts.map(() => SCALE_GOAL) },
    ],
  });
}

function barChart(title: string, scenarios: readonly ScenarioResult[], metric: Metric): string {
  const many = scenarios.filter(({ connections }) => connections === MANY_CONNECTIONS);
  const names = [...new Set(many.flatMap(({ rounds }) => Object.keys(rounds)))];
  const targets = [...names.filter((name) => name === ANIMAL_STORE), ...names.filter((name) => name !== ANIMAL_STORE).sort()];
  return render({
    ...frame(title),
    xAxis: { type: 'category', data: many.map(({ workload }) => workload) },
    yAxis: { type: 'value' },
    series: targets.map((name, index) => ({
      type: 'bar',
      name,
      itemStyle: { color: name === ANIMAL_STORE ? ANIMAL_STORE_COLOR : PEER_COLORS[(index - 1) % PEER_COLORS.length] },
      data: many.map((scenario) => rounded(medianOf(scenario.rounds, name, metric))),
    })),
  });
}

function frame(title: string): EChartsCoreOption {
  return {
    animation: false,
    backgroundColor: '#ffffff',
    title: { text: title, left: 'center', textStyle: { fontSize: 15 } },
    legend: { bottom: 0 },
    grid: { left: 70, right: 20, top: 45, bottom: 70 },
  };
}

/** Rounds a value. ECharts takes a dash for a missing value. */
function rounded(value: number): number | '-' {
  return Number.isFinite(value) ? Number(value.toPrecision(4)) : '-';
}

/** Renders the chart as SVG without a browser. */
function render(option: EChartsCoreOption): string {
  const chart = init(null, null, { renderer: 'svg', ssr: true, width: WIDTH, height: HEIGHT });
  chart.setOption(option);
  const svg = chart.renderToSVGString();
  chart.dispose();
  return `${svg}\n`;
}
