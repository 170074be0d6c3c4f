import type { HttpRequest } from '../http-requests.js';

export interface LoadOptions {
  readonly url: string;
  readonly requests: readonly HttpRequest[];
  readonly connections: number;
  readonly seconds: number;
  /** The request to begin with, so that rounds do not all send the same ones. */
  readonly offset: number;
  /** For files that the generator reads. */
  readonly folder: string;
}

export interface LoadResult {
  readonly requests: number;
  readonly seconds: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  /** Answers of another status than 2xx, and requests without an answer. */
  readonly errors: number;
  /** Of one core; near 1 the generator is the bottleneck. */
  readonly generatorCpu: number;
}

export interface LoadGenerator {
  readonly name: string;
  run(options: LoadOptions): Promise<LoadResult>;
}
