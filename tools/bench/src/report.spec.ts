import { expect, it } from '@jest/globals';
import type { Measurement } from './measurement.js';
import { replaceSection } from './performance-page.js';
import { goalTables, metricTables, number } from './report.js';

const cells = (row = '') => row.split('|').map((cell) => cell.trim());

it('has one row per goal, with missed goals in bold', () => {
  const verdicts = [
    { goal: 'p99 ÷ go-pgx', workload: 'list', measured: 0.5, required: '≤ 1', met: true },
    { goal: 'p99 ÷ go-pgx', workload: 'create', measured: 1.5, required: '≤ 1', met: false },
    { goal: 'start, ms', measured: 395, required: '≤ 1000', met: true },
  ];
  const [rows = '', other] = goalTables(verdicts);
  const [header, , row] = rows.split('\n');
  expect(cells(header)).toEqual(['', 'goal', 'list', 'list-mixed', 'get', 'mixed', 'create', '']);
  expect(cells(row)).toEqual(['', 'p99 ÷ go-pgx', '0.50 (≤ 1)', '–', '–', '–', '**1.50** (≤ 1)', '']);
  expect(other).toBe('- start, ms: 395 (≤ 1000)');
});

it('has one row per target and one column per workload', () => {
  const measured = (perSecond: number): Measurement => {
    return { perSecond, p50Ms: 1, p99Ms: 2, errors: 1, serviceCpu: 12.34, postgresCpu: 5, residentMb: 1 };
  };
  const [summary, ...tables] = metricTables([
    { workload: 'list', connections: 64, rounds: { 'nest-constant': [measured(10), measured(20)], 'go-pgx': [measured(5)] }, failures: {} },
    { workload: 'get', connections: 64, rounds: { 'go-pgx': [measured(7)] }, failures: {} },
  ]);
  expect(summary).toContain('Errors: 4. Largest spread of requests/s between the rounds of a target: 67 %.');
  const rowsOf = (title: string) => tables[tables.indexOf(`### ${title}`) + 1]?.split('\n').slice(2).map(cells);
  expect(rowsOf('Requests per second, 64 connections')).toEqual([
    ['', 'go-pgx', '5.00', '7.00', ''],
    ['', 'nest-constant', '15.0', '–', ''],
  ]);
  expect(rowsOf('CPU of PostgreSQL, ms per 1,000 requests')).toEqual([['', 'go-pgx', '5.00', '5.00', '']]);
  expect(tables).not.toContain('### Median latency, ms, 1 connection');
});

it.each([
  [12_345.6, '12,346'],
  [12.34, '12.3'],
  [0.126, '0.13'],
  [NaN, '–'],
])('formats %d as %s', (value, text) => expect(number(value)).toBe(text));

it('replaces only the text between the markers of a page', () => {
  const page = '# Performance\n\n<!-- bench: written by a command -->\n\nold\n\n<!-- end of bench -->\n\n## Log\n\nBy hand.\n';
  expect(replaceSection(page, 'bench', 'new')).toBe(page.replace('old', 'new'));
  expect(() => replaceSection(page, 'scale', 'new')).toThrow('The page has no markers of the section scale.');
});
