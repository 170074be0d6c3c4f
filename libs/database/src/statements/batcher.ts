import { AsyncResource } from 'node:async_hooks';

export interface BatcherOptions<Item, Result> {
  /** Returns the results in the order of the items, or rejects for all of them. The result of an item may be a promise, which the batch does not wait for. */
  readonly run: (items: readonly Item[]) => Promise<readonly (Result | Promise<Result>)[]>;
  readonly maxSize: number;
  /** Number of waiting calls that start a batch even if one is running. By default, calls wait for the running batch. */
  readonly maxWaiting?: number;
  /** Whether one item caused the error and the batch had no effect. If so, both halves of the batch are run, one after the other. */
  readonly isItemError?: (error: unknown) => boolean;
  /** Slots shared with other batchers. By default, a batcher runs one batch at a time. */
  readonly slots?: BatchSlots;
  /** Like `slots`, but a stalled batch keeps its own: the connections that wait for a lock, for example of a table. 3 by default. */
  readonly connections?: BatchSlots;
}

/** Limits the number of concurrent batches across several batchers. Waiting batchers keep collecting calls. */
export class BatchSlots {
  private readonly queue: (() => void)[] = [];

  constructor(private free: number) {}

  /** Calls `begin` as soon as a slot is free, in the order of arrival. */
  acquire(begin: () => void): void {
    if (this.free === 0) {
      this.queue.push(begin);
      return;
    }
    this.free--;
    begin();
  }

  release(): void {
    const next = this.queue.shift();
    if (next) next();
    else this.free++;
  }
}

class Call<Item, Result> {
  readonly promise: Promise<Result>;
  resolve!: (result: Result | Promise<Result>) => void;
  reject!: (error: unknown) => void;

  constructor(readonly item: Item) {
    this.promise = new Promise((resolve, reject) => {
      this.resolve = resolve;
      this.reject = reject;
    });
  }
}

/** Time in ms after which a batch no longer blocks the next one. */
const STALL_MS = 50;
/** Connections that batches for one table may wait with. */
export const MAX_CONNECTIONS = 3;

/**
 * Runs calls in batches. Calls that arrive while a batch is running join the next one, so each read sees all earlier writes.
 * A call runs immediately if no batch is running. Calls with the same key share one item.
 */
export class Batcher<Item, Result> {
  private waiting = new Map<unknown, Call<Item, Result>>();
  /** The latest batch while it is running and has not stalled. */
  private latest: readonly Call<Item, Result>[] | undefined;
  private isStarting = false;
  private readonly slots: BatchSlots;
  private readonly connections: BatchSlots;
  /** The async context of the first call: the batch is part of its trace. */
  private context = new AsyncResource('Batch');

  constructor(private readonly options: BatcherOptions<Item, Result>) {
    this.slots = options.slots ?? new BatchSlots(1);
    this.connections = options.connections ?? new BatchSlots(MAX_CONNECTIONS);
  }

  /** @param key the default is an item that is not an object. Objects may be equal, so each call with an object has its own result. */
  submit(item: Item, key: unknown = typeof item === 'object' ? undefined : item): Promise<Result> {
    const existing = key === undefined ? undefined : this.waiting.get(key);
    if (existing) return existing.promise;
    if (this.waiting.size === 0) this.context = new AsyncResource('Batch');
    const call = new Call<Item, Result>(item);
    this.waiting.set(key ?? call, call);
    if (this.mayStart()) this.start();
    return call.promise;
  }

  private mayStart(): boolean {
    if (this.waiting.size === 0 || this.isStarting) return false;
    return !this.latest || this.waiting.size >= (this.options.maxWaiting ?? Infinity);
  }

  private start(): void {
    this.isStarting = true;
    this.slots.acquire(() => {
      this.connections.acquire(() => {
        this.isStarting = false;
        this.begin();
      });
    });
  }

  /** Starts after the event loop has read all requests that have arrived, so that the batch includes them. */
  private startSoon(): void {
    if (!this.mayStart()) return;
    this.isStarting = true;
    setImmediate(() => {
      this.start();
    });
  }

  /** Runs a batch. Must be called in a slot, with a connection. */
  private begin(): void {
    const calls = this.take();
    this.latest = calls;
    let hasSlot = true;
    const release = () => {
      if (!hasSlot) return;
      hasSlot = false;
      if (this.latest === calls) this.latest = undefined;
      this.slots.release();
    };
    const ended = this.context.runInAsyncScope(() => this.run(calls));
    const stalled = setTimeout(() => {
      release();
      if (this.mayStart()) this.start();
    }, STALL_MS);
    void ended.then(() => {
      clearTimeout(stalled);
      this.connections.release();
      release();
      this.startSoon();
    });
  }

  private take(): Call<Item, Result>[] {
    const { maxSize } = this.options;
    if (this.waiting.size <= maxSize) {
      const all = [...this.waiting.values()];
      this.waiting = new Map();
      return all;
    }
    const oldest: Call<Item, Result>[] = [];
    for (const [key, call] of this.waiting) {
      oldest.push(call);
      this.waiting.delete(key);
      if (oldest.length === maxSize) break;
    }
    return oldest;
  }

  /** Settles each call. Never rejects. */
  private async run(calls: readonly Call<Item, Result>[]): Promise<void> {
    try {
      const results = await this.options.run(calls.map(({ item }) => item));
      for (let i = 0; i < calls.length; i++) calls[i]?.resolve(results[i] as Result | Promise<Result>);
    } catch (error) {
      if (calls.length > 1 && this.options.isItemError?.(error)) {
        const half = Math.ceil(calls.length / 2);
        await this.run(calls.slice(0, half));
        await this.run(calls.slice(half));
      } else {
        for (const { reject } of calls) reject(error);
      }
    }
  }
}
