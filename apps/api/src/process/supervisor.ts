import cluster, { type Address, type Worker } from 'node:cluster';
import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { setTimeout } from 'node:timers/promises';
import type { Logger } from 'pino';
import { AggregatorRegistry, Counter, Gauge, Registry } from 'prom-client';
import type { GroupState } from '../health/worker-group.js';
import type { MetricsSource } from '../observability/admin-server.js';
import { FixedWindows } from '../rate-limit/fixed-windows.js';
import { countForWorker } from '../rate-limit/supervisor-counter.js';
import { closeLostConnections } from './close-lost-connections.js';
import { EX_CONFIG, StartupError } from './startup-error.js';

const MAX_CRASHES = 10;
const CRASH_WINDOW_MS = 60_000;
/** Time from the end of the grace period until hanging workers are killed. */
const KILL_AFTER_MS = 30_000;
/** Delay before replacing a worker that ended before it was ready. Doubled each time, up to MAX_DELAY_MS, until a worker is ready. */
const INITIAL_DELAY_MS = 100;
const MAX_DELAY_MS = 2_000;
/** Below the ports that operating systems assign, so that no other socket gets the port before the workers listen. */
const MIN_PORT = 20_000;
const MAX_PORT = 32_767;

/** State that a worker reports: ready, or waiting for the database. */
export type WorkerState = 'ready' | 'waiting';

export interface SupervisorOptions {
  readonly workers: number;
  /** The program that a worker runs. */
  readonly exec: string;
  readonly env: NodeJS.ProcessEnv;
  readonly host: string;
  /** 0 uses a port from `findPort`. */
  readonly port: number;
  /** Finds the port of all workers if `port` is 0. If each worker listened on port 0, one that starts alone would get another port. */
  readonly findPort?: typeof findWorkerPort;
  /** The default is that of Node.js. */
  readonly sleep?: (ms: number, value: undefined, options: { readonly signal: AbortSignal }) => Promise<unknown>;
  readonly logger: Logger;
  /** Called after all workers have ended, if the supervisor stops replacing them. */
  readonly onGiveUp: () => void;
}

/** Runs workers on one port, replaces crashed ones, counts requests for rate limits, and aggregates metrics. */
export class Supervisor implements MetricsSource {
  readonly contentType = Registry.PROMETHEUS_CONTENT_TYPE;
  private readonly crashLoop = new CrashLoopDetector(MAX_CRASHES, CRASH_WINDOW_MS);
  private readonly running = new Map<Worker, Promise<unknown>>();
  private readonly workerRegistry = new AggregatorRegistry();
  private readonly ownRegistry = new Registry();
  private readonly restarts = new Counter({
    name: 'worker_restarts_total',
    help: 'Workers that were replaced because they ended unexpectedly.',
    registers: [this.ownRegistry],
  });
  private readonly ready = new Set<Worker>();
  private readonly counts = new FixedWindows();
  private readonly firstReports = Promise.withResolvers<void>();
  private readonly stopping = new AbortController();
  private hasBeenReady = false;
  private delayMs = INITIAL_DELAY_MS;
  private port = 0;

  constructor(private readonly options: SupervisorOptions) {
    const { running, ready } = this;
    new Gauge({
      name: 'workers',
      help: 'Running workers.',
      registers: [this.ownRegistry],
      collect() {
        this.set(running.size);
      },
    });
    new Gauge({
      name: 'workers_ready',
      help: 'Workers that have connected to the database since they started.',
      registers: [this.ownRegistry],
      collect() {
        this.set(ready.size);
      },
    });
    cluster.setupPrimary({ exec: options.exec });
  }

  /** Resolves to the address once every worker listens. If a worker ends before that, stops all workers and rejects. */
  async start(): Promise<Address> {
    try {
      const address = await this.forkFirst();
      await Promise.all(Array.from({ length: this.options.workers - 1 }, () => this.fork('initial')));
      return address;
    } catch (error) {
      await this.stop('SIGTERM');
      throw error;
    }
  }

  /** Resolves when all workers are ready, or when a worker waits for the database. */
  get reported(): Promise<void> {
    return this.firstReports.promise;
  }

  /** Sends the signal to all workers and waits until they have ended. `graceMs` is the grace period of the workers. */
  async stop(signal: NodeJS.Signals, graceMs = 0): Promise<void> {
    this.stopping.abort();
    for (const { process } of this.running.keys()) process.kill(signal);
    const { sleep = setTimeout } = this.options;
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
    return `${await this.workerRegistry.clusterMetrics()}\n${await this.ownRegistry.metrics()}`;
  }

  /** Starts the first worker. If another process takes a port from `findPort` before the worker listens, uses the next one. */
  private async forkFirst(): Promise<Address> {
    const { host, port, findPort = findWorkerPort } = this.options;
    for (;;) {
      this.port = port === 0 ? await findPort(host) : port;
      try {
        return await this.fork('initial');
      } catch (error) {
        if (port !== 0 || (await isFree(host, this.port))) throw error;
      }
    }
  }

  /** Resolves to the address on which the worker listens. An initial worker that ends before that is not replaced: `start` rejects. */
  private fork(kind: 'initial' | 'replacement'): Promise<Address> {
    const worker = cluster.fork({ ...this.options.env, PORT: String(this.port) });
    closeLostConnections(worker.process);
    countForWorker(worker, this.counts);
    let hasListened = false;
    worker.once('listening', () => {
      hasListened = true;
    });
    const ended = new Promise<void>((resolve) => {
      worker.once('exit', (code, signal: NodeJS.Signals | null) => {
        this.running.delete(worker);
        resolve();
        if (hasListened || kind === 'replacement') void this.onEnd(worker, signal ?? code);
      });
    });
    this.running.set(worker, ended);
    worker.on('error', () => undefined);
    worker.on('message', ({ state }: { state?: WorkerState }) => this.onReport(worker, state));
    return new Promise((resolve, reject) => {
      worker.once('listening', resolve);
      void ended.then(() => reject(new StartupError('The workers could not start; the cause is logged above.')));
    });
  }

  private onReport(worker: Worker, state: WorkerState | undefined): void {
    if (state === 'waiting') this.firstReports.resolve();
    if (state !== 'ready') return;
    this.ready.add(worker);
    this.hasBeenReady = true;
    this.delayMs = INITIAL_DELAY_MS;
    this.reportGroup();
    if (this.ready.size >= this.options.workers) this.firstReports.resolve();
  }

  /** Before `firstReports`: a connection that is handed to a worker later arrives after the message. */
  private reportGroup(): void {
    const state: GroupState = { areWorkersReady: this.ready.size >= this.options.workers };
    for (const worker of this.running.keys()) if (worker.isConnected()) worker.send(state);
  }

  private async onEnd(worker: Worker, outcome: string | number): Promise<void> {
    const wasReady = this.ready.delete(worker);
    const { signal } = this.stopping;
    const isStopping = () => signal.aborted;
    if (isStopping()) return;
    this.reportGroup();
    this.options.logger.error({ worker: worker.process.pid, outcome }, 'a worker ended unexpectedly');
    if (!this.hasBeenReady && outcome === EX_CONFIG) return this.giveUp('the workers cannot start; stopping the service');
    if (wasReady && this.crashLoop.record(performance.now())) return this.giveUp('the workers crash repeatedly; stopping the service');
    // An unavailable database must not end the service, however often workers end meanwhile.
    if (!wasReady) {
      const { sleep = setTimeout } = this.options;
      const delayMs = this.delayMs;
      this.delayMs = Math.min(2 * delayMs, MAX_DELAY_MS);
      await sleep(delayMs, undefined, { signal }).catch(() => undefined);
      if (isStopping()) return;
    }
    this.restarts.inc();
    this.fork('replacement').catch(() => undefined);
  }

  private async giveUp(reason: string): Promise<void> {
    this.options.logger.fatal(reason);
    await this.stop('SIGTERM');
    this.options.onGiveUp();
  }
}

/** Detects crash loops: more than `maxCrashes` crashes within `windowMs`. */
export class CrashLoopDetector {
  private crashes: readonly number[] = [];

  constructor(
    private readonly maxCrashes: number,
    private readonly windowMs: number,
  ) {}

  /** Records a crash. Returns whether it is part of a crash loop. */
  record(nowMs: number): boolean {
    this.crashes = [...this.crashes, nowMs].filter((at) => nowMs - at <= this.windowMs);
    return this.crashes.length > this.maxCrashes;
  }
}

/** Returns a port that is not in use, below those that the system assigns to connections. */
export async function findWorkerPort(host: string): Promise<number> {
  for (;;) {
    const port = randomInt(MIN_PORT, MAX_PORT + 1);
    if (await isFree(host, port)) return port;
  }
}

/** @throws Error if the host is not an address of this machine */
async function isFree(host: string, port: number): Promise<boolean> {
  const server = createServer().listen(port, host);
  try {
    await once(server, 'listening');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EADDRINUSE') return false;
    throw error;
  }
  server.close();
  await once(server, 'close');
  return true;
}
