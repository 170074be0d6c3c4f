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
  // Without a callback, a lost channel would be an uncaught error. The worker ends when the supervisor does.
  process.send?.({ isWorker: true, ...members } satisfies WorkerReport, undefined, undefined, () => undefined);
}

/** Reports that the worker listens, then regularly that it is alive. */
export function reportListening(listening: AddressInfo): void {
  report({ listening });
  setInterval(() => report({}), BEAT_MS).unref();
}
