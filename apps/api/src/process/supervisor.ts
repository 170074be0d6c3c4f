import cluster, { type Worker } from 'node:cluster';
import type { AddressInfo } from 'node:net';
import { setTimeout } from 'node:timers/promises';
import type { Logger } from 'pino';
import { Counter, Gauge, Registry } from 'prom-client';
import type { MetricsSource } from './admin-server.js';
import { WorkerMetrics } from '../observability/worker-metrics.js';
import { countForWorker, MemoryCounter } from '../rate-limit/counters.js';
import { EX_CONFIG, StartupError } from './startup-error.js';
import { findWorkerPort, isFree, requireFreePort } from './worker-port.js';
import { BEAT_MS, type GroupState, type WorkerReport } from './worker-messages.js';

const MAX_CRASHES = 10;
const CRASH_WINDOW_MS = 60_000;
/** Time from the end of the grace period until hanging workers are killed. */
const KILL_AFTER_MS = 30_000;
/** Maximum time until a killed worker has ended. The kernel may delay it, for example on a lost network drive. */
const KILL_TIMEOUT_MS = 5_000;
/** Attempts to fork a worker at the start. Later ones are repeated until the service stops. */
const MAX_INITIAL_FORKS = 5;
/** Delay before replacing a worker that ended before it was ready. Doubled each time, up to MAX_DELAY_MS, until a worker is ready. */
const INITIAL_DELAY_MS = 100;
const MAX_DELAY_MS = 2_000;
/** After this many intervals of BEAT_MS, a worker that does not listen yet, or that does not report, is killed. */
const MAX_START_BEATS = 60;
const MAX_SILENT_BEATS = 15;

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

const START_FAILED = 'The workers could not start; the cause is logged above.';

/** A process that could not be forked, for example because the machine lacks memory, files or processes at the moment. */
class ForkError extends StartupError {
  constructor({ message }: Error) {
    super(`A worker process could not be started: ${message}`);
  }
}

interface SupervisedWorker {
  state: 'starting' | 'listening' | 'ready';
  readonly ended: PromiseWithResolvers<void>;
  /** Intervals of BEAT_MS until it is killed. Counts intervals, not time: after a pause of the whole machine, no worker is killed. */
  beatsLeft: number;
}

/** Runs workers on one port, replaces crashed ones, counts requests for rate limits, and aggregates metrics. */
export class Supervisor implements MetricsSource {
  readonly contentType = Registry.PROMETHEUS_CONTENT_TYPE;
  /** Times of the crashes within CRASH_WINDOW_MS. */
  private crashes: readonly number[] = [];
  /** The workers that have not ended. */
  private readonly workers = new Map<Worker, SupervisedWorker>();
  private beats: NodeJS.Timeout | undefined;
  private readonly workerMetrics = new WorkerMetrics();
  private readonly ownRegistry = new Registry();
  private readonly restarts = new Counter({
    name: 'worker_restarts_total',
    help: 'Workers that were replaced because they ended unexpectedly.',
    registers: [this.ownRegistry],
  });
  private readonly counts = new MemoryCounter();
  private readonly firstReports = Promise.withResolvers<void>();
  private readonly firstReady = Promise.withResolvers<void>();
  private readonly stopping = new AbortController();
  private hasBeenReady = false;
  private delayMs = INITIAL_DELAY_MS;
  private port = 0;

  constructor(private readonly options: SupervisorOptions) {
    this.measure('workers', 'Running workers.', () => this.workers.size);
    this.measure('workers_ready', 'Workers that have connected to the database since they started.', () => this.inState('ready').length);
    // Only used where workers cannot share a port: they accept connections themselves.
    cluster.schedulingPolicy = cluster.SCHED_NONE;
    cluster.setupPrimary({ exec: options.exec });
  }

  /** Resolves to the address once every worker listens. If a worker ends before that, stops all workers and rejects. */
  async start(): Promise<AddressInfo> {
    process.once('exit', this.killRemaining);
    try {
      const address = await this.forkFirst();
      await Promise.all(Array.from({ length: this.options.workers - 1 }, () => this.forkInitial()));
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

  /** Resolves when all workers are ready. */
  get ready(): Promise<void> {
    return this.firstReady.promise;
  }

  /** Sends the signal to all workers and waits until they have ended. `graceMs` is the grace period of the workers. */
  async stop(signal: NodeJS.Signals, graceMs = 0): Promise<void> {
    this.stopping.abort();
    this.killAll(signal);
    // A worker that does not listen yet ends at once, unless it hangs.
    for (const known of this.workers.values()) known.beatsLeft = MAX_SILENT_BEATS;
    const ended = Promise.all([...this.workers.values()].map((worker) => worker.ended.promise)).then(() =>
      process.off('exit', this.killRemaining),
    );
    if (await this.isDoneWithin(ended, graceMs + KILL_AFTER_MS)) return;
    this.killRemaining();
    await this.isDoneWithin(ended, KILL_TIMEOUT_MS);
  }

  async metrics(): Promise<string> {
    return `${await this.workerMetrics.collect(this.inState('listening', 'ready'))}\n${await this.ownRegistry.metrics()}`;
  }

  private measure(name: string, help: string, value: () => number): void {
    const gauge: Gauge = new Gauge({ name, help, registers: [this.ownRegistry], collect: () => gauge.set(value()) });
  }

  private inState(...states: SupervisedWorker['state'][]): Worker[] {
    return [...this.workers].filter(([, { state }]) => states.includes(state)).map(([worker]) => worker);
  }

  /** Also if this process exits without `stop`: a worker that is still starting would notice that late. */
  private readonly killRemaining = () => {
    this.killAll('SIGKILL');
  };

  private killAll(signal: NodeJS.Signals): void {
    for (const { process } of this.workers.keys()) process.kill(signal);
  }

  private async isDoneWithin(work: Promise<unknown>, ms: number): Promise<boolean> {
    const { sleep = setTimeout } = this.options;
    const timer = new AbortController();
    try {
      return await Promise.race([work.then(() => true), sleep(ms, undefined, { signal: timer.signal }).then(() => false)]);
    } finally {
      timer.abort();
    }
  }

  /** Starts the first worker. If another process takes a port from `findPort` before the worker listens, uses the next one. */
  private async forkFirst(): Promise<AddressInfo> {
    const { host, port, findPort = findWorkerPort } = this.options;
    if (port !== 0) await requireFreePort(host, port);
    for (;;) {
      this.port = port === 0 ? await findPort(host) : port;
      try {
        return await this.forkInitial();
      } catch (error) {
        if (port !== 0 || error instanceof ForkError || (await isFree(host, this.port))) throw error;
      }
    }
  }

  private async forkInitial(): Promise<AddressInfo> {
    for (let forks = 1; ; forks++) {
      try {
        return await this.fork('initial');
      } catch (error) {
        if (!(error instanceof ForkError) || forks === MAX_INITIAL_FORKS) throw error;
        await this.pause();
      }
    }
  }

  /** Resolves to the address on which the worker listens. An initial worker that ends before that is not replaced: `start` rejects. */
  private fork(kind: 'initial' | 'replacement'): Promise<AddressInfo> {
    const listening = Promise.withResolvers<AddressInfo>();
    const end = (outcome: string | number, worker?: Worker, error: Error = new StartupError(START_FAILED)) => {
      const state = worker && this.forget(worker);
      listening.reject(error);
      if (state === 'listening' || state === 'ready' || kind === 'replacement') void this.onEnd(outcome, state, worker);
    };
    const fail = (error: NodeJS.ErrnoException, worker?: Worker) => {
      this.options.logger.error({ err: error }, 'a worker process could not be started');
      end(error.code ?? error.message, worker, new ForkError(error));
    };
    try {
      const worker = cluster.fork({ ...this.options.env, PORT: String(this.port) });
      this.workers.set(worker, { state: 'starting', ended: Promise.withResolvers(), beatsLeft: MAX_START_BEATS });
      this.beats ??= setInterval(() => this.killSilent(), BEAT_MS);
      countForWorker(worker, this.counts);
      worker.once('exit', (code, signal: NodeJS.Signals | null) => end(signal ?? code, worker));
      // Without a process, there is no `exit`. Other errors are messages to a worker that is ending.
      worker.on('error', (error) => {
        if (!worker.process.pid) fail(error, worker);
      });
      worker.on('message', (message: Partial<WorkerReport>) => {
        if (!message.isWorker) return;
        this.onReport(worker, message);
        if (message.listening) listening.resolve(message.listening);
      });
    } catch (error) {
      fail(error as Error);
    }
    return listening.promise;
  }

  /** Returns the last state of the worker. */
  private forget(worker: Worker): SupervisedWorker['state'] | undefined {
    const known = this.workers.get(worker);
    this.workers.delete(worker);
    this.workerMetrics.end(worker);
    if (this.workers.size === 0) {
      clearInterval(this.beats);
      this.beats = undefined;
    }
    known?.ended.resolve();
    return known?.state;
  }

  /** Kills workers that hang. The kernel still assigns connections to such a worker. */
  private killSilent(): void {
    for (const [{ process }, known] of this.workers) {
      if (--known.beatsLeft !== 0) continue;
      this.options.logger.error({ worker: process.pid }, 'a worker does not respond; killing it');
      process.kill('SIGKILL');
    }
  }

  private onReport(worker: Worker, { state, listening }: Partial<WorkerReport>): void {
    const known = this.workers.get(worker);
    if (!known) return;
    if (listening) known.state = 'listening';
    if (known.state !== 'starting') known.beatsLeft = MAX_SILENT_BEATS;
    if (state === 'waiting') this.firstReports.resolve();
    if (state !== 'ready') return;
    known.state = 'ready';
    this.hasBeenReady = true;
    this.delayMs = INITIAL_DELAY_MS;
    if (!this.reportGroup().areWorkersReady) return;
    this.firstReports.resolve();
    this.firstReady.resolve();
  }

  /** Before `firstReports`: later connections of clients reach the workers after the message. */
  private reportGroup(): GroupState {
    const state: GroupState = { areWorkersReady: this.inState('ready').length >= this.options.workers };
    for (const worker of this.workers.keys()) if (worker.isConnected()) worker.send(state);
    return state;
  }

  private async onEnd(outcome: string | number, state: SupervisedWorker['state'] | undefined, worker?: Worker): Promise<void> {
    const wasReady = state === 'ready';
    if (this.isStopping()) return;
    this.reportGroup();
    if (worker?.process.pid) this.options.logger.error({ worker: worker.process.pid, outcome }, 'a worker ended unexpectedly');
    if (!this.hasBeenReady && outcome === EX_CONFIG) return this.giveUp('the workers cannot start; stopping the service');
    if (wasReady && this.crashesRepeatedly()) return this.giveUp('the workers crash repeatedly; stopping the service');
    // An unavailable database must not end the service, however often workers end meanwhile.
    if (!wasReady) await this.pause();
    if (this.isStopping()) return;
    this.restarts.inc();
    this.fork('replacement').catch(() => undefined);
  }

  /** Records a crash. */
  private crashesRepeatedly(): boolean {
    const now = performance.now();
    this.crashes = [...this.crashes, now].filter((at) => now - at <= CRASH_WINDOW_MS);
    return this.crashes.length > MAX_CRASHES;
  }

  private isStopping(): boolean {
    return this.stopping.signal.aborted;
  }

  /** Waits before another worker is started. */
  private async pause(): Promise<void> {
    const { sleep = setTimeout } = this.options;
    const delayMs = this.delayMs;
    this.delayMs = Math.min(2 * delayMs, MAX_DELAY_MS);
    await sleep(delayMs, undefined, { signal: this.stopping.signal }).catch(() => undefined);
  }

  private async giveUp(reason: string): Promise<void> {
    this.options.logger.fatal(reason);
    await this.stop('SIGTERM');
    this.options.onGiveUp();
  }
}
