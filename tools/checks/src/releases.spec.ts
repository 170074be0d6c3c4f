import { contexts } from '@animal-store/api/contexts';
import { describe, expect, it } from '@jest/globals';
import {
  COMMIT_OF_RELEASE,
  hashOf,
  migrationProblems,
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
    expect(migrationProblems(released, today)).toEqual([]);
  });

  it.each(releases())('release %s has recorded SQL statements, for the tests of a rollback (ADR 13)', (version) => {
    expect(workspaceFiles()).toContain(`${RELEASES}/${version}/${STATEMENTS_OF_RELEASE}`);
  });

  it.each(releases())('release %s has recorded its commit, for the suite rolling-upgrade', (version) => {
    expect(readText(`${RELEASES}/${version}/${COMMIT_OF_RELEASE}`)).toMatch(/^[0-9a-f]{40}\n$/);
  });

  it('are registered under the time of their file name, ordered by time', () => {
    const times = contexts.map(({ persistence }) => persistence.migrations.map(({ name }) => Number(/\d+$/.exec(name)?.[0])));
    for (const ofContext of times) expect(ofContext).toEqual(ofContext.toSorted());
    expect(times.flat().sort()).toEqual(files.map(timestampOf));
  });
});

describe('migrationProblems', () => {
  const first = 'libs/pets/infrastructure/src/migrations/1000-first.ts';
  const second = 'libs/pets/infrastructure/src/migrations/2000-second.ts';
  const released = { [first]: 'a', [second]: 'b' };

  it.each([
    ['has changed', { ...released, [first]: 'c' }, `${first} was released and has changed: restore it and write a new migration`],
    ['is missing', { [first]: 'a' }, `${second} was released and is missing: restore it`],
    [
      'is newer than an unreleased one',
      { ...released, 'libs/pets/infrastructure/src/migrations/1500-between.ts': 'c' },
      'libs/pets/infrastructure/src/migrations/1500-between.ts is older than a released migration: give it a later timestamp',
    ],
  ])('reports a released migration that %s', (_, now, problem) => {
    expect(migrationProblems(released, now)).toEqual([problem]);
  });

  it('reports nothing if a new migration follows, or a new context has its first one', () => {
    const added = {
      'libs/pets/infrastructure/src/migrations/3000-third.ts': 'c',
      'libs/orders/infrastructure/src/migrations/500-first.ts': 'd',
    };
    expect(migrationProblems(released, { ...released, ...added })).toEqual([]);
  });
});

it('the version of the API is the newest release or later', () => {
  const { version } = JSON.parse(readText('apps/api/package.json')) as { version: string };
  expect([...releases(), version].toSorted((one, other) => one.localeCompare(other, 'en', { numeric: true })).at(-1)).toBe(version);
});
