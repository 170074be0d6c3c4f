import type { Workload } from './workloads.js';

/** What the service is to reach: the one place that says so. Ratios are to the peer of that name. */
export const GOALS = {
  /** Requests per second at 64 connections: at least that many times the peer's. */
  throughput: {
    list: { 'go-pgx': 1.75, 'fastify-pg': 3, 'nest-constant': 0.75 },
    'list-mixed': { 'go-pgx': 1, 'fastify-pg': 1.6 },
    get: { 'go-pgx': 0.9, 'fastify-pg': 1.7, 'nest-constant': 0.75 },
    create: { 'go-pgx': 1.75, 'fastify-pg': 2, 'nest-constant': 0.6 },
    mixed: { 'go-pgx': 1.2, 'fastify-pg': 1.8 },
  } satisfies Record<Workload, Readonly<Record<string, number>>>,
  /** CPU per request, service and PostgreSQL together: at most that many times that of `go-pgx`. */
  cpu: { list: 0.45, 'list-mixed': 0.9, get: 0.9, create: 0.5, mixed: 0.8 } satisfies Record<Workload, number>,
  /** The 99th percentile at 64 connections: at most that many times the peer's. */
  p99: { 'go-pgx': 1, 'fastify-pg': 1 },
  /** The median latency at 1 connection: at most that many times the peer's. */
  single: { 'fastify-pg': 1.3 },
  /** Resident memory of a process under load. */
  residentMb: 150,
  /** A change that is not about speed: beside the commit before it, in the same run. */
  baseline: { throughput: 0.97, cpu: 1.03, p99: 1.1 },
  /** From the start of the process to the first answer, with the database up and everything built. */
  startMs: 1_000,
  /** Throughput with WORKERS=2: at least that many times that of one process. */
  twoWorkers: 0.9,
  /** Cost at up to ten million rows: at most that many times the cost at a thousand. */
  scale: 1.2,
} as const;
