import { expect, it } from '@jest/globals';
import { parse } from 'yaml';
import { alerts, dashboard, readChartFile, readWorkspaceFile, RULE_FILES, rules } from './testing/files.js';

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
  expect(sections.map((section) => severities.exec(section)?.[1]?.toLowerCase())).toEqual(alerts.map(({ labels }) => labels?.['severity']));
  expect(sections.filter((section) => !parts.test(section))).toEqual([]);
});

it.each(alerts.map((rule) => [rule.alert, rule] as const))(
  '%s links to its section, pages or creates a ticket, and has a unit test in which it fires',
  (alert, { labels, annotations }) => {
    expect(annotations?.['runbook_url']).toMatch(new RegExp(`/docs/runbook\\.md#${alert.toLowerCase()}$`));
    expect(['page', 'ticket']).toContain(labels?.['severity']);
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
});

it.each(alerts.filter(({ alert }) => !alert.includes('Burns')).map((rule) => [rule.alert, rule] as const))(
  '%s looks at the last 5 minutes, and docs/runbook.md says for how long the condition holds',
  (alert, { expr, for: duration = '' }) => {
    // AnimalStoreNoRequests compares with the day before.
    expect(['', '5m', '5m,1d']).toContain([...rangesOf(expr)].join());
    const means = sections.find((section) => section.startsWith(`${alert}\n`))?.split('\n')[2] ?? '';
    const total = `${parseInt(duration) + 5}m`;
    if (duration !== '') expect(durations(means)).toContain(rangesOf(expr).size > 0 && durations(means).includes(total) ? total : duration);
  },
);

it.each([
  ['AnimalStoreDatabaseSlow', 'more than 1 % of the statements took over 500 ms', /0\.99,[^]*> 0\.5\s*$/],
  ['AnimalStoreJobOverdue', 'has not succeeded for three of its periods', /> 3 \* max by/],
  ['AnimalStoreEventsLate', 'the oldest event has been more than five minutes old', /> 300\s*$/],
  ['AnimalStoreKeysRejected', 'more than half of the requests', /> 0\.5 \* sum by/],
  ['AnimalStoreNoRequests', 'more than 0.1 requests/s on average', /> 0\.1\s*$/],
  ['AnimalStorePostgresDiskFull', 'less than 15 % of a volume', /< 0\.15\s*$/],
  ['AnimalStorePostgresBackupOld', 'older than 36 hours', /> 36 \* 3600\s*$/],
  ['AnimalStorePostgresConnectionsRunOut', 'more than 80 % of `max_connections`', /> 0\.8\s*$/],
])('%s has the threshold of docs/runbook.md: %s', (name, means, threshold) => {
  expect(sections.find((section) => section.startsWith(`${name}\n`))).toContain(means);
  expect(alerts.find(({ alert }) => alert === name)?.expr).toMatch(threshold);
});

it('the metrics have the job that the rules select, in Docker Compose and in Kubernetes', () => {
  const jobs = new Set(alerts.flatMap(({ expr }) => [...expr.matchAll(/job="([^"]+)"/g)].map(([, job]) => job)));
  const compose = parse(readWorkspaceFile('deploy/compose/prometheus.yml')) as { scrape_configs: readonly { job_name: string }[] };
  expect(jobs).toEqual(new Set(compose.scrape_configs.map(({ job_name: job }) => job)));
  expect(readChartFile('templates/monitoring.yaml')).toContain('jobLabel: app.kubernetes.io/name\n');
  expect(readChartFile('templates/_helpers.tpl')).toContain(`\napp.kubernetes.io/name: ${[...jobs].join()}\n`);
});

it('docs/runbook.md names panels that exist', () => {
  const text = runbook.replaceAll(/`[^`]*`/g, '');
  const named = [...text.matchAll(/_([^_\n]+)_/g)].map(([, title]) => title);
  expect(named.length).toBeGreaterThan(10);
  expect(panels.map(({ title }) => title)).toEqual(expect.arrayContaining(named));
});
