import { expect, it } from '@jest/globals';
import type { Measurement } from './measurement.js';
import type { ScenarioResult } from './rounds.js';
import { judge } from './verdicts.js';

const measured = (perSecond: number, cpu: number): Measurement => ({
  requests: perSecond,
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
