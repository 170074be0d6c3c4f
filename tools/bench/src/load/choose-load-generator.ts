import { isInstalled } from '../run-process.js';
import { autocannon } from './autocannon.js';
import type { LoadGenerator } from './load-generator.js';
import { wrk } from './wrk.js';

/** Returns wrk if it is installed, because it uses a fraction of the CPU, otherwise autocannon. */
export async function chooseLoadGenerator(): Promise<LoadGenerator> {
  return (await isInstalled('wrk')) ? wrk : autocannon;
}
