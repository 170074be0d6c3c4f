import { cpus } from 'node:os';
import type { ServiceProcess } from '@animal-store/test-kit/service-process';
import { checkResponses } from './check-responses.js';
import { type Catalogue, DatabaseServer } from './database-server.js';
import { httpRequest } from './http-requests.js';
import { isInstalled, type LoadGenerator, sendLoad } from './load.js';
import { cpuMsOf, type Measurement, requireProc, type Rounds } from './measurement.js';
import type { Target } from './targets.js';
import { createRequests, findPageStarts, type PetRequest, STATUSES, type Workload, WORKLOADS, Random } from './workloads.js';

const ROWS = 100_000;
const KEYS = 20;
/** Maximum number of pages per filter. */
const MAX_PAGES = 200;
const MANY_CONNECTIONS = 64;
const SEED = 1;
const OFFSET_PER_ROUND = 1_237;

interface BenchOptions {
  readonly targets: readonly (readonly [name: string, target: Target | undefined])[];
  readonly workloads: readonly Workload[];
  readonly rounds: number;
  readonly seconds: number;
  readonly warmUpSeconds: number;
}

export interface Scenario {
  readonly workload: Workload;
  readonly connections: number;
  readonly rounds: Rounds;
}

export interface BenchResult {
  readonly origin: string;
  readonly scenarios: readonly Scenario[];
  readonly failures: readonly string[];
}

export interface RunningTarget {
  readonly target: Target;
  readonly service: ServiceProcess;
  readonly catalogue: Catalogue;
}

interface Load {
  readonly requests: readonly PetRequest[];
  readonly connections: number;
  readonly seconds: number;
  readonly round: number;
}

/** One run: a PostgreSQL server, and the measurements of all targets in turn. */
export class Bench {
  private readonly random = new Random(SEED);
  private readonly running = new Map<string, RunningTarget>();
  private readonly failures = new Map<string, string>();

  private constructor(
    private readonly server: DatabaseServer,
    private readonly options: BenchOptions,
    private readonly generator: LoadGenerator,
  ) {}

  /** Creates a database for each checkout, and starts the targets. */
  static async start(options: BenchOptions, cleanUp: AsyncDisposableStack): Promise<Bench> {
    requireProc();
    const bench = new Bench(await DatabaseServer.start(cleanUp), options, isInstalled('wrk') ? 'wrk' : 'autocannon');
    const catalogues = new Map<string, Catalogue>();
    for (const [name, target] of options.targets) {
      if (!target) continue;
      const { workspace } = target;
      const catalogue =
        catalogues.get(workspace) ?? (await bench.server.createCatalogue(`bench_${catalogues.size}`, workspace, ROWS, KEYS));
      const service = await target.start(catalogue);
      cleanUp.defer(async () => void (await service.stop('SIGKILL')));
      bench.running.set(name, { target, service, catalogue });
      const [key = ''] = catalogue.keys;
      // Only the service can create its cursors.
      if (target.paging === 'cursor' && !catalogues.has(workspace))
        catalogue.pages = await Promise.all([undefined, ...STATUSES].map((status) => findPageStarts(service.url, key, status, MAX_PAGES)));
      catalogues.set(workspace, catalogue);
    }
    return bench;
  }

  async run(): Promise<BenchResult> {
    const { rounds, seconds, workloads } = this.options;
    const scenarios: Scenario[] = [];
    // In this order, so that workloads that write come last.
    for (const workload of WORKLOADS.filter((name) => workloads.includes(name)))
      for (const connections of [MANY_CONNECTIONS, 1]) scenarios.push(await this.measureAll(workload, connections));
    const origin = `The bench ran ${rounds} rounds of ${seconds} s on ${cpus().length} cores (${cpus()[0]?.model ?? 'unknown'}), with Node.js ${process.version}, on ${new Date().toISOString().slice(0, 10)}. Each target used a table with ${ROWS.toLocaleString('en')} rows. The load generator was ${this.generator}.`;
    return { origin, scenarios, failures: [...this.failures].map(([name, message]) => `${name} failed: ${message}`) };
  }

  /** Checks and warms up each target, then measures them in turn, in a different order each round. */
  private async measureAll(workload: Workload, connections: number): Promise<Scenario> {
    const { rounds: count, seconds, warmUpSeconds } = this.options;
    const rounds: Record<string, Measurement[]> = {};
    const attempt = async (name: string, running: RunningTarget, work: (requests: readonly PetRequest[]) => Promise<void>) => {
      if (this.failures.has(name)) return;
      // The same requests to each database, but for the cursors.
      await work(createRequests(workload, running.catalogue, new Random(SEED + WORKLOADS.indexOf(workload)))).catch((error: unknown) => {
        this.failures.set(name, Error.isError(error) ? error.message : String(error));
      });
    };
    for (const [name, running] of this.running) {
      await attempt(name, running, async (requests) => {
        await checkResponses(running, requests);
        if (connections > 1) await this.measure(running, { requests, connections, seconds: warmUpSeconds, round: 0 });
      });
    }
    for (let round = 1; round <= count; round++) {
      for (const [name, running] of this.random.shuffle([...this.running])) {
        await attempt(name, running, async (requests) => {
          await running.catalogue.checkpoint();
          const measured = await this.measure(running, { requests, connections, seconds, round });
          if (measured.errors > 0) throw new Error(`${measured.errors} errors in ${workload}`);
          (rounds[name] ??= []).push(measured);
          console.log(`  ${workload} at ${connections}, round ${round} of ${count}: ${name} ${Math.round(measured.perSecond)}/s`);
        });
      }
    }
    for (const { catalogue } of this.running.values()) await catalogue.restore();
    return { workload, connections, rounds };
  }

  private async measure({ target, service, catalogue }: RunningTarget, load: Load): Promise<Measurement> {
    const requests = load.requests.map((request) => httpRequest(request, target.paging, catalogue.keys));
    const usage = () => ({ service: cpuMsOf(service.pid), postgres: cpuMsOf(catalogue.server.pid) });
    const before = usage();
    const offset = load.round * OFFSET_PER_ROUND;
    const result = await sendLoad(this.generator, { ...load, url: service.url, requests, offset }, catalogue.server.folder);
    const after = usage();
    if (result.requests === 0) throw new Error(`no response within ${load.seconds} s:\n${service.output.slice(-1_000)}`);
    return {
      perSecond: result.requests / result.seconds,
      p50Ms: result.p50Ms,
      p99Ms: result.p99Ms,
      errors: result.errors,
      serviceCpu: ((after.service - before.service) * 1_000) / result.requests,
      postgresCpu: ((after.postgres - before.postgres) * 1_000) / result.requests,
    };
  }
}
