import { copyFile, mkdir, readdir } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { Bench } from './bench.js';
import { createCatalogue } from './compare.js';
import { ANIMAL_STORE, startService, TARGETS, UNBUNDLED_SERVICE } from './targets.js';
import { createRequests, type Workload } from './workloads.js';

const WARM_UP_SECONDS = 3;

export interface ProfileOptions {
  readonly workload: Workload;
  readonly seconds: number;
  readonly connections: number;
  readonly out: string;
}

/** Writes a profile of the service under one load, by `node --cpu-prof`. */
export async function profile(
  { workload, seconds, connections, out }: ProfileOptions,
  cleanUp: AsyncDisposableStack,
  report: (line: string) => void,
): Promise<void> {
  const bench = await Bench.start({ seed: 1, rounds: 1, seconds }, cleanUp, report);
  const catalogue = await createCatalogue(bench, 'profile');
  const requests = createRequests(workload, catalogue, bench.random);
  const folder = join(bench.server.folder, 'profile');
  const nodeArgs = ['--cpu-prof', `--cpu-prof-dir=${folder}`];
  const target = await bench.startTarget(TARGETS[ANIMAL_STORE], catalogue, () =>
    startService(catalogue, { program: UNBUNDLED_SERVICE, nodeArgs }),
  );
  const targets = new Map([[ANIMAL_STORE, { target, requests }]]);
  const { failures } = await bench.run({ workload, connections, targets, warmUpSeconds: WARM_UP_SECONDS });
  if (failures[ANIMAL_STORE] !== undefined) throw new Error(failures[ANIMAL_STORE]);
  // Node.js writes the profile on exit. SIGINT ends the drain period.
  await target.service.stop('SIGINT');
  const [file] = await readdir(folder);
  if (file === undefined) throw new Error('Node.js wrote no profile.');
  await mkdir(dirname(out), { recursive: true });
  await copyFile(join(folder, file), out);
}
