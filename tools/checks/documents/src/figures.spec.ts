import { expect, it } from '@jest/globals';
import { readText } from '@animal-store/checks/workspace';

const [performance, scaling] = [readText('docs/performance.md'), readText('docs/scaling.md')];

const CPU = ['CPU of the service', 'CPU of PostgreSQL'] as const;

/** Returns a cell of a table of results in performance.md. */
function cell(title: string, target: string, workload: string): string | undefined {
  const table = performance.split(`### ${title}`)[1]?.split('\n### ')[0] ?? '';
  const rows = table.split('\n').map((line) => line.split('|').map((text) => text.trim()));
  const index = rows.find((row) => row.includes(workload))?.indexOf(workload) ?? -1;
  return rows.find((row) => row[1] === target)?.[index];
}

/** Returns the CPU of a request in ms. performance.md has it per 1,000 requests. */
function measured(workload: string, process: 'service' | 'PostgreSQL'): number {
  return Number(cell(`CPU of ${process === 'service' ? 'the service' : process}, ms per 1,000 requests`, 'animal-store', workload)) / 1_000;
}

/** Returns the CPU time in ms of a row of the first table in scaling.md. */
function planned(unit: string): number {
  const row = scaling.split('\n').find((line) => line.startsWith(`| ${unit} `));
  return Number(/ ([\d.]+) ms of CPU time/.exec(row ?? '')?.[1]);
}

it('docs/scaling.md plans 1 to 2.5 times the CPU in docs/performance.md', () => {
  const ratios = {
    service: planned('A request, in the service') / measured('mixed', 'service'),
    postgres: planned('A request, in PostgreSQL') / measured('mixed', 'PostgreSQL'),
    page: planned('A page, in PostgreSQL') / measured('list-mixed', 'PostgreSQL'),
    get: planned('A `get`, in PostgreSQL') / measured('get', 'PostgreSQL'),
    creation: planned('A creation, in PostgreSQL') / measured('create', 'PostgreSQL'),
  };
  for (const [name, ratio] of Object.entries(ratios)) {
    expect({ name, isPlanned: ratio >= 1 && ratio <= 2.5 }).toEqual({ name, isPlanned: true });
  }
});

it('README.md has the figures of docs/performance.md', () => {
  const rows = readText('README.md').matchAll(/^\| (\S+) +\| +([\d,]+) \| +(\d+) \| +([\d.]+) \|$/gm);
  const found = [...rows].map(([, ...cells]) => cells);
  const expected = ['animal-store', 'rust-hyper', 'go-pgx', 'fastify-pg', 'stock-nest'].map((target) => [
    target,
    cell('Requests per second, 64 connections', target, 'mixed'),
    String(Math.round(CPU.reduce((sum, title) => sum + Number(cell(`${title}, ms per 1,000 requests`, target, 'mixed')), 0))),
    cell('99th percentile, ms, 64 connections', target, 'mixed'),
  ]);
  expect(found).toEqual(expected);
  expect(performance).toContain(/, ([\d-]+) \(\[method/m.exec(readText('README.md'))?.[1]);
});
