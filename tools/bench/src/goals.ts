import type { Workload } from './workloads.js';

/** The performance goals of the service. Ratios are relative to the named peer. */
export const GOALS = {
  /** Requests per second at 64 connections: minimum ratio to the peer. */
  throughput: {
    list: { 'go-pgx': 1.75, 'rust-hyper': 1.2, 'fastify-pg': 3, 'nest-constant': 0.75 },
    'list-mixed': { 'go-pgx': 1, 'fastify-pg': 1.6 },
    get: { 'go-pgx': 0.9, 'fastify-pg': 1.7, 'nest-constant': 0.75 },
    create: { 'go-pgx': 1.75, 'rust-hyper': 1.2, 'fastify-pg': 2, 'nest-constant': 0.6 },
    mixed: { 'go-pgx': 1.2, 'fastify-pg': 1.8 },
  } satisfies Record<Workload, Readonly<Record<string, number>>>,
  /** CPU per request of service and PostgreSQL together: maximum ratio to the peer. */
  cpu: {
    list: { 'go-pgx': 0.32, 'rust-hyper': 0.45 },
    'list-mixed': { 'go-pgx': 0.68, 'rust-hyper': 0.88 },
    get: { 'go-pgx': 0.67, 'rust-hyper': 0.78 },
    create: { 'go-pgx': 0.42, 'rust-hyper': 0.5 },
    mixed: { 'go-pgx': 0.67, 'rust-hyper': 0.88 },
  } satisfies Record<Workload, Readonly<Record<string, number>>>,
  /** 99th percentile of the latency at 64 connections: maximum ratio to the peer. */
  p99: { 'go-pgx': 1, 'fastify-pg': 1 },
  /** Median latency at 1 connection: maximum ratio to the peer. */
  single: { 'fastify-pg': 1.15 },
  /** Maximum resident memory of a process under load. */
  residentMb: 150,
  /** For a change that is not about speed: ratios to the commit before it, measured in the same run. */
  baseline: { throughput: 0.97, cpu: 1.03, p99: 1.1 },
  /** Maximum time from process start to the first response, with the database running and everything built. */
  startMs: 1_000,
  /** Requests per second with WORKERS=2: minimum ratio to one process. */
  twoWorkers: 1,
  /** Cost at up to ten million rows: maximum ratio to the cost at a thousand. */
  scale: 1.2,
} as const;
