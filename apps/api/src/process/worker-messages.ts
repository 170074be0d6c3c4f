import type { AddressInfo } from 'node:net';

/** How often a worker reports that it is alive. */
export const BEAT_MS = 1_000;

/** Sent by a worker to its supervisor. Without members, it only says that the worker is alive. */
export interface WorkerReport {
  readonly isWorker: true;
  /** Sent once, when the worker listens. */
  readonly listening?: AddressInfo;
  /** Connected to the database and migrated, or waiting for that. */
  readonly state?: 'ready' | 'waiting';
}

/** Sends a report to the supervisor. */
export function report(members: Omit<WorkerReport, 'isWorker'>): void {
  process.send?.({ isWorker: true, ...members } satisfies WorkerReport);
}

/** Reports that the worker listens, then regularly that it is alive. */
export function reportListening(listening: AddressInfo): void {
  report({ listening });
  setInterval(() => report({}), BEAT_MS).unref();
}

/** Reported by the supervisor to each worker. */
export interface GroupState {
  readonly areWorkersReady: boolean;
}

/** Whether all workers of the service are ready. Without a supervisor, the process itself is the group. */
export class WorkerGroup {
  isReady = true;

  /** Not ready until the supervisor reports that all workers are. */
  followSupervisor(): void {
    this.isReady = false;
    process.on('message', ({ areWorkersReady = this.isReady }: Partial<GroupState>) => {
      this.isReady = areWorkersReady;
    });
  }
}
