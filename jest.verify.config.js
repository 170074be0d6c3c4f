import preset from './jest.preset.js';

/** `npm run verify -- <suite>`: suites that need Debian packages or more time than `npm test` has. */
export default {
  ...preset,
  roots: ['<rootDir>/apps', '<rootDir>/libs', '<rootDir>/tools'],
  testMatch: ['**/src/**/*.verify.ts'],
  testTimeout: 120_000,
};
