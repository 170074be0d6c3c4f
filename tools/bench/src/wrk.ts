import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type HttpRequest, rawRequest } from './http-requests.js';
import { isInstalled, runProcess } from './processes.js';

const SCRIPT = fileURLToPath(new URL('../lua/requests.lua', import.meta.url));

export interface Load {
  readonly url: string;
  readonly requests: readonly HttpRequest[];
  readonly connections: number;
  readonly seconds: number;
  /** Index of the first request, so that rounds do not all send the same ones. */
  readonly offset: number;
}

export interface LoadResult {
  readonly requests: number;
  readonly seconds: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  /** Responses with another status than 2xx, and requests without a response. */
  readonly errors: number;
}

/** @throws Error if wrk, whose load takes a fraction of a core, is missing */
export async function requireWrk(): Promise<void> {
  if (!(await isInstalled('wrk'))) throw new Error('The bench requires wrk: apt-get install wrk');
}

/** Runs wrk with one thread. The Lua script only sends prepared requests, from a file in the folder. */
export async function sendLoad({ url, requests, connections, seconds, offset }: Load, folder: string): Promise<LoadResult> {
  const { host } = new URL(url);
  const file = join(folder, 'requests');
  await writeFile(file, requests.map((request) => rawRequest(request, host)).join('\0'));
  const options = ['--threads', '1', '--connections', `${connections}`, '--duration', `${seconds}s`, '--timeout', '10s'];
  return parseWrk(await runProcess('wrk', [...options, '--script', SCRIPT, url, '--', file, `${offset}`]));
}

/** Returns the result that lua/requests.lua has printed. */
export function parseWrk(output: string): LoadResult {
  const line = /^RESULT (\{.*\})$/m.exec(output)?.[1];
  if (line === undefined) throw new Error(`wrk printed no result: ${output.trim()}`);
  return JSON.parse(line) as LoadResult;
}
