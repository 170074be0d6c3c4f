import { cpuMsOf, residentMbOf } from './process-usage.js';

/** Figures of one target under one load for a few seconds. */
export interface Measurement {
  readonly requests: number;
  readonly perSecond: number;
  /** Undefined for the database without a service. */
  readonly p50Ms?: number;
  readonly p99Ms?: number;
  readonly errors: number;
  /** CPU milliseconds per thousand requests: `serviceCpu` of all processes of the service, `postgresCpu` of PostgreSQL. */
  readonly serviceCpu: number;
  readonly postgresCpu: number;
  /** Share of one core. */
  readonly generatorCpu?: number;
  /** Resident memory of the largest process of the service at the end of the load. */
  readonly residentMb?: number;
}

export const totalCpu = ({ serviceCpu, postgresCpu }: Measurement): number => serviceCpu + postgresCpu;

interface Usage {
  readonly cpuMs: number;
  readonly postgresCpuMs: number;
  readonly residentMb: number;
}

/** Runs the work. Returns its result, and the CPU time and memory that the service (if any) and PostgreSQL used. */
export async function measureUsage<T>(
  pids: { service?: number; postgres: number },
  work: () => Promise<T>,
): Promise<Usage & { result: T }> {
  const cpu = (pid: number | undefined) => (pid === undefined ? 0 : cpuMsOf(pid));
  const before = { service: cpu(pids.service), postgres: cpu(pids.postgres) };
  const result = await work();
  return {
    result,
    cpuMs: cpu(pids.service) - before.service,
    postgresCpuMs: cpu(pids.postgres) - before.postgres,
    residentMb: pids.service === undefined ? 0 : Math.max(...residentMbOf(pids.service)),
  };
}
