import { describe, expect, it } from '@jest/globals';
import { checkPackages, type LockedPackages } from './third-party.js';

const PG = 'node_modules/pg';
const LOCKED: LockedPackages = {
  [PG]: { integrity: 'sha512-pg' },
  'node_modules/pg/node_modules/xtend': { integrity: 'sha512-xtend' },
  'node_modules/typescript': { integrity: 'sha512-typescript', dev: true },
  'node_modules/fsevents': { integrity: 'sha512-fsevents', optional: true },
  'node_modules/supports-color': { integrity: 'sha512-supports-color', devOptional: true },
  'libs/kernel': {},
};

describe('checkPackages', () => {
  it('accepts the locked packages of production', () => {
    expect(() => checkPackages(LOCKED, LOCKED, [PG, 'node_modules/pg/node_modules/xtend'])).not.toThrow();
  });

  it.each(['node_modules/typescript', 'node_modules/fsevents', 'node_modules/supports-color', 'libs/kernel', 'node_modules/unknown'])(
    'rejects %s, which is not locked for production',
    (path) => {
      expect(() => checkPackages(LOCKED, LOCKED, [PG, path])).toThrow(`not a production dependency in package-lock.json: ${path}`);
    },
  );

  it.each([
    ['another version of a locked package', { integrity: 'sha512-other' }],
    ['a missing locked package', undefined],
  ])('rejects node_modules with %s', (_what, installed) => {
    const inFolder = Object.fromEntries(Object.entries({ ...LOCKED, [PG]: installed }).filter(([, entry]) => entry)) as LockedPackages;
    expect(() => checkPackages(LOCKED, inFolder, [PG])).toThrow(`Run npm ci: ${PG}`);
  });
});
