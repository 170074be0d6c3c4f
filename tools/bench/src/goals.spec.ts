import { expect, it } from '@jest/globals';
import type { ScenarioResult } from './bench.js';
import { judge, judgeScale } from './goals.js';
import type { Measurement } from './measurement.js';

const measured = (perSecond: number, cpu: number): Measurement => ({
  perSecond,
  p50Ms: 1,
  p99Ms: 2,
  errors: 0,
  serviceCpu: cpu,
  postgresCpu: cpu,
  residentMb: 120,
});

const scenario: ScenarioResult = {
  workload: 'list',
  connections: 64,
  rounds: { 'animal-store': [measured(20_000, 10), measured(10_000, 10)], 'go-pgx': [measured(10_000, 40), measured(5_000, 40)] },
  failures: {},
};

it('compares each goal with the ratio of the rounds', () => {
  expect(judge([scenario])).toEqual([
    { goal: 'requests/s ÷ go-pgx', workload: 'list', measured: 2, required: '≥ 1.75', met: true },
    { goal: 'CPU per request ÷ go-pgx', workload: 'list', measured: 0.25, required: '≤ 0.32', met: true },
    { goal: 'p99 ÷ go-pgx', workload: 'list', measured: 1, required: '≤ 1', met: true },
    { goal: 'resident MB of a process under load', measured: 120, required: '≤ 150', met: true },
  ]);
});

it('reports a missed goal', () => {
  const goals = judge([{ ...scenario, rounds: { ...scenario.rounds, 'go-pgx': [measured(20_000, 5), measured(10_000, 5)] } }]);
  expect(goals.map(({ met }) => met)).toEqual([false, false, true, true]);
});

it('compares the cost at the most rows with the cost at the fewest, in requests/s or, at one connection, latency', () => {
  const rounds = { '1000': [measured(2_000, 1)], '10000': [measured(1_000, 1)] };
  const results = [64, 1].map((connections) => ({ workload: 'get', connections, rounds, failures: {} }));
  expect(judgeScale(results)).toEqual([
    { goal: 'get, 64 connections: cost at 10,000 rows', measured: 2, required: '≤ 1.2', met: false },
    { goal: 'get, 1 connection: cost at 10,000 rows', measured: 1, required: '≤ 1.2', met: true },
  ]);
});
