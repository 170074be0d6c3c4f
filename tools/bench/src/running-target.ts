import { checkResponses } from './check-responses.js';
import { type HttpRequest, httpRequest } from './http-requests.js';
import type { LoadGenerator } from './load/load-generator.js';
import { type Measurement, measureUsage } from './measurement.js';
import { PGBENCH_CONNECTIONS, runPgbench } from './pgbench.js';
import type { ServerProcess } from './server-process.js';
import type { Catalogue } from './database-server.js';
import { constantResponses, type HttpTarget } from './targets.js';
import type { PetRequest, Workload } from './workloads.js';

export interface Load {
  readonly workload: Workload;
  readonly requests: readonly PetRequest[];
  readonly connections: number;
  readonly seconds: number;
  /** Number of the measurement within a run. */
  readonly round: number;
}

/** A target that is running and can be measured. */
export interface RunningTarget {
  check(load: Load): Promise<void>;
  measure(load: Load): Promise<Measurement>;
}

const OFFSET_PER_ROUND = 1_237;

export class RunningHttpTarget implements RunningTarget {
  private rendered: { from: readonly PetRequest[]; requests: readonly HttpRequest[] } | undefined;

  constructor(
    private readonly target: HttpTarget,
    readonly server: ServerProcess,
    private readonly catalogue: Catalogue,
    private readonly generator: LoadGenerator,
  ) {}

  async check({ requests }: Load): Promise<void> {
    const { paging, authenticates, constant } = this.target;
    const constants = constant ? await constantResponses(this.catalogue) : undefined;
    await checkResponses({ url: this.server.url, paging, authenticates, constants }, requests, this.catalogue);
  }

  async measure({ requests, connections, seconds, round }: Load): Promise<Measurement> {
    const load = {
      url: this.server.url,
      requests: this.render(requests),
      connections,
      seconds,
      offset: round * OFFSET_PER_ROUND,
      folder: this.catalogue.server.folder,
    };
    const pids = { service: this.server.pid, postgres: this.catalogue.server.pid };
    const { result, cpuMs, postgresCpuMs, residentMb } = await measureUsage(pids, () => this.generator.run(load));
    if (result.requests === 0) throw new Error(`no response within ${seconds} s:\n${this.server.logEnd()}`);
    return {
      requests: result.requests,
      perSecond: result.requests / result.seconds,
      p50Ms: result.p50Ms,
      p99Ms: result.p99Ms,
      errors: result.errors,
      serviceCpu: (cpuMs * 1000) / result.requests,
      postgresCpu: (postgresCpuMs * 1000) / result.requests,
      generatorCpu: result.generatorCpu,
      residentMb,
    };
  }

  private render(requests: readonly PetRequest[]): readonly HttpRequest[] {
    if (this.rendered?.from !== requests) {
      const { paging } = this.target;
      this.rendered = { from: requests, requests: requests.map((request) => httpRequest(request, paging, this.catalogue.keys)) };
    }
    return this.rendered.requests;
  }
}

export class RunningPgbench implements RunningTarget {
  constructor(private readonly catalogue: Catalogue) {}

  /** Checks nothing: pgbench counts failed statements. */
  async check(): Promise<void> {}

  async measure({ workload, connections, seconds }: Load): Promise<Measurement> {
    const { result, postgresCpuMs } = await measureUsage({ postgres: this.catalogue.server.pid }, () =>
      runPgbench(this.catalogue, workload, Math.min(connections, PGBENCH_CONNECTIONS), seconds),
    );
    const requests = result.perSecond * seconds;
    return {
      requests,
      perSecond: result.perSecond,
      errors: result.failed,
      serviceCpu: (result.cpuMs * 1000) / requests,
      postgresCpu: (postgresCpuMs * 1000) / requests,
    };
  }
}
