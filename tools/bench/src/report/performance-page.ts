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
import { formatVerdict, goalTable } from './goal-table.js';
import { metricTables } from './metric-tables.js';
import { skippedTargets } from './result-tables.js';
import { scaleTable } from './scale-table.js';

const DOCS = 'docs';
const PAGE = join(DOCS, 'performance.md');

/** Writes the charts, goals and results of a comparison to docs/performance.md. */
export async function writeComparison(comparison: Comparison): Promise<void> {
  const { scenarios, options, startTimesMs, generator, rows } = comparison;
  const charts = { throughput: throughputChart(scenarios), cpu: cpuChart(scenarios) };
  for (const [name, svg] of Object.entries(charts)) await writeFile(join(DOCS, chartFile(name)), svg);
  await writeSections({
    goals: [
      `![Requests per second](${chartFile('throughput')})`,
      `![CPU per request](${chartFile('cpu')})`,
      goalTable(judge(scenarios, median(startTimesMs))),
    ],
    bench: [
      `${rows.toLocaleString('en')} rows, ${options.rounds} rounds of ${options.seconds} s, load by ${generator}. ${origin(comparison)}`,
      ...skippedTargets(comparison),
      ...metricTables(scenarios),
    ],
  });
}

/** Writes the chart, goals and results by number of rows to docs/performance.md. */
export async function writeScale(result: ScaleResult): Promise<void> {
  await writeFile(join(DOCS, chartFile('scale')), scaleChart(result));
  const verdicts = judgeScale(result);
  const missed = verdicts.filter(({ met }) => !met).map((verdict) => `- ${verdict.goal}: ${formatVerdict(verdict)}`);
  await writeSections({
    'scale-goals': [
      `![Cost by number of rows](${chartFile('scale')})`,
      `Met: ${verdicts.length - missed.length} of ${verdicts.length}.`,
      ...(missed.length > 0 ? [missed.join('\n')] : []),
    ],
    scale: [
      `${result.options.rounds} rounds of ${result.options.seconds} s. ${origin(result)} Milliseconds at the fewest rows, then ratios.`,
      scaleTable(result),
    ],
  });
}

const chartFile = (name: string) => `performance-${name}.generated.svg`;

function origin({ machine, measuredAt }: { machine: Machine; measuredAt: string }): string {
  return `${machine.cores} cores of ${machine.cpu}, Node.js ${machine.node}, ${measuredAt.slice(0, 10)}.`;
}

async function writeSections(sections: Readonly<Record<string, readonly string[]>>): Promise<void> {
  const page = await readFile(PAGE, 'utf8');
  const text = Object.entries(sections).reduce((replaced, [name, blocks]) => replaceSection(replaced, name, blocks.join('\n\n')), page);
  await writeFile(PAGE, await format(text, { ...(await resolveConfig(PAGE)), parser: 'markdown' }));
}
