import { isInstalled } from '../run-process.js';
import { autocannon } from './autocannon.js';
import type { LoadGenerator } from './load-generator.js';
import { wrk } from './wrk.js';

/** wrk from Debian where it is installed: it takes a fraction of the CPU. */
export async function chooseLoadGenerator(): Promise<LoadGenerator> {
  return (await isInstalled('wrk')) ? wrk : autocannon;
}
