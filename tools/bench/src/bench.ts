import { cpus } from 'node:os';
import { Random } from '@animal-store/faults/random';
import type { ServiceProcess } from '@animal-store/test-kit/service-process';
import { checkResponses } from './check-responses.js';
import type { CleanUp } from './clean-up.js';
import { type Catalogue, DatabaseServer } from './database-server.js';
import { type HttpRequest, httpRequest } from './http-requests.js';
import { autocannon } from './autocannon.js';
import { isInstalled, type LoadGenerator } from './load-generator.js';
import { wrk } from './wrk.js';
import { cpuMsOf, type Measurement, requireProc, residentMbOf, type Rounds } from './measurement.js';
import { constantResponses, type Target } from './targets.js';
import type { PetRequest } from './workloads.js';

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
  readonly generator: string;
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
  readonly isWriting: boolean;
}

export interface ScenarioResult {
  readonly workload: string;
  readonly connections: number;
  readonly rounds: Rounds;
  /** Targets that returned wrong responses or none, with the error. */
  readonly failures: Readonly<Record<string, string>>;
}

/** One run: a PostgreSQL server, a load generator, and the measurements of all targets in turn. */
export class Bench {
  readonly random: Random;

  private constructor(
    readonly server: DatabaseServer,
    private readonly generator: LoadGenerator,
    private readonly options: BenchOptions,
    private readonly cleanUp: CleanUp,
    readonly report: (line: string) => void,
  ) {
    this.random = new Random(options.seed);
  }

  /** Sends load with wrk if it is installed, because it uses a fraction of the CPU, otherwise with autocannon. */
  static async start(options: BenchOptions, cleanUp: CleanUp, report: (line: string) => void): Promise<Bench> {
    requireProc();
    const generator = (await isInstalled('wrk')) ? wrk : autocannon;
    report(`load by ${generator.name}`);
    return new Bench(await DatabaseServer.start(cleanUp), generator, options, cleanUp, report);
  }

  get origin(): Origin {
    const [first] = cpus();
    const machine = { cpu: first?.model ?? 'unknown', cores: cpus().length, node: process.version };
    return { measuredAt: new Date().toISOString(), machine, generator: this.generator.name, options: this.options };
  }

  async startTarget(target: Target, catalogue: Catalogue, start = target.start): Promise<RunningTarget> {
    const service = await start(catalogue);
    this.cleanUp.add(() => service.kill());
    return new RunningTarget(target, service, catalogue, this.generator);
  }

  /** Checks and warms up each target, then measures them in turn, in a different order each round. */
  async run({ workload, connections, targets, warmUpSeconds, isWriting }: Scenario): Promise<ScenarioResult> {
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
        await target.check(requests);
        if (warmUpSeconds > 0) await target.measure({ requests, connections, seconds: warmUpSeconds, round: 0 });
      });
    }
    for (let round = 1; round <= count; round++) {
      for (const name of this.random.shuffle([...targets.keys()])) {
        if (isWriting) await targets.get(name)?.target.catalogue.checkpoint();
        await attempt(name, async (target, requests) => {
          const measured = await target.measure({ requests, connections, seconds, round });
          (rounds[name] ??= []).push(measured);
          this.report(`${workload} at ${connections}, round ${round} of ${count}: ${name} ${Math.round(measured.perSecond)}/s`);
        });
      }
    }
    const catalogues = new Set([...targets.values()].map(({ target }) => target.catalogue));
    if (isWriting) for (const catalogue of catalogues) await catalogue.restore();
    return { workload, connections, rounds, failures };
  }
}

interface Load {
  readonly requests: readonly PetRequest[];
  readonly connections: number;
  readonly seconds: number;
  /** Number of the measurement within a scenario. */
  readonly round: number;
}

/** A target that is running on a catalogue and can be measured. */
export class RunningTarget {
  private readonly rendered = new WeakMap<readonly PetRequest[], readonly HttpRequest[]>();

  constructor(
    private readonly target: Target,
    readonly service: ServiceProcess,
    readonly catalogue: Catalogue,
    private readonly generator: LoadGenerator,
  ) {}

  /** @throws Error that shows the first wrong response */
  async check(requests: readonly PetRequest[]): Promise<void> {
    const constants = this.target.constant ? await constantResponses(this.catalogue) : undefined;
    await checkResponses({ url: this.service.url, paging: this.target.paging, constants }, requests, this.catalogue);
  }

  async measure({ requests, connections, seconds, round }: Load): Promise<Measurement> {
    const { service, catalogue } = this;
    const load = { url: service.url, requests: this.render(requests), connections, seconds, folder: catalogue.server.folder };
    const usage = () => ({ service: cpuMsOf(service.pid), postgres: cpuMsOf(catalogue.server.pid) });
    const before = usage();
    const result = await this.generator.run({ ...load, offset: round * OFFSET_PER_ROUND });
    const after = usage();
    if (result.requests === 0) throw new Error(`no response within ${seconds} s:\n${service.output.slice(-1_000)}`);
    return {
      requests: result.requests,
      perSecond: result.requests / result.seconds,
      p50Ms: result.p50Ms,
      p99Ms: result.p99Ms,
      errors: result.errors,
      serviceCpu: ((after.service - before.service) * 1_000) / result.requests,
      postgresCpu: ((after.postgres - before.postgres) * 1_000) / result.requests,
      generatorCpu: result.generatorCpu,
      residentMb: residentMbOf(service.pid),
    };
  }

  private render(requests: readonly PetRequest[]): readonly HttpRequest[] {
    const known = this.rendered.get(requests);
    if (known) return known;
    const rendered = requests.map((request) => httpRequest(request, this.target.paging, this.catalogue.keys));
    this.rendered.set(requests, rendered);
    return rendered;
  }
}
