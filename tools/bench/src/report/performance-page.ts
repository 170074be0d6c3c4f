import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { format, resolveConfig } from 'prettier';
import type { Comparison } from '../compare.js';
import type { Machine } from '../machine.js';
import type { ScaleResult } from '../scale.js';
import { judgeScale } from '../scale-verdicts.js';
import { median } from '../statistics.js';
import { judge } from '../verdicts.js';
import { replaceSection } from './page-section.js';
import { cpuChart, scaleChart, throughputChart } from './charts.js';
import { scenarioTable, scenarioTitle, skippedTargets, verdictTable } from './result-tables.js';
import { scaleTable } from './scale-table.js';

const DOCS = 'docs';
const PAGE = join(DOCS, 'performance.md');

/** Writes the tables and charts of a comparison to docs/performance.md. */
export async function writeComparison(comparison: Comparison): Promise<void> {
  const { scenarios, options, startTimesMs, generator, rows } = comparison;
  const charts = { throughput: throughputChart(scenarios), cpu: cpuChart(scenarios) };
  for (const [name, svg] of Object.entries(charts)) await writeFile(join(DOCS, chartFile(name)), svg);
  await writeSection('bench', [
    `${rows.toLocaleString('en')} rows, ${options.rounds} rounds of ${options.seconds} s, load by ${generator}. ${origin(comparison)}`,
    'CPU is in milliseconds per 1,000 requests. `CPU load` is the share of one core that the load generator used.',
    `![Requests per second](${chartFile('throughput')})`,
    `![CPU per request](${chartFile('cpu')})`,
    ...skippedTargets(comparison),
    '### Goals',
    verdictTable(judge(scenarios, median(startTimesMs))),
    ...scenarios.flatMap((scenario) => [`### ${scenarioTitle(scenario)}`, scenarioTable(scenario)]),
  ]);
}

export async function writeScale(result: ScaleResult): Promise<void> {
  await writeFile(join(DOCS, chartFile('scale')), scaleChart(result));
  await writeSection('scale', [
    `${result.options.rounds} rounds of ${result.options.seconds} s. ${origin(result)}`,
    'Each cell has milliseconds and the ratio to those at the fewest rows. Milliseconds are the median latency at 1 connection, and the time between responses at 64.',
    `![Cost by number of rows](${chartFile('scale')})`,
    scaleTable(result),
    '### Goals by number of rows',
    verdictTable(judgeScale(result)),
  ]);
}

const chartFile = (name: string) => `performance-${name}.generated.svg`;

function origin({ machine, measuredAt }: { machine: Machine; measuredAt: string }): string {
  return `${machine.cores} cores of ${machine.cpu}, Node.js ${machine.node}, ${measuredAt.slice(0, 10)}.`;
}

async function writeSection(name: string, blocks: readonly string[]): Promise<void> {
  const text = replaceSection(await readFile(PAGE, 'utf8'), name, blocks.join('\n\n'));
  await writeFile(PAGE, await format(text, { ...(await resolveConfig(PAGE)), parser: 'markdown' }));
}
