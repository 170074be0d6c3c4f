import { execFile, spawnSync } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { type HttpRequest, rawRequest } from './http-requests.js';

/** For wrk: only sends prepared requests. */
const SCRIPT = fileURLToPath(new URL('../lua/requests.lua', import.meta.url));
const AUTOCANNON = fileURLToPath(new URL('./autocannon-process.js', import.meta.url));

const run = promisify(execFile);

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

/** The program that sends the load: wrk takes a fraction of the CPU of autocannon, which is an npm package. */
export type LoadGenerator = 'wrk' | 'autocannon';

export function isInstalled(program: string): boolean {
  return spawnSync(program, ['--version']).error === undefined;
}

export async function sendLoad(generator: LoadGenerator, load: Load, folder: string): Promise<LoadResult> {
  const file = join(folder, 'requests');
  if (generator === 'autocannon') {
    await writeFile(file, JSON.stringify(load));
    return JSON.parse((await run(process.execPath, [AUTOCANNON, file])).stdout) as LoadResult;
  }
  const { url, requests, connections, seconds, offset } = load;
  const { host } = new URL(url);
  await writeFile(file, requests.map((request) => rawRequest(request, host)).join('\0'));
  const options = ['--threads', '1', '--connections', `${connections}`, '--duration', `${seconds}s`, '--timeout', '10s'];
  const { stdout } = await run('wrk', [...options, '--script', SCRIPT, url, '--', file, `${offset}`]);
  return parseWrk(stdout);
}

/** Returns the result that lua/requests.lua has printed. */
export function parseWrk(output: string): LoadResult {
  const line = /^RESULT (\{.*\})$/m.exec(output)?.[1];
  if (line === undefined) throw new Error(`wrk printed no result: ${output.trim()}`);
  return JSON.parse(line) as LoadResult;
}
