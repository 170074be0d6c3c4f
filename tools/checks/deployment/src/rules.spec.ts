import { describe, expect, it } from '@jest/globals';
import { parse } from 'yaml';
import { alerts, readChartFile, readWorkspaceFile, RULE_FILES } from './testing/files.js';

const runbook = readWorkspaceFile('docs/runbook.md');
const [, ...sections] = runbook.split(/^### /m);

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

// Promise (Observability): Each alert is tested and has a runbook section.
describe.each(alerts.map((rule) => [rule.alert, rule] as const))('%s', (alert, { labels, annotations }) => {
  it('links to its section', () => {
    expect(annotations?.['runbook_url']).toMatch(new RegExp(`/docs/runbook\\.md#${alert.toLowerCase()}$`));
  });

  it('has a severity that pages or creates a ticket', () => {
    expect(['page', 'ticket']).toContain(labels?.['severity']);
  });

  it('has a unit test in which it fires', () => {
    const fired = tests
      .flatMap((test) => test.alert_rule_test)
      .filter(({ alertname, exp_alerts }) => alertname === alert && exp_alerts.length > 0);
    expect(fired.length).toBeGreaterThan(0);
  });
});

it('unit tests name alerts that exist', () => {
  const named = tests.flatMap((test) => test.alert_rule_test.map(({ alertname }) => alertname));
  expect(named.filter((name) => !alerts.some(({ alert }) => alert === name))).toEqual([]);
});
