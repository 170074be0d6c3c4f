import { describe, expect, it } from '@jest/globals';
import { parse } from 'yaml';
import { alerts, dashboard, type Panel, readChartFile, readWorkspaceFile, RULE_FILES } from './testing/files.js';
import { parseQuery } from './testing/queries.js';

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

it.each(['**Means.**', '**Look.**', '**Do.**'])('each section contains %s', (part) => {
  expect(sections.filter((section) => !section.includes(part))).toEqual([]);
});

it('each section has the severity of its alert', () => {
  const severities = sections.map((section) => /^\*\*(Page|Ticket)\.\*\*$/m.exec(section)?.[1]?.toLowerCase());
  expect(severities).toEqual(alerts.map(({ labels }) => labels?.['severity']));
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

it('unit tests name alerts that exist', () => {
  const named = tests.flatMap((test) => test.alert_rule_test.map(({ alertname }) => alertname));
  expect(named.filter((name) => !alerts.some(({ alert }) => alert === name))).toEqual([]);
});

it('each panel has a unique id, and a description unless it is a row', () => {
  expect(new Set(panels.map(({ id }) => id)).size).toBe(panels.length);
  expect(panels.filter(({ type, description, targets = [] }) => type !== 'row' && (!description || targets.length === 0))).toEqual([]);
});

it('docs/runbook.md names panels that exist', () => {
  const text = runbook.replaceAll(/`[^`]*`/g, '');
  const named = [...text.matchAll(/_([^_\n]+)_/g)].map(([, title]) => title);
  expect(named.length).toBeGreaterThan(10);
  expect(panels.map(({ title }) => title)).toEqual(expect.arrayContaining(named));
});

it('no two panels overlap', () => {
  const overlap = ({ gridPos: one }: Panel, { gridPos: other }: Panel) =>
    one.x < other.x + other.w && other.x < one.x + one.w && one.y < other.y + other.h && other.y < one.y + one.h;
  const pairs = panels.flatMap((one, index) =>
    panels
      .slice(index + 1)
      .filter((other) => overlap(one, other))
      .map(({ title }) => [one.title, title]),
  );
  expect(pairs).toEqual([]);
  expect(panels.filter(({ gridPos }) => gridPos.x + gridPos.w > 24)).toEqual([]);
});

describe('parseQuery', () => {
  it('returns metrics, matchers and grouping labels', () => {
    expect(parseQuery('sum by (le) (rate(a_bucket{job="x", status=~"5.."}[5m])) > 1 and absent(up) or recorded:rate5m')).toEqual({
      selectors: [
        {
          metric: 'a_bucket',
          matchers: [
            { label: 'job', operator: '=', value: 'x' },
            { label: 'status', operator: '=~', value: '5..' },
          ],
        },
        { metric: 'up', matchers: [] },
        { metric: 'recorded:rate5m', matchers: [] },
      ],
      grouping: ['le'],
    });
  });

  it.each(['sum(', 'rate(a[5m]', 'a{job=}', 'foo bar'])('rejects %s', (expr) => {
    expect(() => parseQuery(expr)).toThrow('invalid PromQL');
  });
});
