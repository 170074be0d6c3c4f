import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type LoadGenerator, type LoadOptions, type LoadResult, runProcess } from './load-generator.js';

const PROGRAM = fileURLToPath(new URL('./autocannon-process.js', import.meta.url));

/** Input of the process: the options of a load. */
export type AutocannonInput = Omit<LoadOptions, 'folder'>;

/** Runs autocannon in a separate process, so that its CPU can be measured. */
export const autocannon: LoadGenerator = {
  name: 'autocannon',
  async run({ folder, ...input }) {
    const file = join(folder, 'requests.json');
    await writeFile(file, JSON.stringify(input satisfies AutocannonInput));
    const { output, cpuMs } = await runProcess(process.execPath, [PROGRAM, file]);
    const result = JSON.parse(output) as Omit<LoadResult, 'generatorCpu'>;
    return { ...result, generatorCpu: cpuMs / (result.seconds * 1000) };
  },
};
