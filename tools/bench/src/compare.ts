import { Random } from './random.js';
import { Bench, type BenchOptions, type Origin, type RunningTarget, type ScenarioResult } from './bench.js';
import type { Catalogue } from './database-server.js';
import { MANY_CONNECTIONS } from './goals.js';
import { httpRequest } from './http-requests.js';
import { ANIMAL_STORE, startService, type Target, TARGETS } from './targets.js';
import { createRequests, findPageStarts, STATUSES, UNIQUE_PETS, withConflicts, type Workload, WORKLOADS } from './workloads.js';

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

export interface Comparison extends Origin {
  /** Times from process start to the first response. */
  readonly startTimesMs: readonly number[];
  /** Targets that were skipped, and what they require. */
  readonly missing: Readonly<Record<string, string>>;
  readonly scenarios: readonly ScenarioResult[];
}

/** Measures the service and its peers on the same PostgreSQL with the same rows. */
export async function compare(options: CompareOptions, cleanUp: AsyncDisposableStack, report: (line: string) => void): Promise<Comparison> {
  const bench = await Bench.start(options, cleanUp, report);
  const catalogues = new Map<string | undefined, Catalogue>();
  const catalogueOf = async ({ workspace, hasConflicts = false }: Target): Promise<Catalogue> => {
    const key = hasConflicts ? UNIQUE_PETS : workspace;
    const catalogue = catalogues.get(key) ?? (await createCatalogue(bench, `bench_${catalogues.size}`, workspace));
    if (hasConflicts && !catalogues.has(key)) await catalogue.makeUnique();
    catalogues.set(key, catalogue);
    return catalogue;
  };
  const isOwn = options.targets.includes(ANIMAL_STORE);
  const startTimesMs = isOwn ? await measureStartTimes(await catalogueOf(TARGETS[ANIMAL_STORE])) : [];
  const missing: Record<string, string> = {};
  const running = new Map<string, RunningTarget>();
  for (const name of options.targets) {
    const target = targetOf(name);
    const requirement = target.missing?.();
    if (requirement === undefined) running.set(name, await bench.startTarget(target, await catalogueOf(target)));
    else missing[name] = requirement;
    report(requirement === undefined ? `${name} is running` : `${name} is skipped. It requires: ${requirement}`);
  }
  const scenarios: ScenarioResult[] = [];
  // In this order, so that workloads that write come last.
  for (const workload of WORKLOADS.filter((name) => options.workloads.includes(name))) {
    const measured = [...running].filter(([, { target }]) => target.workloads.includes(workload));
    // The same requests to each database, but for the cursors.
    const seed = options.seed + WORKLOADS.indexOf(workload);
    const requestsOf = ({ target, catalogue }: RunningTarget) => {
      const requests = createRequests(workload, catalogue, new Random(seed));
      return target.hasConflicts ? withConflicts(requests) : requests;
    };
    const targets = new Map(measured.map(([name, target]) => [name, { target, requests: requestsOf(target) }]));
    scenarios.push(await bench.run({ workload, targets, connections: MANY_CONNECTIONS, warmUpSeconds: options.warmUpSeconds }));
    if (SINGLE_CONNECTION_WORKLOADS.includes(workload))
      scenarios.push(await bench.run({ workload, targets, connections: 1, warmUpSeconds: 0 }));
  }
  return { ...bench.origin, startTimesMs, missing, scenarios };
}

/** Creates a database by the programs of a checkout, and starts its service to find where pages begin. */
export async function createCatalogue(bench: Bench, name: string, workspace?: string): Promise<Catalogue> {
  const catalogue = await bench.server.createCatalogue(name, { rows: ROWS, keys: KEYS, workspace });
  const [key = ''] = catalogue.keys;
  const service = await TARGETS[workspace === undefined ? ANIMAL_STORE : 'baseline'].start(catalogue);
  try {
    const walks = [undefined, ...STATUSES].map((status) => findPageStarts(service.url, key, status, MAX_PAGES));
    catalogue.pages = await Promise.all(walks);
    return catalogue;
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
