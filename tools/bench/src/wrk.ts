import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { rawRequest } from './http-requests.js';
import { type LoadGenerator, type LoadResult, runProcess } from './load-generator.js';

const SCRIPT = fileURLToPath(new URL('../lua/requests.lua', import.meta.url));

/** Output of lua/requests.lua. */
interface WrkResult {
  readonly requests: number;
  readonly microseconds: number;
  readonly p50: number;
  readonly p99: number;
  readonly badStatuses: number;
  readonly socketErrors: number;
}

/** Runs wrk with one thread. The Lua script only sends prepared requests. */
export const wrk: LoadGenerator = {
  name: 'wrk',
  async run({ url, requests, connections, seconds, offset, folder }) {
    const { host } = new URL(url);
    const file = join(folder, 'requests');
    await writeFile(file, requests.map((request) => rawRequest(request, host)).join('\0'));
    const options = ['--threads', '1', '--connections', `${connections}`, '--duration', `${seconds}s`, '--timeout', '10s'];
    const { output, cpuMs } = await runProcess('wrk', [...options, '--script', SCRIPT, url, '--', file, `${offset}`]);
    return parseWrk(output, cpuMs);
  },
};

export function parseWrk(output: string, cpuMs: number): LoadResult {
  const line = /^RESULT (\{.*\})$/m.exec(output)?.[1];
  if (line === undefined) throw new Error(`wrk printed no result: ${output.trim()}`);
  const { requests, microseconds, p50, p99, badStatuses, socketErrors } = JSON.parse(line) as WrkResult;
  return {
    requests,
    seconds: microseconds / 1e6,
    p50Ms: p50 / 1000,
    p99Ms: p99 / 1000,
    errors: badStatuses + socketErrors,
    generatorCpu: cpuMs / (microseconds / 1000),
  };
}
