import type { Worker } from 'node:cluster';
import type { Logger } from 'pino';
import { BEAT_MS } from './worker-messages.js';

/** In intervals of BEAT_MS, that is, seconds. */
const MAX_START = 60;
const MAX_SILENCE = 15;

/** Kills workers that do not start in time or stop reporting. The kernel still assigns connections to such a worker. */
export class Watchdog {
  /** Counts intervals, not time: after a pause of the whole machine, no worker is killed. */
  private readonly left = new Map<Worker, number>();
  private timer: NodeJS.Timeout | undefined;

  constructor(private readonly logger: Logger) {}

  /** Call when a worker has been forked. */
  watch(worker: Worker): void {
    this.left.set(worker, MAX_START);
    this.timer ??= setInterval(() => this.check(), BEAT_MS);
  }

  /** Call for each report of a worker that listens, and when it must stop. */
  hear(worker: Worker): void {
    if (this.left.has(worker)) this.left.set(worker, MAX_SILENCE);
  }

  /** Call when the worker has ended. */
  forget(worker: Worker): void {
    this.left.delete(worker);
    if (this.left.size > 0) return;
    clearInterval(this.timer);
    this.timer = undefined;
  }

  private check(): void {
    for (const [worker, left] of this.left) {
      this.left.set(worker, left - 1);
      if (left !== 1) continue;
      this.logger.error({ worker: worker.process.pid }, 'a worker does not respond; killing it');
      worker.process.kill('SIGKILL');
    }
  }
}
