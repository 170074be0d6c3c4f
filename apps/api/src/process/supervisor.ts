import cluster, { type Address, type Worker } from 'node:cluster';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from 'pino';
import { AggregatorRegistry, Counter, Gauge, Registry } from 'prom-client';
import { RateLimiterClusterMaster } from 'rate-limiter-flexible';
import type { MetricsText } from '../observability/admin-server.js';
import { CrashLoop } from './crash-loop.js';

const MAX_CRASHES = 10;
const CRASHES_WITHIN_MS = 60_000;
/** From the end of the grace; workers bound their own end, this is for those that hang. */
const KILL_AFTER_MS = 30_000;

export interface SupervisorOptions {
  readonly workers: number;
  /** The program that a worker runs. */
  readonly exec: string;
  readonly env: NodeJS.ProcessEnv;
  readonly logger: Logger;
  /** Called when the workers crash faster than it makes sense to replace them; all of them have ended by then. */
  readonly onCrashLoop: () => void;
}

/** Runs workers on one port, replaces those that crash, and counts and measures for all of them. */
export class Supervisor implements MetricsText {
  readonly contentType = Registry.PROMETHEUS_CONTENT_TYPE;
  private readonly crashLoop = new CrashLoop(MAX_CRASHES, CRASHES_WITHIN_MS);
  private readonly running = new Map<Worker, Promise<unknown>>();
  private readonly ofWorkers = new AggregatorRegistry();
  private readonly own = new Registry();
  private readonly restarts = new Counter({
    name: 'worker_restarts_total',
    help: 'Workers that were replaced because they ended unexpectedly.',
    registers: [this.own],
  });
  private hasStarted = false;
  private isStopping = false;

  constructor(private readonly options: SupervisorOptions) {
    // Counts for the workers from the moment it exists.
    new RateLimiterClusterMaster();
    const { running } = this;
    new Gauge({
      name: 'workers',
      help: 'Workers that run.',
      registers: [this.own],
      collect() {
        this.set(running.size);
      },
    });
    cluster.setupPrimary({ exec: options.exec });
  }

  /** Resolves to the address once every worker listens; rejects, with none left, when one ends before it does. */
  async start(): Promise<Address> {
    try {
      // Port 0 is the same free port for all of them.
      const [address] = await Promise.all([this.fork(), ...Array.from({ length: this.options.workers - 1 }, () => this.fork())]);
      this.hasStarted = true;
      return address;
    } catch (error) {
      await this.stop('SIGTERM');
      throw error;
    }
  }

  /** Passes the signal on and waits until no worker is left; `graceMs` is how long they may serve on first. */
  async stop(signal: NodeJS.Signals, graceMs = 0): Promise<void> {
    this.isStopping = true;
    for (const { process } of this.running.keys()) process.kill(signal);
    const timer = new AbortController();
    const killing = sleep(graceMs + KILL_AFTER_MS, undefined, { signal: timer.signal }).then(
      () => {
        for (const { process } of this.running.keys()) process.kill('SIGKILL');
      },
      () => undefined,
    );
    await Promise.all(this.running.values());
    timer.abort();
    await killing;
  }

  async metrics(): Promise<string> {
    return `${await this.ofWorkers.clusterMetrics()}\n${await this.own.metrics()}`;
  }

  /** Resolves to the address on which the worker listens. */
  private fork(): Promise<Address> {
    const worker = cluster.fork(this.options.env);
    const ended = new Promise<void>((resolve) => {
      worker.once('exit', (code, signal: NodeJS.Signals | null) => {
        this.running.delete(worker);
        resolve();
        this.onEnd(worker, signal ?? code);
      });
    });
    this.running.set(worker, ended);
    worker.on('error', () => undefined);
    return new Promise((resolve, reject) => {
      worker.once('listening', resolve);
      void ended.then(() => reject(new Error('A worker ended before it listened.')));
    });
  }

  private onEnd({ process: { pid } }: Worker, outcome: string | number): void {
    if (this.isStopping || !this.hasStarted) return;
    const { logger } = this.options;
    const isLoop = outcome !== 0 && this.crashLoop.note(performance.now());
    logger.error({ worker: pid, outcome }, 'a worker ended unexpectedly');
    if (isLoop) {
      logger.fatal('the workers crash again and again, the service gives up');
      void this.stop('SIGTERM').then(this.options.onCrashLoop);
      return;
    }
    this.restarts.inc();
    this.fork().catch(() => undefined);
  }
}
