import { cpu, medianOf, type Metric, p50, p99, perSecond, ratio } from '../comparison.js';
import type { Comparison } from '../compare.js';
import type { ScenarioResult } from '../rounds.js';
import { spread } from '../statistics.js';
import type { Verdict } from '../verdicts.js';
import { table } from '@animal-store/faults/table';
import { number } from './number.js';

const REFERENCES = ['go-pgx', 'fastify-pg', 'nest-constant'] as const;

const HEADER = [
  'target',
  'requests/s',
  'spread',
  'p50 ms',
  'p99 ms',
  'errors',
  'CPU service',
  'CPU PostgreSQL',
  'CPU load',
  'MB',
  ...REFERENCES.map((name) => `÷ ${name}`),
  'CPU ÷ go-pgx',
];

/** CPU is in milliseconds per 1,000 requests, that of the load generator in per cent of one core. */
export function scenarioTable(result: ScenarioResult): string {
  const targets = Object.keys(result.rounds).sort((a, b) => medianOf(result, b, perSecond) - medianOf(result, a, perSecond));
  const rows = targets.map((name) => {
    const rounds = result.rounds[name] ?? [];
    const formatted = (metric: Metric) => number(medianOf(result, name, metric));
    return [
      name,
      formatted(perSecond),
      `${Math.round(spread(rounds.map(perSecond)) * 100)} %`,
      formatted(p50),
      formatted(p99),
      `${rounds.reduce((sum, { errors }) => sum + errors, 0)}`,
      formatted(({ serviceCpu }) => serviceCpu),
      formatted(({ postgresCpu }) => postgresCpu),
      percent(medianOf(result, name, ({ generatorCpu = NaN }) => generatorCpu)),
      formatted(({ residentMb = NaN }) => residentMb),
      ...REFERENCES.map((reference) => number(ratio(result, name, reference, perSecond))),
      number(ratio(result, name, 'go-pgx', cpu)),
    ];
  });
  return table(HEADER, rows);
}

/** Returns a line for each target that was skipped or failed, with the reason. */
export function skippedTargets({ missing, scenarios }: Comparison): string[] {
  return [
    ...Object.entries(missing).map(([name, requirement]) => `${name} was skipped. It requires: ${requirement}`),
    ...scenarios.flatMap((scenario) =>
      Object.entries(scenario.failures).map(([name, failure]) => `${name} failed in ${scenarioTitle(scenario)}: ${failure}`),
    ),
  ];
}

export function scenarioTitle({ workload, connections }: ScenarioResult): string {
  return `${workload}, ${connections} ${connections === 1 ? 'connection' : 'connections'}`;
}

export function verdictTable(verdicts: readonly Verdict[]): string {
  return table(
    ['goal', 'measured', 'required', 'met'],
    verdicts.map(({ goal, workload, measured, required, met }) => [
      workload === undefined ? goal : `${workload}: ${goal}`,
      number(measured),
      required,
      met ? 'yes' : 'no',
    ]),
  );
}

function percent(share: number): string {
  return Number.isFinite(share) ? `${Math.round(share * 100)} %` : '–';
}
