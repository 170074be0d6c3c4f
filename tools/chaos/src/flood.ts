import { once } from 'node:events';
import { Worker } from 'node:worker_threads';

export interface FloodOptions {
  readonly url: string;
  readonly keys: readonly string[];
  readonly path: string;
  /** How many times as much is sent as is answered when requests wait for answers. */
  readonly times: number;
  readonly seconds: number;
}

export interface FloodResult {
  /** Answered a second while requests waited for answers. */
  readonly capacity: number;
  /** Sent a second. */
  readonly offered: number;
  readonly acceptedMs: readonly number[];
  /** How often each status came, with the body where it is an error. */
  readonly answers: ReadonlyMap<string, { readonly status: number; readonly text: string; readonly count: number }>;
  /** How each request without an answer ended. */
  readonly dropped: readonly string[];
}

/** From a thread of its own, so that what is measured is the service and not what else happens here. */
export async function flood(options: FloodOptions): Promise<FloodResult> {
  const worker = new Worker(new URL('./flood-thread.js', import.meta.url), { workerData: options });
  const [result] = (await once(worker, 'message')) as [FloodResult];
  await worker.terminate();
  return result;
}
