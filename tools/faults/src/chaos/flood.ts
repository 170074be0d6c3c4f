import { once } from 'node:events';
import { Worker } from 'node:worker_threads';

export interface FloodOptions {
  readonly url: string;
  readonly keys: readonly string[];
  readonly seconds: number;
}

export interface FloodResult {
  /** Responses per second in a closed loop. */
  readonly capacity: number;
  /** Requests sent per second. */
  readonly offered: number;
  readonly acceptedMs: readonly number[];
  /** Number of responses by status and error body. */
  readonly responses: ReadonlyMap<string, { readonly status: number; readonly text: string; readonly count: number }>;
  /** How each request without a response ended. */
  readonly dropped: readonly string[];
}

/** Floods the service from a separate thread, so that other work of this process does not affect the times. */
export async function flood(options: FloodOptions): Promise<FloodResult> {
  const worker = new Worker(new URL('./flood-thread.js', import.meta.url), { workerData: options });
  const [result] = (await once(worker, 'message')) as [FloodResult];
  await worker.terminate();
  return result;
}
