import { cpuMsOf, residentMbOf } from './process-usage.js';

/** One target under one load for a few seconds. */
export interface Measurement {
  readonly requests: number;
  readonly perSecond: number;
  /** Without a service in front of it, the database tells none. */
  readonly p50Ms?: number;
  readonly p99Ms?: number;
  readonly errors: number;
  /** Milliseconds for a thousand requests, of the service with all its processes, and of PostgreSQL. */
  readonly serviceCpu: number;
  readonly postgresCpu: number;
  /** Of one core. */
  readonly generatorCpu?: number;
  /** Of the largest process of the service, when the load ends. */
  readonly residentMb?: number;
}

export const totalCpu = ({ serviceCpu, postgresCpu }: Measurement): number => serviceCpu + postgresCpu;

interface Observed {
  readonly cpuMs: number;
  readonly postgresCpuMs: number;
  readonly residentMb: number;
}

/** What the service, if there is one, and PostgreSQL use while the work is done. */
export async function observe<T>(pids: { service?: number; postgres: number }, work: () => Promise<T>): Promise<Observed & { result: T }> {
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
