import type { Worker } from 'node:cluster';
import { withDeadline } from '../observability/deadline.js';

/** The count of a key in its current window. */
export interface Count {
  readonly points: number;
  /** Time until the window ends. */
  readonly msLeft: number;
}

/** Counts in fixed windows: in this process, in its supervisor, or in Redis. */
export interface Counter {
  /**
   * Adds points, even above the limit. A window begins with the first points of a key. Returns undefined if the counter cannot be used,
   * at the latest after RESPONSE_TIMEOUT_MS. Never rejects.
   */
  add(key: string, points: number, windowMs: number): Count | Promise<Count | undefined>;
}

/** Maximum time that a request waits for a counter of other processes. */
export const RESPONSE_TIMEOUT_MS = 250;

interface Window {
  readonly endsAt: number;
  points: number;
}

const MAX_WINDOWS = 100_000;

/** Counts in the memory of this process, with a clock that cannot be set. */
export class MemoryCounter implements Counter {
  /** Oldest first. */
  private readonly windows = new Map<string, Window>();

  add(key: string, points: number, windowMs: number): Count {
    const now = performance.now();
    let window = this.windows.get(key);
    if (!window || now >= window.endsAt) {
      this.windows.delete(key);
      this.evict(now);
      window = { endsAt: now + windowMs, points: 0 };
      this.windows.set(key, window);
    }
    window.points += points;
    return { points: window.points, msLeft: window.endsAt - now };
  }

  private evict(now: number): void {
    for (const [oldest, { endsAt }] of this.windows) {
      if (this.windows.size < MAX_WINDOWS && now < endsAt) return;
      this.windows.delete(oldest);
    }
  }
}

interface CountRequest {
  readonly countRequest?: { readonly id: number; readonly key: string; readonly points: number; readonly windowMs: number };
}

interface CountResponse {
  readonly countResponse?: { readonly id: number; readonly count: Count };
}

/** Counts for a worker, in the supervisor. */
export function countForWorker(worker: Worker, counter: MemoryCounter): void {
  worker.on('message', ({ countRequest }: CountRequest) => {
    if (!countRequest) return;
    const { id, key, points, windowMs } = countRequest;
    const response: CountResponse = { countResponse: { id, count: counter.add(key, points, windowMs) } };
    if (worker.isConnected()) worker.send(response);
  });
}

/** Counts all requests of a machine in its supervisor. Used by workers. */
export class SupervisorCounter implements Counter {
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
