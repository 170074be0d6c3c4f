import { Random } from '@animal-store/faults/random';
import type { CleanUp } from './clean-up.js';
import { chooseLoadGenerator } from './load/choose-load-generator.js';
import { describeMachine, type Machine } from './machine.js';
import { PGBENCH_WORKLOADS } from './pgbench.js';
import { requireProc } from './process-usage.js';
import { type RoundsOptions, runScenario, type Scenario, type ScenarioResult } from './rounds.js';
import { isInstalled } from './run-process.js';
import { RunningHttpTarget, RunningPgbench, type RunningTarget } from './running-target.js';
import { DatabaseServer } from './database-server.js';
import { measureStartTimes } from './start-time.js';
import { ANIMAL_STORE, HTTP_TARGETS, type HttpTarget } from './targets.js';
import { KEYS, readWorkloadData, ROWS } from './workload-data.js';
import { MANY_CONNECTIONS } from './verdicts.js';
import { createRequests, type Workload, type WorkloadData, WORKLOADS } from './workloads.js';

const PGBENCH = 'pgbench';
export const TARGETS = [...Object.keys(HTTP_TARGETS), PGBENCH];
const STARTS = 5;
const SINGLE_CONNECTION_WORKLOADS: readonly Workload[] = ['list', 'get', 'create'];

export interface CompareOptions {
  readonly targets: readonly string[];
  readonly workloads: readonly Workload[];
  readonly rounds: number;
  readonly seconds: number;
  readonly warmUpSeconds: number;
  readonly seed: number;
}

export interface Comparison {
  readonly measuredAt: string;
  readonly machine: Machine;
  readonly generator: string;
  readonly rows: number;
  readonly options: CompareOptions;
  /** Times from process start to the first response. */
  readonly startTimesMs: readonly number[];
  /** Targets that were skipped, and what they require. */
  readonly missing: Readonly<Record<string, string>>;
  readonly scenarios: readonly ScenarioResult[];
}

/** Measures the service and its peers on the same PostgreSQL with the same rows. */
export async function compare(options: CompareOptions, cleanUp: CleanUp, report: (line: string) => void): Promise<Comparison> {
  requireProc();
  const generator = await chooseLoadGenerator();
  const random = new Random(options.seed);
  const server = await DatabaseServer.start(cleanUp);
  report(`${ROWS.toLocaleString('en')} pets, load by ${generator.name}`);
  const catalogue = await server.createCatalogue('bench', { rows: ROWS, keys: KEYS });

  const data = await readWorkloadData(catalogue);
  const startTimesMs = options.targets.includes(ANIMAL_STORE) ? await measureStartTimes(catalogue, STARTS) : [];

  const missing: Record<string, string> = {};
  const running = new Map<string, RunningTarget>();
  for (const name of options.targets) {
    const requirement = await missingRequirement(name);
    if (requirement === undefined) running.set(name, await startTarget(name));
    else missing[name] = requirement;
    report(requirement === undefined ? `${name} is running` : `${name} is skipped. It requires: ${requirement}`);
  }

  const scenarios: ScenarioResult[] = [];
  for (const scenario of plan(options, data, random)) {
    const settings: RoundsOptions = { ...options, random, catalogue, report };
    scenarios.push(await runScenario(scenario, running, settings));
  }
  return {
    measuredAt: new Date().toISOString(),
    machine: describeMachine(),
    generator: generator.name,
    rows: ROWS,
    options,
    startTimesMs,
    missing,
    scenarios,
  };

  async function startTarget(name: string): Promise<RunningTarget> {
    if (name === PGBENCH) return new RunningPgbench(catalogue);
    const target = httpTarget(name);
    const process = await target.start(catalogue);
    cleanUp.add(() => process.stop());
    return new RunningHttpTarget(target, process, catalogue, generator);
  }
}

/** Returns the scenarios in the order of the workloads. Those that write come last. */
function plan({ targets, workloads }: CompareOptions, data: WorkloadData, random: Random): Scenario[] {
  return WORKLOADS.filter((workload) => workloads.includes(workload)).flatMap((workload) => {
    const requests = createRequests(workload, data, random);
    const supporting = targets.filter((name) => workloadsOf(name).includes(workload));
    const many = { workload, requests, connections: MANY_CONNECTIONS, targets: supporting, warmUp: true };
    return SINGLE_CONNECTION_WORKLOADS.includes(workload) ? [many, { ...many, connections: 1, warmUp: false }] : [many];
  });
}

function httpTarget(name: string): HttpTarget {
  const targets: Readonly<Record<string, HttpTarget>> = HTTP_TARGETS;
  return targets[name] ?? HTTP_TARGETS[ANIMAL_STORE];
}

function workloadsOf(name: string): readonly Workload[] {
  return name === PGBENCH ? PGBENCH_WORKLOADS : httpTarget(name).workloads;
}

async function missingRequirement(name: string): Promise<string | undefined> {
  if (name !== PGBENCH) return httpTarget(name).missing?.();
  return (await isInstalled('pgbench')) ? undefined : 'apt-get install postgresql-contrib';
}
