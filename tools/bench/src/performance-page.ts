import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { format, resolveConfig } from 'prettier';
import { cpuChart, scaleChart, throughputChart } from './charts.js';
import type { Comparison } from './compare.js';
import { reportComparison, reportScale } from './report.js';
import type { ScaleResult } from './scale.js';

const DOCS = 'docs';
const PAGE = join(DOCS, 'performance.md');

/** Writes the charts, goals and results of a comparison to docs/performance.md. */
export async function writeComparison(comparison: Comparison): Promise<void> {
  const { goals, results } = reportComparison(comparison);
  const throughput = await writeChart('throughput', 'Requests per second', throughputChart(comparison.scenarios));
  const cpu = await writeChart('cpu', 'CPU per request', cpuChart(comparison.scenarios));
  await writeSections({ goals: [throughput, cpu, ...goals], bench: results });
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
