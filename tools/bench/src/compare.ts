import { Random } from '@animal-store/faults/random';
import { Bench, type BenchOptions, type Origin, type RunningTarget, type ScenarioResult } from './bench.js';
import type { CleanUp } from './clean-up.js';
import type { Catalogue } from './database-server.js';
import { MANY_CONNECTIONS } from './goals.js';
import { httpRequest } from './http-requests.js';
import { ANIMAL_STORE, startService, type Target, TARGETS } from './targets.js';
import { createRequests, findPageStarts, STATUSES, type Workload, type WorkloadData, WORKLOADS } from './workloads.js';

export const ROWS = 100_000;
const KEYS = 20;
/** Maximum number of pages per filter. */
const MAX_PAGES = 200;
const STARTS = 5;
const SINGLE_CONNECTION_WORKLOADS: readonly Workload[] = ['list', 'get', 'create'];

export interface CompareOptions extends BenchOptions {
  readonly targets: readonly string[];
  readonly workloads: readonly Workload[];
  readonly warmUpSeconds: number;
}

/** A database with the pets of a checkout, and the data of the requests to it. */
interface Database {
  readonly catalogue: Catalogue;
  readonly data: WorkloadData;
}

export interface Comparison extends Origin {
  /** Times from process start to the first response. */
  readonly startTimesMs: readonly number[];
  /** Targets that were skipped, and what they require. */
  readonly missing: Readonly<Record<string, string>>;
  readonly scenarios: readonly ScenarioResult[];
}

/** Measures the service and its peers on the same PostgreSQL with the same rows. */
export async function compare(options: CompareOptions, cleanUp: CleanUp, report: (line: string) => void): Promise<Comparison> {
  const bench = await Bench.start(options, cleanUp, report);
  const databases = new Map<string | undefined, Database>();
  const databaseOf = async ({ workspace }: Target): Promise<Database> => {
    const database = databases.get(workspace) ?? (await createDatabase(bench, `bench_${databases.size}`, workspace));
    databases.set(workspace, database);
    return database;
  };
  const startTimesMs = options.targets.includes(ANIMAL_STORE)
    ? await measureStartTimes((await databaseOf(TARGETS[ANIMAL_STORE])).catalogue)
    : [];
  const missing: Record<string, string> = {};
  const running = new Map<string, { readonly target: RunningTarget; readonly data: WorkloadData }>();
  for (const name of options.targets) {
    const target = targetOf(name);
    const requirement = await target.missing?.();
    if (requirement === undefined) {
      const { catalogue, data } = await databaseOf(target);
      running.set(name, { target: await bench.startTarget(target, catalogue), data });
    } else missing[name] = requirement;
    report(requirement === undefined ? `${name} is running` : `${name} is skipped. It requires: ${requirement}`);
  }
  const scenarios: ScenarioResult[] = [];
  // In this order, so that workloads that write come last.
  for (const workload of WORKLOADS.filter((name) => options.workloads.includes(name))) {
    const measured = [...running].filter(([name]) => targetOf(name).workloads.includes(workload));
    // The same requests to each database, but for the cursors.
    const seed = options.seed + WORKLOADS.indexOf(workload);
    const requests = new Map(measured.map(([, { data }]) => [data, createRequests(workload, data, new Random(seed))]));
    const targets = new Map(measured.map(([name, { target, data }]) => [name, { target, requests: requests.get(data) ?? [] }]));
    scenarios.push(await bench.run({ workload, targets, connections: MANY_CONNECTIONS, warmUpSeconds: options.warmUpSeconds }));
    if (SINGLE_CONNECTION_WORKLOADS.includes(workload))
      scenarios.push(await bench.run({ workload, targets, connections: 1, warmUpSeconds: 0 }));
  }
  return { ...bench.origin, startTimesMs, missing, scenarios };
}

/** Creates a database, and starts the service of its checkout to find where pages begin. */
export async function createDatabase(bench: Bench, name: string, workspace?: string): Promise<Database> {
  const catalogue = await bench.server.createCatalogue(name, { rows: ROWS, keys: KEYS, workspace });
  const [key = ''] = catalogue.keys;
  const service = await TARGETS[workspace === undefined ? ANIMAL_STORE : 'baseline'].start(catalogue);
  try {
    const walks = [undefined, ...STATUSES].map((status) => findPageStarts(service.url, key, status, MAX_PAGES));
    return { catalogue, data: { rows: ROWS, keys: KEYS, pages: await Promise.all(walks) } };
  } finally {
    await service.kill();
  }
}

/** Measures the milliseconds from process start to the first page several times. The database is running and migrated. */
async function measureStartTimes(catalogue: Catalogue): Promise<number[]> {
  const { path, headers } = httpRequest({ operation: 'list', key: 0, limit: 20, status: 'available' }, 'cursor', catalogue.keys);
  const measured: number[] = [];
  for (let i = 0; i < STARTS; i++) {
    const startedAt = performance.now();
    const service = await startService(catalogue, { name: 'started' });
    try {
      const response = await fetch(service.url + path, { headers });
      await response.text();
      if (!response.ok) throw new Error(`the first request returned ${response.status}`);
      measured.push(performance.now() - startedAt);
    } finally {
      await service.kill();
    }
  }
  return measured;
}

function targetOf(name: string): Target {
  const targets: Readonly<Record<string, Target>> = TARGETS;
  return targets[name] ?? TARGETS[ANIMAL_STORE];
}
