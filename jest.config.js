import preset from './jest.preset.js';

// Jest reads these options only here, not in the projects.
const { reporters, maxWorkers, testTimeout, workerIdleMemoryLimit } = preset;

/** For `npm run jest`, which runs specs of any project; `nx test` runs those of one. */
export default {
  projects: ['<rootDir>/{apps,libs,libs/*,tools}/*/jest.config.js'],
  reporters,
  maxWorkers,
  testTimeout,
  workerIdleMemoryLimit,
};
