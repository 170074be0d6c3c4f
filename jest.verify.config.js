import config from './jest.config.js';

/** The suites: they need more time or packages of Debian. They measure, inject load, and share ports, so they run one after the other. */
export default { ...config, testMatch: ['**/src/**/*.verify.ts'], maxWorkers: 1 };
