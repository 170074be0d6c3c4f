import { AsyncResource } from 'node:async_hooks';

export interface BatcherOptions<Item, Result> {
  /** Returns the results in the order of the items, or rejects for all of them. The batch does not wait for a result that is a promise. */
  readonly run: (items: readonly Item[]) => Promise<readonly (Result | Promise<Result>)[]>;
  readonly maxSize: number;
  /** Number of waiting calls that start a batch even if one is running. By default, calls wait for the running batch. */
  readonly maxWaiting?: number;
  /** Whether one item caused the error and the batch had no effect. If so, both halves of the batch are run, one after the other. */
  readonly isItemError?: (error: unknown) => boolean;
  /** Slots shared with other batchers. By default, a batcher runs one batch at a time. */
  readonly slots?: BatchSlots;
}

interface Call<Item, Result> extends PromiseWithResolvers<Result> {
  readonly item: Item;
}

/** Time in ms after which a running batch has stalled, for example because it waits for a lock. It then no longer blocks the next one. */
const STALL_MS = 50;

/**
 * Runs concurrent calls in batches:
 * 1. `submit` adds a call to the waiting ones. Calls with the same key share one item.
 * 2. If no batch is running, `start` waits for a slot, which other batchers may occupy.
 * 3. `begin` takes the waiting calls, and `run` executes them together. Each read sees all writes that were committed before its call.
 * 4. The calls that have arrived in the meantime are the next batch. It begins when the running one has ended or stalled.
 */
export class Batcher<Item, Result> {
  /** The calls of the next batch, by their key. */
  private waiting = new Map<unknown, Call<Item, Result>>();
  /** The running batch that the next one waits for. Undefined if none is running, or the latest one has stalled. */
  private blocking: readonly Call<Item, Result>[] | undefined;
  /** Whether the next batch waits only for a slot. */
  private isStarting = false;
  private readonly slots: BatchSlots;
  /** The async context of the first call: the batch is part of its trace. */
  private context = new AsyncResource('Batch');

  constructor(private readonly options: BatcherOptions<Item, Result>) {
    this.slots = options.slots ?? new BatchSlots(1);
  }

  /** @param key the default is an item that is not an object. Objects may be equal, so each call with an object has its own result. */
  submit(item: Item, key: unknown = typeof item === 'object' ? undefined : item): Promise<Result> {
    const existing = key === undefined ? undefined : this.waiting.get(key);
    if (existing) return existing.promise;
    if (this.waiting.size === 0) this.context = new AsyncResource('Batch');
    // Spreading the resolvers would cost half as much as the rest of a call.
    const { promise, resolve, reject } = Promise.withResolvers<Result>();
    const call: Call<Item, Result> = { item, promise, resolve, reject };
    this.waiting.set(key ?? call, call);
    if (this.mayStart()) this.start();
    return promise;
  }

  private mayStart(): boolean {
    if (this.waiting.size === 0 || this.isStarting) return false;
    return !this.blocking || this.waiting.size >= (this.options.maxWaiting ?? Infinity);
  }

  private start(): void {
    this.isStarting = true;
    this.slots.acquire(() => {
      this.isStarting = false;
      this.begin();
    });
  }

  /** Runs the waiting calls. Must be called in a slot. */
  private begin(): void {
    const { waiting } = this;
    const { maxSize } = this.options;
    const calls = [...waiting.values()].slice(0, maxSize);
    this.waiting = new Map(waiting.size > maxSize ? [...waiting].slice(maxSize) : []);
    this.blocking = calls;
    let hasStalled = false;
    const unblock = () => {
      if (this.blocking === calls) this.blocking = undefined;
    };
    const ended = this.context.runInAsyncScope(() => this.run(calls));
    const stalling = setTimeout(() => {
      hasStalled = true;
      unblock();
      this.slots.stall();
      if (this.mayStart()) this.start();
    }, STALL_MS);
    void ended.then(() => {
      clearTimeout(stalling);
      unblock();
      this.slots.release(hasStalled);
      if (!this.mayStart()) return;
      this.isStarting = true;
      // The event loop first reads all requests that have arrived, so that the batch includes them.
      setImmediate(() => this.start());
    });
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

/** Maximum number of batches that share slots, with the stalled ones, which keep their connections. */
const MAX_CONNECTIONS = 3;

/** Limits the number of concurrent batches across several batchers. Waiting batchers keep collecting calls. */
export class BatchSlots {
  private readonly queue: (() => void)[] = [];
  private running = 0;
  private connections = 0;

  /** @param maxRunning maximum number of batches that have not stalled */
  constructor(private readonly maxRunning: number) {}

  /** Calls `begin` as soon as a slot is free, in the order of arrival. */
  acquire(begin: () => void): void {
    this.queue.push(begin);
    this.beginNext();
  }

  stall(): void {
    this.running--;
    this.beginNext();
  }

  release(hasStalled: boolean): void {
    if (!hasStalled) this.running--;
    this.connections--;
    this.beginNext();
  }

  private beginNext(): void {
    if (this.running >= this.maxRunning || this.connections >= MAX_CONNECTIONS) return;
    const begin = this.queue.shift();
    if (!begin) return;
    this.running++;
    this.connections++;
    begin();
  }
}
