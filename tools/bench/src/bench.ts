import { cpus } from 'node:os';
import { Random } from './random.js';
import type { ServiceProcess } from '@animal-store/test-kit/service-process';
import { checkResponses } from './check-responses.js';
import { type Catalogue, DatabaseServer } from './database-server.js';
import { httpRequest } from './http-requests.js';
import { isInstalled, type LoadGenerator, sendLoad } from './load.js';
import { cpuMsOf, type Measurement, requireProc, residentMbOf, type Rounds } from './measurement.js';
import type { Target } from './targets.js';
import { CONFLICT_SHARE, type PetRequest } from './workloads.js';

const OFFSET_PER_ROUND = 1_237;

export interface BenchOptions {
  readonly rounds: number;
  readonly seconds: number;
  readonly seed: number;
}

/** What results depend on. */
export interface Origin {
  readonly measuredAt: string;
  readonly machine: { readonly cpu: string; readonly cores: number; readonly node: string };
  readonly generator: LoadGenerator;
  readonly options: BenchOptions;
}

export interface Scenario {
  /** A workload, or a kind of reads by number of rows. */
  readonly workload: string;
  readonly connections: number;
  /** The targets by name, and the requests to each of them. */
  readonly targets: ReadonlyMap<string, { readonly target: RunningTarget; readonly requests: readonly PetRequest[] }>;
  /** 0 if the same targets were just measured with the same requests. */
  readonly warmUpSeconds: number;
}

/** A target that runs on a catalogue. */
export interface RunningTarget {
  readonly target: Target;
  readonly service: ServiceProcess;
  readonly catalogue: Catalogue;
}

export interface ScenarioResult {
  readonly workload: string;
  readonly connections: number;
  readonly rounds: Rounds;
  /** Targets that returned wrong responses or none, with the error. */
  readonly failures: Readonly<Record<string, string>>;
}

/** One run: a PostgreSQL server, and the measurements of all targets in turn. */
export class Bench {
  readonly random: Random;

  private constructor(
    readonly server: DatabaseServer,
    private readonly options: BenchOptions,
    private readonly cleanUp: AsyncDisposableStack,
    private readonly generator: LoadGenerator,
    readonly report: (line: string) => void,
  ) {
    this.random = new Random(options.seed);
  }

  static async start(options: BenchOptions, cleanUp: AsyncDisposableStack, report: (line: string) => void): Promise<Bench> {
    requireProc();
    const generator = isInstalled('wrk') ? 'wrk' : 'autocannon';
    return new Bench(await DatabaseServer.start(cleanUp), options, cleanUp, generator, report);
  }

  get origin(): Origin {
    const [first] = cpus();
    const machine = { cpu: first?.model ?? 'unknown', cores: cpus().length, node: process.version };
    return { measuredAt: new Date().toISOString(), machine, generator: this.generator, options: this.options };
  }

  async startTarget(target: Target, catalogue: Catalogue, start = target.start): Promise<RunningTarget> {
    const service = await start(catalogue);
    this.cleanUp.defer(() => service.kill());
    return { target, service, catalogue };
  }

  /** Checks and warms up each target, then measures them in turn, in a different order each round. */
  async run({ workload, connections, targets, warmUpSeconds }: Scenario): Promise<ScenarioResult> {
    const { rounds: count, seconds } = this.options;
    const rounds: Record<string, Measurement[]> = {};
    const failures: Record<string, string> = {};
    const attempt = async (name: string, work: (target: RunningTarget, requests: readonly PetRequest[]) => Promise<void>) => {
      const measured = targets.get(name);
      if (!measured || name in failures) return;
      await work(measured.target, measured.requests).catch((error: unknown) => {
        failures[name] = Error.isError(error) ? error.message : String(error);
        this.report(`${name}: ${failures[name]}`);
      });
    };
    for (const name of targets.keys()) {
      await attempt(name, async (target, requests) => {
        await checkResponses(target, requests);
        if (warmUpSeconds > 0) await this.measure(target, { requests, connections, seconds: warmUpSeconds, round: 0 });
      });
    }
    const written = [...targets.values()].filter(({ requests }) => requests.some(({ operation }) => operation === 'create'));
    const catalogues = new Set(written.map(({ target }) => target.catalogue));
    for (let round = 1; round <= count; round++) {
      for (const name of this.random.shuffle([...targets.keys()])) {
        await attempt(name, async (target, requests) => {
          if (catalogues.has(target.catalogue)) await target.catalogue.checkpoint();
          const measured = await this.measure(target, { requests, connections, seconds, round });
          (rounds[name] ??= []).push(measured);
          this.report(`${workload} at ${connections}, round ${round} of ${count}: ${name} ${Math.round(measured.perSecond)}/s`);
        });
      }
    }
    for (const catalogue of catalogues) await catalogue.restore();
    return { workload, connections, rounds, failures };
  }

  private async measure({ target, service, catalogue }: RunningTarget, load: Requests): Promise<Measurement> {
    const requests = load.requests.map((request) => httpRequest(request, target.paging, catalogue.keys));
    const usage = () => ({ service: cpuMsOf(service.pid), postgres: cpuMsOf(catalogue.server.pid) });
    const before = usage();
    const result = await sendLoad(
      this.generator,
      { ...load, url: service.url, requests, offset: load.round * OFFSET_PER_ROUND },
      catalogue.server.folder,
    );
    const after = usage();
    if (result.requests === 0) throw new Error(`no response within ${load.seconds} s:\n${service.output.slice(-1_000)}`);
    return {
      perSecond: result.requests / result.seconds,
      p50Ms: result.p50Ms,
      p99Ms: result.p99Ms,
      errors: target.hasConflicts && isShareOfConflicts(result.errors / result.requests) ? 0 : result.errors,
      serviceCpu: ((after.service - before.service) * 1_000) / result.requests,
      postgresCpu: ((after.postgres - before.postgres) * 1_000) / result.requests,
      residentMb: residentMbOf(service.pid),
    };
  }
}

/** Allows for the requests that a measurement starts and ends with. */
function isShareOfConflicts(share: number): boolean {
  return Math.abs(share - CONFLICT_SHARE) < CONFLICT_SHARE / 10;
}

interface Requests {
  readonly requests: readonly PetRequest[];
  readonly connections: number;
  readonly seconds: number;
  /** Number of the measurement within a scenario. */
  readonly round: number;
}
