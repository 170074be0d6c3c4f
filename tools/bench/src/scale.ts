import { Random } from '@animal-store/faults/random';
import type { CleanUp } from './clean-up.js';
import { chooseLoadGenerator } from './load/choose-load-generator.js';
import type { LoadGenerator } from './load/load-generator.js';
import { describeMachine, type Machine } from './machine.js';
import type { Measurement } from './measurement.js';
import { findPageStarts } from './page-starts.js';
import { requireProc } from './process-usage.js';
import { RunningHttpTarget } from './running-target.js';
import { type Catalogue, DatabaseServer } from './database-server.js';
import { ANIMAL_STORE, HTTP_TARGETS } from './targets.js';
import type { GetRequest, PageStart, PetRequest, Workload } from './workloads.js';

const READS = ['first page', 'deep page', 'page of a rare status', 'get'] as const;
export type Read = (typeof READS)[number];

const MIN_ROWS = 1_000;
/** Share of the rows with the rare status. A small catalogue has at least RARE_ROWS of them, so that a page of this status is full there too. */
const RARE_SHARE = 0.0001;
const RARE_ROWS = 60;
const PAGE_LIMIT = 100;
const AVAILABLE_SHARE = 0.8;
const LIMIT = 20;
const IDS = 20_000;

export interface ScaleOptions {
  readonly maxRows: number;
  readonly rounds: number;
  readonly seconds: number;
  readonly seed: number;
}

export interface ScaleSeries {
  readonly read: Read;
  readonly connections: number;
  /** Measurements by number of rows, one per round. */
  readonly rounds: Readonly<Record<string, readonly Measurement[]>>;
}

export interface ScaleResult {
  readonly measuredAt: string;
  readonly machine: Machine;
  readonly generator: string;
  readonly options: ScaleOptions;
  readonly series: readonly ScaleSeries[];
}

interface Size {
  readonly rows: number;
  readonly target: RunningHttpTarget;
  readonly requests: Readonly<Record<Read, readonly PetRequest[]>>;
}

/** Measures the service with 1,000 rows and more. All catalogues exist at the same time, so that rounds can be interleaved. */
export async function measureScale(options: ScaleOptions, cleanUp: CleanUp, report: (line: string) => void): Promise<ScaleResult> {
  requireProc();
  const generator = await chooseLoadGenerator();
  const random = new Random(options.seed);
  const server = await DatabaseServer.start(cleanUp);
  const sizes: Size[] = [];
  for (let rows = MIN_ROWS; rows <= options.maxRows; rows *= 10) {
    sizes.push(await prepare(rows, server, generator, random, cleanUp));
    report(`${rows.toLocaleString('en')} pets are inserted`);
  }
  const series: ScaleSeries[] = [];
  for (const read of READS) {
    for (const connections of [1, 64]) series.push(await measureRead(read, connections, sizes, options, random, report));
  }
  return { measuredAt: new Date().toISOString(), machine: describeMachine(), generator: generator.name, options, series };
}

async function measureRead(
  read: Read,
  connections: number,
  sizes: readonly Size[],
  options: ScaleOptions,
  random: Random,
  report: (line: string) => void,
): Promise<ScaleSeries> {
  const workload: Workload = read === 'get' ? 'get' : 'list';
  const load = ({ requests }: Size, round: number) => ({
    workload,
    requests: requests[read],
    connections,
    seconds: options.seconds,
    round,
  });
  const measured = sizes.map((size) => ({ size, measurements: [] as Measurement[] }));
  for (const size of sizes) {
    await size.target.check(load(size, 0));
    await size.target.measure(load(size, 0));
  }
  for (let round = 1; round <= options.rounds; round++) {
    for (const { size, measurements } of random.shuffle(measured)) measurements.push(await size.target.measure(load(size, round)));
    report(`${read} at ${connections}, round ${round} of ${options.rounds}`);
  }
  return { read, connections, rounds: Object.fromEntries(measured.map(({ size, measurements }) => [size.rows, measurements])) };
}

async function prepare(rows: number, server: DatabaseServer, generator: LoadGenerator, random: Random, cleanUp: CleanUp): Promise<Size> {
  const pendingShare = Math.max(RARE_SHARE, RARE_ROWS / rows);
  const catalogue = await server.createCatalogue(`rows_${rows}`, { rows, pendingShare, keys: 1 });
  const target = HTTP_TARGETS[ANIMAL_STORE];
  const service = await target.start(catalogue);
  cleanUp.add(() => service.stop());
  const deepPage = await findMiddlePage(service.url, catalogue);
  return {
    rows,
    target: new RunningHttpTarget(target, service, catalogue, generator),
    requests: {
      'first page': [{ operation: 'list', key: 0, limit: LIMIT, status: 'available' }],
      'deep page': [{ operation: 'list', key: 0, limit: LIMIT, ...deepPage }],
      'page of a rare status': [{ operation: 'list', key: 0, limit: LIMIT, status: 'pending' }],
      get: Array.from({ length: IDS }, (): GetRequest => ({ operation: 'get', key: 0, id: 1 + random.below(rows) })),
    },
  };
}

async function findMiddlePage(url: string, { rows, keys: [key = ''] }: Catalogue): Promise<PageStart> {
  const pages = Math.max(2, Math.floor((rows * AVAILABLE_SHARE) / 2 / PAGE_LIMIT));
  const starts = await findPageStarts({ url, key, status: 'available', pages });
  return starts.at(-1) ?? {};
}
