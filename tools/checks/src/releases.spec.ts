import { contexts } from '@animal-store/api/contexts';
import { describe, expect, it } from '@jest/globals';
import {
  hashOf,
  migrationFaults,
  migrationFiles,
  type MigrationHashes,
  MIGRATIONS_OF_RELEASE,
  RELEASES,
  releases,
  STATEMENTS_OF_RELEASE,
  timestampOf,
} from './releases.js';
import { readText, workspaceFiles } from './workspace.js';

const files = migrationFiles();
const today = Object.fromEntries(files.map((file) => [file, hashOf(file)]));

describe('migrations', () => {
  it.each(releases())('of release %s are unchanged, and newer ones come later', (version) => {
    const released = JSON.parse(readText(`${RELEASES}/${version}/${MIGRATIONS_OF_RELEASE}`)) as MigrationHashes;
    expect(Object.keys(released).length).toBeGreaterThan(0);
    expect(migrationFaults(released, today)).toEqual([]);
  });

  it.each(releases())('release %s has recorded SQL statements, for the tests of a rollback (ADR 49)', (version) => {
    expect(workspaceFiles()).toContain(`${RELEASES}/${version}/${STATEMENTS_OF_RELEASE}`);
  });

  it('are registered under the time of their file name, ordered by time', () => {
    for (const { persistence } of contexts) {
      const times = persistence.migrations.map(({ name }) => Number(/\d+$/.exec(name)?.[0]));
      const folder = `libs/${persistence.schema.replaceAll('_', '-')}/infrastructure/`;
      expect(times).toEqual(files.filter((file) => file.startsWith(folder)).map(timestampOf));
    }
  });
});

describe('migrationFaults reports a released migration that', () => {
  const first = 'libs/pets/infrastructure/src/migrations/1000-first.ts';
  const second = 'libs/pets/infrastructure/src/migrations/2000-second.ts';
  const released = { [first]: 'a', [second]: 'b' };

  it.each([
    ['is changed', { ...released, [first]: 'c' }, `${first} was released and is changed: write a new migration`],
    ['is gone', { [first]: 'a' }, `${second} was released and is gone`],
    [
      'gets one before it',
      { ...released, 'libs/pets/infrastructure/src/migrations/1500-between.ts': 'c' },
      'libs/pets/infrastructure/src/migrations/1500-between.ts comes before a released one: give it a later time',
    ],
  ])('%s', (_, now, fault) => {
    expect(migrationFaults(released, now)).toEqual([fault]);
  });

  it('or nothing if a new one follows, or a new context has its first one', () => {
    const added = {
      'libs/pets/infrastructure/src/migrations/3000-third.ts': 'c',
      'libs/orders/infrastructure/src/migrations/500-first.ts': 'd',
    };
    expect(migrationFaults(released, { ...released, ...added })).toEqual([]);
  });
});

it('the version of the API is the newest release or later', () => {
  const { version } = JSON.parse(readText('apps/api/package.json')) as { version: string };
  expect([...releases(), version].toSorted((one, other) => one.localeCompare(other, 'en', { numeric: true })).at(-1)).toBe(version);
});
