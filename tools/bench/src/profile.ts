import { copyFile, mkdir, readdir, readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { Random } from '@animal-store/faults/random';
import type { CleanUp } from './clean-up.js';
import { type CpuProfile, type SelfTime, selfTimes } from './cpu-profile.js';
import { chooseLoadGenerator } from './load/choose-load-generator.js';
import { RunningHttpTarget } from './running-target.js';
import { DatabaseServer } from './database-server.js';
import { ANIMAL_STORE, HTTP_TARGETS, startService, UNBUNDLED_SERVICE } from './targets.js';
import { KEYS, readWorkloadData, ROWS } from './workload-data.js';
import { createRequests, type Workload } from './workloads.js';

const WARM_UP_SECONDS = 3;

export interface ProfileOptions {
  readonly workload: Workload;
  readonly seconds: number;
  readonly connections: number;
  /** Path of the profile, which browser developer tools can open. */
  readonly out: string;
}

/** Profiles the service under one load with the profiler of Node.js. */
export async function profile({ workload, seconds, connections, out }: ProfileOptions, cleanUp: CleanUp): Promise<SelfTime[]> {
  const generator = await chooseLoadGenerator();
  const server = await DatabaseServer.start(cleanUp);
  const catalogue = await server.createCatalogue('profile', { rows: ROWS, keys: KEYS });
  const requests = createRequests(workload, await readWorkloadData(catalogue), new Random(1));
  const folder = join(server.folder, 'profile');
  const service = await startService(catalogue, {
    program: UNBUNDLED_SERVICE,
    nodeArgs: ['--cpu-prof', `--cpu-prof-dir=${folder}`],
  });
  cleanUp.add(() => service.stop());
  const target = new RunningHttpTarget(HTTP_TARGETS[ANIMAL_STORE], service, catalogue, generator);
  const load = { workload, requests, connections };
  await target.check({ ...load, seconds: 0, round: 0 });
  await target.measure({ ...load, seconds: WARM_UP_SECONDS, round: 0 });
  await target.measure({ ...load, seconds, round: 1 });
  // Node.js writes the profile on exit.
  await service.stop();
  const [file] = await readdir(folder);
  if (file === undefined) throw new Error('Node.js wrote no profile.');
  await mkdir(dirname(out), { recursive: true });
  await copyFile(join(folder, file), out);
  return selfTimes(JSON.parse(await readFile(out, 'utf8')) as CpuProfile, seconds * 1000);
}
