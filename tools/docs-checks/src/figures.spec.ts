import { expect, it } from '@jest/globals';
import { readText } from '@animal-store/checks/workspace';

const [performance, scaling] = [readText('docs/performance.md'), readText('docs/scaling.md')];

/** Returns the CPU of a request in ms. performance.md has it per 1,000 requests. */
function measured(workload: string, process: 'service' | 'PostgreSQL'): number {
  const title = { service: 'CPU of the service', PostgreSQL: 'CPU of PostgreSQL' }[process];
  const table = performance.split(`### ${title}, ms per 1,000 requests`)[1]?.split('\n### ')[0] ?? '';
  const rows = table.split('\n').map((line) => line.split('|').map((cell) => cell.trim()));
  const index = rows.find((row) => row.includes(workload))?.indexOf(workload) ?? -1;
  return Number(rows.find((row) => row[1] === 'animal-store')?.[index]) / 1_000;
}

function planned(unit: string): number[] {
  const row = scaling.split('\n').find((line) => line.startsWith(`| ${unit} `));
  return [...(row?.split('|')[2]?.matchAll(/[\d.]+/g) ?? [])].map(Number);
}

it('docs/scaling.md plans 1 to 2.5 times the CPU in docs/performance.md', () => {
  const [service] = planned('Service, per request');
  const [postgres] = planned('PostgreSQL, per request');
  const [page, get, creation] = planned('PostgreSQL, per page / `get` / creation');
  const ratios = {
    service: Number(service) / measured('mixed', 'service'),
    postgres: Number(postgres) / measured('mixed', 'PostgreSQL'),
    page: Number(page) / measured('list-mixed', 'PostgreSQL'),
    get: Number(get) / measured('get', 'PostgreSQL'),
    creation: Number(creation) / measured('create', 'PostgreSQL'),
  };
  for (const [name, ratio] of Object.entries(ratios)) {
    expect({ name, isPlanned: ratio >= 1 && ratio <= 2.5 }).toEqual({ name, isPlanned: true });
  }
});

it.each(['scaling', 'security', 'deployment'])('docs/%s.md repeats no ratio and no throughput of docs/performance.md', (name) => {
  const figures = /\d[\d.,]* (?:times as many|requests\/s)\b|\| [\d,]+ measured\b/g;
  expect(readText(`docs/${name}.md`).match(figures)).toBeNull();
});
