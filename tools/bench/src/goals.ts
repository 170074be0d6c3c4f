import type { ScenarioResult } from './bench.js';
import { cpu, median, type Metric, p50, p99, perSecond, ratio, ratios } from './measurement.js';
import { ANIMAL_STORE } from './targets.js';
import { WORKLOADS, type Workload } from './workloads.js';

export const MANY_CONNECTIONS = 64;

/** Cost at up to ten million rows: maximum ratio to the cost at a thousand. */
export const SCALE_GOAL = 1.2;

/** The performance goals of the service. Ratios are relative to the named peer. */
const GOALS = {
  /** Requests per second at 64 connections: minimum ratio to the peer. */
  throughput: {
    list: { 'go-pgx': 1.75, 'rust-hyper': 1.2, 'fastify-pg': 3, 'nest-constant': 0.75 },
    'list-mixed': { 'go-pgx': 1, 'fastify-pg': 1.6 },
    get: { 'go-pgx': 0.9, 'fastify-pg': 1.7, 'nest-constant': 0.75 },
    create: { 'go-pgx': 1.75, 'rust-hyper': 1.2, 'fastify-pg': 2, 'nest-constant': 0.6 },
    mixed: { 'go-pgx': 1.2, 'fastify-pg': 1.8 },
  } satisfies Record<Workload, Readonly<Record<string, number>>>,
  /** CPU per request of service and PostgreSQL together: maximum ratio to the peer. */
  cpu: {
    list: { 'go-pgx': 0.32, 'rust-hyper': 0.45 },
    'list-mixed': { 'go-pgx': 0.68, 'rust-hyper': 0.88 },
    get: { 'go-pgx': 0.67, 'rust-hyper': 0.78 },
    create: { 'go-pgx': 0.42, 'rust-hyper': 0.5 },
    mixed: { 'go-pgx': 0.67, 'rust-hyper': 0.88 },
  } satisfies Record<Workload, Readonly<Record<string, number>>>,
  /** CPU per creation if one of twenty is a conflict: maximum ratio to the service without conflicts. */
  conflicts: 1.2,
  /** 99th percentile of the latency at 64 connections: maximum ratio to the peer. */
  p99: { 'go-pgx': 1, 'fastify-pg': 1 },
  /** Median latency at 1 connection: maximum ratio to the peer. */
  single: { 'fastify-pg': 1.15 },
  /** Maximum resident memory of a process under load. */
  residentMb: 150,
  /** For a change that is not about speed: ratios to the commit before it, measured in the same run. */
  baseline: { throughput: 0.97, cpu: 1.03, p99: 1.1, single: 1.03 },
  /** Maximum time from process start to the first response, with the database running and everything built. */
  startMs: 1_000,
  /** Requests per second with WORKERS=2: minimum ratio to one process. */
  twoWorkers: 1,
} as const;

export interface Verdict {
  readonly goal: string;
  /** Undefined for goals that concern no single workload. */
  readonly workload?: string;
  readonly measured: number;
  readonly required: string;
  readonly met: boolean;
}

type Judgement = (goal: string, measured: number, limit: number) => Verdict;

const atLeast: Judgement = (goal, measured, limit) => ({ goal, measured, required: `≥ ${limit}`, met: measured >= limit });
const atMost: Judgement = (goal, measured, limit) => ({ goal, measured, required: `≤ ${limit}`, met: measured <= limit });

/** Returns a verdict for each goal whose targets were measured. */
export function judge(results: readonly ScenarioResult[], startMs = NaN): Verdict[] {
  const many = results.filter(({ connections }) => connections === MANY_CONNECTIONS);
  const single = results.filter(({ connections }) => connections === 1);
  const memory = many.flatMap(({ rounds }) => rounds[ANIMAL_STORE] ?? []).map(({ residentMb }) => residentMb);
  const { throughput, baseline } = GOALS;
  const verdicts = [
    ...compare(many, (workload) => ({ ...throughput[workload], baseline: baseline.throughput }), 'requests/s', perSecond, atLeast),
    ...compare(many, (workload) => ({ ...GOALS.cpu[workload], baseline: baseline.cpu }), 'CPU per request', cpu, atMost),
    ...compare(many, () => ({ ...GOALS.p99, baseline: baseline.p99 }), 'p99', p99, atMost),
    ...compare(single, () => ({ ...GOALS.single, baseline: baseline.single }), 'p50 at 1 connection', p50, atMost),
    ...many.map(({ workload, rounds }) => ({
      ...atLeast('requests/s, WORKERS=2 ÷ WORKERS=1', ratio(rounds, 'animal-store-2', ANIMAL_STORE, perSecond), GOALS.twoWorkers),
      workload,
    })),
    ...many.map(({ workload, rounds }) => ({
      ...atMost('CPU per request, 5 % conflicts ÷ none', ratio(rounds, 'conflicts', ANIMAL_STORE, cpu), GOALS.conflicts),
      workload,
    })),
    atMost('memory of a process under load, MB', Math.max(...memory), GOALS.residentMb),
    atMost('time from the start to the first response, ms', startMs, GOALS.startMs),
  ];
  return verdicts.filter(({ measured }) => Number.isFinite(measured));
}

function compare(
  results: readonly ScenarioResult[],
  limitsOf: (workload: Workload) => Readonly<Record<string, number>>,
  metricName: string,
  metric: Metric,
  judgement: Judgement,
): Verdict[] {
  const peers = new Set(WORKLOADS.flatMap((workload) => Object.keys(limitsOf(workload))));
  return [...peers].flatMap((peer) =>
    results.flatMap(({ workload, rounds }) => {
      const limit = limitsOf(workload as Workload)[peer];
      if (limit === undefined) return [];
      return { ...judgement(`${metricName} ÷ ${peer}`, ratio(rounds, ANIMAL_STORE, peer, metric), limit), workload };
    }),
  );
}

/** The cost in milliseconds by number of rows: the median latency at one connection, the time between responses at many. */
export const costAt =
  (connections: number): Metric =>
  (measured) =>
    connections === 1 ? measured.p50Ms : 1_000 / measured.perSecond;

/** Returns the numbers of rows in ascending order. */
export function rowCounts({ rounds }: ScenarioResult): number[] {
  return Object.keys(rounds)
    .map(Number)
    .sort((a, b) => a - b);
}

/** Returns the ratios of the rounds to the cost at the fewest rows. */
export function costRatios(result: ScenarioResult, rows: number): number[] {
  const [fewest] = rowCounts(result);
  return ratios(result.rounds, String(rows), String(fewest), costAt(result.connections));
}

export const costRatio = (result: ScenarioResult, rows: number): number => median(costRatios(result, rows));

export const describeConnections = ({ connections }: ScenarioResult): string =>
  `${connections} ${connections === 1 ? 'connection' : 'connections'}`;

/** Compares the largest catalogue with the smallest. */
export function judgeScale(results: readonly ScenarioResult[]): Verdict[] {
  return results.map((result) => {
    const rows = rowCounts(result).at(-1) ?? 0;
    const goal = `${result.workload} with ${describeConnections(result)}, ratio of the cost at ${rows.toLocaleString('en')} rows`;
    return atMost(goal, costRatio(result, rows), SCALE_GOAL);
  });
}
