import type { HttpRequest } from '../http-requests.js';

export interface LoadOptions {
  readonly url: string;
  readonly requests: readonly HttpRequest[];
  readonly connections: number;
  readonly seconds: number;
  /** Index of the first request, so that rounds do not all send the same ones. */
  readonly offset: number;
  /** Folder for the files that the generator reads. */
  readonly folder: string;
}

export interface LoadResult {
  readonly requests: number;
  readonly seconds: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  /** Responses with another status than 2xx, and requests without a response. */
  readonly errors: number;
  /** Share of one core. Near 1, the generator is the bottleneck. */
  readonly generatorCpu: number;
}

export interface LoadGenerator {
  readonly name: string;
  run(options: LoadOptions): Promise<LoadResult>;
}
