import { expect, it } from '@jest/globals';
import { LocalPostgresError } from './local-postgres-error.js';
import { checkProgramFolder } from './programs.js';

it.each(['"', '$', '`', '\\', '\n'])('PostgreSQL cannot run in a folder with %j in its path', (character) => {
  expect(() => checkProgramFolder(`/my ${character} store`)).toThrow(LocalPostgresError);
  expect(() => checkProgramFolder(`/my ${character} store`)).toThrow(/^PostgreSQL cannot run in a folder with .* Move the workspace\.$/);
});

it('PostgreSQL can run in a folder with other special characters in its path', () => {
  const folder = "/a b #%41?'[ü](x){y},z&;w";
  expect(checkProgramFolder(folder)).toBe(folder);
});
