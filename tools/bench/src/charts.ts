import { type EChartsCoreOption, init } from 'echarts';
import type { ScenarioResult } from './bench.js';
import { costRatio, MANY_CONNECTIONS, rowCounts, SCALE_GOAL } from './goals.js';
import { cpu, medianOf, type Metric, perSecond } from './measurement.js';
import { ANIMAL_STORE } from './targets.js';

const WIDTH = 960;
const HEIGHT = 440;
const ANIMAL_STORE_COLOR = '#c2410c';
const PEER_COLORS = ['#0f766e', '#1d4ed8', '#7c3aed', '#64748b', '#94a3b8', '#b8c2cf', '#a16207', '#4d7c0f'];

export function throughputChart(scenarios: readonly ScenarioResult[]): string {
  return barChart('Requests per second, 64 connections', scenarios, perSecond);
}

export function cpuChart(scenarios: readonly ScenarioResult[]): string {
  return barChart('CPU of service and PostgreSQL, ms per 1,000 requests, 64 connections', scenarios, cpu);
}

/** Returns a chart of the costs at 1 connection, relative to those at the fewest rows. */
export function scaleChart(scenarios: readonly ScenarioResult[]): string {
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
