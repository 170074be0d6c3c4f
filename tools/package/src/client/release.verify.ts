import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { stripVTControlCharacters } from 'node:util';
import { beforeAll, expect, it } from '@jest/globals';

let output: string;

beforeAll(() => {
  // With plugins in the same process, Nx takes half the time.
  const env = { ...process.env, NX_DAEMON: 'false', NX_ISOLATE_PLUGINS: 'false' };
  const cwd = join(import.meta.dirname, '../../../..');
  const args = ['tools/package/dist/client/release.js', '--dry-run'];
  output = stripVTControlCharacters(execFileSync(process.execPath, args, { cwd, env, encoding: 'utf8', stdio: 'pipe' }));
});

it('npx nx prepare-release client releases the client and no other project', () => {
  expect(output.match(/Running release version for project: (.*)/g)).toEqual(['Running release version for project: client']);
});

it('its changelog lists only changes of the client', () => {
  const changes = output.match(/^\+ - .*$/gm) ?? [];
  expect(changes.filter((change) => !change.startsWith('+ - **client:** '))).toEqual([]);
});
