import { Bench, type BenchOptions, type Origin, type RunningTarget, type ScenarioResult } from './bench.js';
import { MANY_CONNECTIONS } from './goals.js';
import { ANIMAL_STORE, TARGETS } from './targets.js';
import { findPageStarts, type GetRequest, type PetRequest } from './workloads.js';

const READS = ['first page', 'deep page', 'rare status', 'get'] as const;
const MIN_ROWS = 1_000;
/** Share of the rows with the rare status. A small catalogue has at least RARE_ROWS of them, so that a page of this status is full there too. */
const RARE_SHARE = 0.0001;
const RARE_ROWS = 60;
/** Pages of 100 available animals up to the middle. */
const MIDDLE_PAGES_PER_ROW = 0.8 / 2 / 100;
const LIMIT = 20;
const IDS = 20_000;

export interface ScaleOptions extends BenchOptions {
  readonly maxRows: number;
}

export interface ScaleResult extends Origin {
  /** The targets of a scenario are numbers of rows. */
  readonly scenarios: readonly ScenarioResult[];
}

interface Size {
  readonly target: RunningTarget;
  readonly requests: Readonly<Record<(typeof READS)[number], readonly PetRequest[]>>;
}

/** Measures the service with 1,000 rows and more. All catalogues exist at the same time, so that rounds can be interleaved. */
export async function measureScale(
  options: ScaleOptions,
  cleanUp: AsyncDisposableStack,
  report: (line: string) => void,
): Promise<ScaleResult> {
  const bench = await Bench.start(options, cleanUp, report);
  const sizes = new Map<string, Size>();
  for (let rows = MIN_ROWS; rows <= options.maxRows; rows *= 10) {
    sizes.set(String(rows), await prepare(bench, rows));
    report(`${rows.toLocaleString('en')} pets are inserted`);
  }
  const scenarios: ScenarioResult[] = [];
  for (const read of READS) {
    const targets = new Map([...sizes].map(([rows, { target, requests }]) => [rows, { target, requests: requests[read] }]));
    for (const connections of [1, MANY_CONNECTIONS]) {
      const result = await bench.run({ workload: read, connections, targets, warmUpSeconds: options.seconds });
      const [failure] = Object.entries(result.failures);
      if (failure) throw new Error(`${read} with ${failure[0]} rows: ${failure[1]}`);
      scenarios.push(result);
    }
  }
  return { ...bench.origin, scenarios };
}

async function prepare(bench: Bench, rows: number): Promise<Size> {
  const pendingShare = Math.max(RARE_SHARE, RARE_ROWS / rows);
  const catalogue = await bench.server.createCatalogue(`rows_${rows}`, { rows, pendingShare, keys: 1 });
  const target = await bench.startTarget(TARGETS[ANIMAL_STORE], catalogue);
  const pages = Math.max(2, Math.floor(rows * MIDDLE_PAGES_PER_ROW));
  const starts = await findPageStarts(target.service.url, catalogue.keys[0] ?? '', 'available', pages);
  return {
    target,
    requests: {
      'first page': [{ operation: 'list', key: 0, limit: LIMIT, status: 'available' }],
      'deep page': [{ operation: 'list', key: 0, limit: LIMIT, ...starts.at(-1) }],
      'rare status': [{ operation: 'list', key: 0, limit: LIMIT, status: 'pending' }],
      get: Array.from({ length: IDS }, (): GetRequest => ({ operation: 'get', key: 0, id: 1 + bench.random.below(rows) })),
    },
  };
}
