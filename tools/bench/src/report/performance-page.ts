import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { format, resolveConfig } from 'prettier';
import type { Comparison } from '../compare.js';
import type { Machine } from '../machine.js';
import type { ScaleResult } from '../scale.js';
import { judgeScale } from '../scale-verdicts.js';
import { median } from '../statistics.js';
import { judge } from '../verdicts.js';
import { sectionReplaced } from './page-section.js';
import { cpuChart, scaleChart, throughputChart } from './charts.js';
import { leftOut, scenarioTable, scenarioTitle, verdictTable } from './result-tables.js';
import { scaleTable } from './scale-table.js';

const DOCS = 'docs';
const PAGE = join(DOCS, 'performance.md');

/** Writes the tables and charts of a comparison to docs/performance.md. */
export async function writeComparison(comparison: Comparison): Promise<void> {
  const { scenarios, options, startsMs, generator, rows } = comparison;
  const charts = { throughput: throughputChart(scenarios), cpu: cpuChart(scenarios) };
  for (const [name, svg] of Object.entries(charts)) await writeFile(join(DOCS, chartFile(name)), svg);
  await replaceSection('bench', [
    `${rows.toLocaleString('en')} rows, ${options.rounds} rounds of ${options.seconds} s, load by ${generator}. ${origin(comparison)}`,
    'CPU is in milliseconds for 1,000 requests; `CPU load` is the share of one core that the load generator took.',
    `![Requests per second](${chartFile('throughput')})`,
    `![CPU per request](${chartFile('cpu')})`,
    ...leftOut(comparison),
    '### Goals',
    verdictTable(judge(scenarios, median(startsMs))),
    ...scenarios.flatMap((scenario) => [`### ${scenarioTitle(scenario)}`, scenarioTable(scenario)]),
  ]);
}

export async function writeScale(result: ScaleResult): Promise<void> {
  await writeFile(join(DOCS, chartFile('scale')), scaleChart(result));
  await replaceSection('scale', [
    `${result.options.rounds} rounds of ${result.options.seconds} s. ${origin(result)}`,
    'Milliseconds: at 1 connection the median latency, at 64 the time between answers; then how many times that at the fewest rows.',
    `![Cost by rows](${chartFile('scale')})`,
    scaleTable(result),
    '### Goals by rows',
    verdictTable(judgeScale(result)),
  ]);
}

const chartFile = (name: string) => `performance-${name}.generated.svg`;

function origin({ machine, measuredAt }: { machine: Machine; measuredAt: string }): string {
  return `${machine.cores} cores of ${machine.cpu}, Node.js ${machine.node}, ${measuredAt.slice(0, 10)}.`;
}

async function replaceSection(name: string, blocks: readonly string[]): Promise<void> {
  const text = sectionReplaced(await readFile(PAGE, 'utf8'), name, blocks.join('\n\n'));
  await writeFile(PAGE, await format(text, { ...(await resolveConfig(PAGE)), parser: 'markdown' }));
}
