import type { BenchResult, Scenario } from './bench.js';
import { cpu, medianOf, p50, p99, perSecond, ratio } from './measurement.js';
import { ANIMAL_STORE, BASELINE } from './targets.js';

/** Returns one row for each target under each load. Each cell is the median of the rounds. */
export function resultTable({ origin, scenarios }: BenchResult): string {
  const reference = scenarios.some(({ rounds }) => BASELINE in rounds) ? BASELINE : ANIMAL_STORE;
  const columns = [
    'requests/s',
    'p50, ms',
    'p99, ms',
    'CPU of service, µs',
    'CPU of PostgreSQL, µs',
    `CPU ÷ ${reference}`,
    `p50 ÷ ${reference}`,
  ];
  const rowOf =
    ({ workload, connections, rounds }: Scenario) =>
    (target: string) => [
      `${workload}, ${connections}, ${target}`,
      ...[
        medianOf(rounds, target, perSecond),
        medianOf(rounds, target, p50),
        medianOf(rounds, target, p99),
        medianOf(rounds, target, ({ serviceCpu }) => serviceCpu),
        medianOf(rounds, target, ({ postgresCpu }) => postgresCpu),
        ratio(rounds, target, reference, cpu),
        ratio(rounds, target, reference, p50),
      ].map(number),
    ];
  const rows = scenarios.flatMap((scenario) => Object.keys(scenario.rounds).sort().map(rowOf(scenario)));
  return `${origin}\n\n${table(['load, connections, target', ...columns], rows)}`;
}

/** Returns the table of README.md: the load `mixed` over many connections. */
export function summaryTable({ origin, scenarios }: BenchResult): string {
  const { rounds = {} } = scenarios.find(({ workload, connections }) => workload === 'mixed' && connections > 1) ?? {};
  const rows = Object.keys(rounds).map((target) => [
    target,
    ...[perSecond, cpu, p99].map((metric) => number(medianOf(rounds, target, metric))),
  ]);
  return `${origin}\n\n${table(['Service', 'Requests/s', 'CPU per request, µs', 'p99, ms'], rows)}`;
}

/** @throws Error if the page has no markers */
export function replaceTable(page: string, text: string): string {
  const section = /(<!-- bench: [^>]* -->\n)[^]*?(?=<!-- end of bench -->)/;
  if (!section.test(page)) throw new Error('The page has no markers of the section bench.');
  return page.replace(section, (_, marker: string) => `${marker}\n${text}\n\n`);
}

/** Formats a number with grouped thousands and two decimals, one from 10 and none from 100. Returns a dash for a missing number. */
function number(value: number): string {
  if (!Number.isFinite(value)) return '–';
  if (value >= 100) return Math.round(value).toLocaleString('en');
  return value.toFixed(value >= 10 ? 1 : 2);
}

/** Returns a Markdown table with aligned columns, numbers on the right. */
function table(header: readonly string[], rows: readonly (readonly string[])[]): string {
  const widths = header.map((name, column) => Math.max(3, name.length, ...rows.map((row) => row[column]?.length ?? 0)));
  const line = (cells: readonly string[]) =>
    `| ${widths.map((width, column) => (column === 0 ? (cells[column] ?? '').padEnd(width) : (cells[column] ?? '').padStart(width))).join(' | ')} |`;
  const rule = `| ${widths.map((width, column) => (column === 0 ? '-'.repeat(width) : `${'-'.repeat(width - 1)}:`)).join(' | ')} |`;
  return [line(header), rule, ...rows.map(line)].join('\n');
}
