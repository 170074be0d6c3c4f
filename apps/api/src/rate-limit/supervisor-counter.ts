import type { Worker } from 'node:cluster';
import type { FixedWindows } from './fixed-windows.js';
import { type Count, RESPONSE_TIMEOUT_MS, type SharedCounter } from './shared-counter.js';
import { withDeadline } from './with-deadline.js';

interface CountRequest {
  readonly countRequest?: { readonly id: number; readonly key: string; readonly points: number; readonly windowMs: number };
}

interface CountResponse {
  readonly countResponse?: { readonly id: number; readonly count: Count };
}

/** Counts for a worker, in the supervisor. */
export function countForWorker(worker: Worker, windows: FixedWindows): void {
  worker.on('message', ({ countRequest }: CountRequest) => {
    if (!countRequest) return;
    const { id, key, points, windowMs } = countRequest;
    const response: CountResponse = { countResponse: { id, count: windows.add(key, points, windowMs) } };
    if (worker.isConnected()) worker.send(response);
  });
}

/** Counts all requests of a machine in its supervisor. Used by workers. */
export class SupervisorCounter implements SharedCounter {
  private readonly pending = new Map<number, (count: Count) => void>();
  private lastId = 0;
  /**
   * Whether the supervisor was late. Nothing is sent to it until it has responded, also late: messages are not lost, but would pile up in
   * this process.
   */
  private isLate = false;

  constructor() {
    process.on('message', ({ countResponse }: CountResponse) => {
      if (!countResponse) return;
      this.isLate = false;
      this.pending.get(countResponse.id)?.(countResponse.count);
    });
  }

  async add(key: string, points: number, windowMs: number): Promise<Count | undefined> {
    if (this.isLate || !process.connected) return undefined;
    const id = ++this.lastId;
    const { promise, resolve } = Promise.withResolvers<Count>();
    this.pending.set(id, resolve);
    const request: CountRequest = { countRequest: { id, key, points, windowMs } };
    // A channel that closes ends the worker.
    process.send?.(request, undefined, undefined, () => undefined);
    const count = await withDeadline(promise, RESPONSE_TIMEOUT_MS);
    this.pending.delete(id);
    if (!count) this.isLate = true;
    return count;
  }
}
