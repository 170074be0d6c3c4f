import { expect, it } from '@jest/globals';
import type { Measurement } from '../measurement.js';
import { metricTables } from './metric-tables.js';

const measured = (perSecond: number, p99Ms?: number): Measurement => ({
  requests: perSecond,
  perSecond,
  ...(p99Ms === undefined ? {} : { p99Ms }),
  errors: 1,
  serviceCpu: 12.34,
  postgresCpu: 5,
});

it('has one row per target and one column per workload', () => {
  const [summary, ...tables] = metricTables([
    { workload: 'list', connections: 64, rounds: { pgbench: [measured(10), measured(20)], 'go-pgx': [measured(5, 1)] }, failures: {} },
    { workload: 'get', connections: 64, rounds: { 'go-pgx': [measured(7, 2)] }, failures: {} },
  ]);
  expect(summary).toContain('Errors: 4. Largest spread of requests/s between the rounds of a target: 67 %.');
  const rowsOf = (title: string) => tables[tables.indexOf(`### ${title}`) + 1]?.split('\n').slice(2);
  expect(rowsOf('Requests per second, 64 connections')).toEqual(['| go-pgx  | 5.00 | 7.00 |', '| pgbench | 15.0 |    – |']);
  // Without a service there is no latency.
  expect(rowsOf('99th percentile, ms, 64 connections')).toEqual(['| go-pgx | 1.00 | 2.00 |']);
  expect(tables).not.toContain('### Median latency, ms, 1 connection');
});
