import { globSync } from 'node:fs';
import { join } from 'node:path';
import preset from './jest.preset.js';

// Jest reads these options only here, not in the projects.
const { reporters, maxWorkers, testTimeout, workerIdleMemoryLimit } = preset;

/** For `npm run jest`, which runs specs of any project; `nx test` runs those of one. */
export default {
  // Jest itself finds nothing below a folder whose name looks like a pattern.
  projects: globSync('{apps,libs,libs/*,tools}/*/jest.config.js', { cwd: import.meta.dirname }).map((file) =>
    join(import.meta.dirname, file),
  ),
  reporters,
  maxWorkers,
  testTimeout,
  workerIdleMemoryLimit,
};
