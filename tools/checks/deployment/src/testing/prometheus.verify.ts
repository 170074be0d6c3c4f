import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { findFreePort, waitFor } from '@animal-store/local-postgres/testing';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { stringify, parse } from 'yaml';
import { alerts, queries, readChartFile, readWorkspaceFile, RULE_FILES, rules } from './files.js';
import { ObservedService } from './observed-service.js';

// `npm run verify -- prometheus`: not part of `npm test`, since Prometheus is not in the npm registry.

if (spawnSync('promtool', ['--version']).error) {
  throw new Error("promtool is missing. Install Debian's package prometheus (apt-get install --no-install-recommends prometheus)");
}

const TEST_FILES = RULE_FILES.map((file) => file.replace('.yml', '.test.yml'));
/** The product has no subscription. */
const OF_SUBSCRIPTIONS = /\bevents?_(?:subscription|processed|failures)\w+/;
const LONG_TIMEOUT = { timeoutMs: 60_000 };

const folder = mkdtempSync(join(tmpdir(), 'animal-store-prometheus-'));
const promtool = (...args: readonly string[]) => spawnSync('promtool', args, { cwd: folder, encoding: 'utf8' });

beforeAll(() => {
  for (const file of [...RULE_FILES, ...TEST_FILES]) writeFileSync(join(folder, file), readChartFile(`prometheus/${file}`));
});
afterAll(() => rmSync(folder, { recursive: true }));

it('promtool accepts the rules', () => {
  expect(promtool('check', 'rules', '--lint=all', '--lint-fatal', ...RULE_FILES)).toMatchObject({ status: 0, stderr: '' });
});

it('the unit tests of the rules pass', () => {
  expect(promtool('test', 'rules', ...TEST_FILES)).toMatchObject({ status: 0, stderr: '' });
}, 300_000);

it('the unit tests of the rules fail if a threshold changes', () => {
  const changed = join(folder, 'changed');
  cpSync(join(folder, 'rules.test.yml'), join(changed, 'rules.test.yml'));
  writeFileSync(join(changed, 'rules.yml'), readChartFile('prometheus/rules.yml').replaceAll('> 14.4 *', '> 28.8 *'));
  const { status, stderr } = promtool('test', 'rules', 'changed/rules.test.yml');
  expect(status).toBe(1);
  expect(stderr).toContain('AnimalStoreErrorBudgetBurnsFast');
}, 300_000);

it('promtool accepts the configuration of Docker Compose', () => {
  writeFileSync(join(folder, 'prometheus.yml'), readWorkspaceFile('deploy/compose/prometheus.yml'));
  expect(promtool('check', 'config', '--syntax-only', 'prometheus.yml')).toMatchObject({ status: 0 });
});

interface QueryResponse {
  readonly status: string;
  readonly error?: string;
  readonly data?: { readonly result: readonly unknown[] };
}

interface RulesResponse {
  readonly data: { readonly groups: readonly { readonly rules: readonly { readonly name: string; readonly health: string }[] }[] };
}

describe('a Prometheus that scrapes the service', () => {
  let service: ObservedService;
  let prometheus: ChildProcess;
  let url: string;
  const get = async <T>(path: string) => (await (await fetch(url + path)).json()) as T;

  beforeAll(async () => {
    service = await ObservedService.start();
    await service.sendRequests();
    const config = parse(readWorkspaceFile('deploy/compose/prometheus.yml')) as {
      global: object;
      scrape_configs: { static_configs: { targets: string[] }[] }[];
    };
    const [job] = config.scrape_configs;
    writeFileSync(
      join(folder, 'scraping.yml'),
      stringify({
        global: { scrape_interval: '1s', evaluation_interval: '1s' },
        rule_files: RULE_FILES.map((file) => join(folder, file)),
        scrape_configs: [{ ...job, static_configs: [{ targets: [service.metricsAddress] }] }],
      }),
    );
    const port = await findFreePort();
    url = `http://127.0.0.1:${port}`;
    prometheus = spawn(
      'prometheus',
      [
        `--config.file=${join(folder, 'scraping.yml')}`,
        `--storage.tsdb.path=${join(folder, 'data')}`,
        `--web.listen-address=127.0.0.1:${port}`,
        '--log.level=warn',
      ],
      { stdio: ['ignore', 'inherit', 'inherit'] },
    );
    await waitFor(async () => expect((await fetch(`${url}/-/ready`)).status).toBe(200), LONG_TIMEOUT);
    // Rates need requests between two scrapes.
    await waitFor(async () => {
      await service.sendRequests();
      const { data } = await get<QueryResponse>(`/api/v1/query?query=${encodeURIComponent('rate(idempotent_replays_total[1m]) > 0')}`);
      expect(data?.result).toHaveLength(1);
    }, LONG_TIMEOUT);
  }, 240_000);

  afterAll(async () => {
    const exit = once(prometheus, 'exit');
    prometheus.kill('SIGKILL');
    await exit;
    await service.stop();
  });

  const shown = queries.filter(({ usedIn }) => usedIn.startsWith('panel') || usedIn.startsWith('variable'));

  it.each(shown.filter(({ expr }) => !OF_SUBSCRIPTIONS.test(expr)).map(({ usedIn, expr }) => [usedIn, expr]))(
    '%s has data: %s',
    async (_, expr) => {
      await waitFor(async () => {
        // Panels of problems show nothing while there are none.
        const query = encodeURIComponent(expr.replace(/ > 0$/, ''));
        const { status, error, data } = await get<QueryResponse>(`/api/v1/query?query=${query}`);
        expect([status, error]).toEqual(['success', undefined]);
        expect(data?.result.length).toBeGreaterThan(0);
      }, LONG_TIMEOUT);
    },
  );

  it('the metrics of subscriptions are exported, although the service has none', async () => {
    const names = shown.flatMap(({ expr }) => OF_SUBSCRIPTIONS.exec(expr)?.[0] ?? []);
    const exported = await (await fetch(`http://${service.metricsAddress}/metrics`)).text();
    expect(names.filter((name) => !exported.includes(`\n# TYPE ${name} `))).toEqual([]);
    expect(new Set(names).size).toBeGreaterThan(3);
  });

  it('every rule is evaluated without an error', async () => {
    await waitFor(async () => {
      const { data } = await get<RulesResponse>('/api/v1/rules');
      const evaluated = data.groups.flatMap((group) => group.rules);
      expect(evaluated.filter(({ health }) => health !== 'ok')).toEqual([]);
      expect(evaluated).toHaveLength(rules.length);
    }, LONG_TIMEOUT);
  });

  it('the alert for a lost Redis is pending, and the one for a lost service is not', async () => {
    const pending = async (alert: string) => {
      const query = encodeURIComponent(`ALERTS{alertname="${alert}", alertstate="pending"}`);
      return (await get<QueryResponse>(`/api/v1/query?query=${query}`)).data?.result.length;
    };
    expect(alerts.map(({ alert }) => alert)).toEqual(expect.arrayContaining(['AnimalStoreRedisDisconnected', 'AnimalStoreDown']));
    await waitFor(async () => expect(await pending('AnimalStoreRedisDisconnected')).toBe(1), LONG_TIMEOUT);
    expect(await pending('AnimalStoreDown')).toBe(0);
  });
});
