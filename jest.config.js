import preset from './jest.preset.js';

/** The specs of all projects. `nx test` runs those of one (`--roots`), `npm run verify -- <suite>` a suite by its path. */
export default { ...preset, roots: ['<rootDir>/apps', '<rootDir>/libs', '<rootDir>/examples', '<rootDir>/tools'] };
