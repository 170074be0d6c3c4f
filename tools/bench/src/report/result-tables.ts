import { cpu, type Figure, p50, p99, perSecond, ratio, typical } from '../comparison.js';
import type { Comparison } from '../compare.js';
import type { ScenarioResult } from '../rounds.js';
import { spread } from '../statistics.js';
import type { Verdict } from '../verdicts.js';
import { number, table } from './table.js';

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
  const targets = Object.keys(result.rounds).sort((a, b) => typical(result, b, perSecond) - typical(result, a, perSecond));
  const rows = targets.map((name) => {
    const rounds = result.rounds[name] ?? [];
    const shown = (figure: Figure) => number(typical(result, name, figure));
    return [
      name,
      shown(perSecond),
      `${Math.round(spread(rounds.map(perSecond)) * 100)} %`,
      shown(p50),
      shown(p99),
      `${rounds.reduce((sum, { errors }) => sum + errors, 0)}`,
      shown(({ serviceCpu }) => serviceCpu),
      shown(({ postgresCpu }) => postgresCpu),
      percent(typical(result, name, ({ generatorCpu = NaN }) => generatorCpu)),
      shown(({ residentMb = NaN }) => residentMb),
      ...REFERENCES.map((reference) => number(ratio(result, name, reference, perSecond))),
      number(ratio(result, name, 'go-pgx', cpu)),
    ];
  });
  return table(HEADER, rows);
}

/** Returns a line for each target that could not be measured, with the reason. */
export function leftOut({ missing, scenarios }: Comparison): string[] {
  return [
    ...Object.entries(missing).map(([name, lack]) => `${name} was left out; it needs: ${lack}`),
    ...scenarios.flatMap((scenario) =>
      Object.entries(scenario.failures).map(([name, failure]) => `${name} failed at ${scenarioTitle(scenario)}: ${failure}`),
    ),
  ];
}

export function scenarioTitle({ workload, connections }: ScenarioResult): string {
  return `${workload}, ${connections} ${connections === 1 ? 'connection' : 'connections'}`;
}

export function verdictTable(verdicts: readonly Verdict[]): string {
  return table(
    ['goal', 'measured', 'wanted', 'met'],
    verdicts.map(({ goal, measured, wanted, met }) => [goal, number(measured), wanted, met ? 'yes' : 'no']),
  );
}

function percent(share: number): string {
  return Number.isFinite(share) ? `${Math.round(share * 100)} %` : '–';
}
