import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from '@jest/globals';
import { useAnimalStore } from './testing/run-animal-store.js';
import { runInShell, runProgram, runProgramIn } from './testing/run-program.js';

const migrated = useAnimalStore();

it.each([
  ['>/dev/full', 'ENOSPC: no space left on device, write'],
  ['>&-', 'standard output is closed or /dev/null'],
  ['| true', 'write EPIPE'],
])('names a new key that cannot be printed with %s', async (redirection, reason) => {
  const stderr = expect.stringMatching(`^error: key \\d+ was created and cannot be printed, so revoke it: ${reason}\n1\n$`);
  const script = `{ animal_store keys create --client acme 2>&3; echo $? >&3; } 3>&2 ${redirection}`;
  expect(await runInShell({ DATABASE_URL: migrated.url }, script)).toEqual({ exitCode: 0, stdout: '', stderr });
});

it('requires DATABASE_URL if PostgreSQL is not part of the installation', async () => {
  const hide = `import { registerHooks } from 'node:module';
    registerHooks({ resolve: (name, context, next) => next(name === '@animal-store/local-postgres' ? '@animal-store/absent' : name, context) });`;
  const NODE_OPTIONS = `--import=data:text/javascript,${encodeURIComponent(hide)}`;
  expect(await runProgram({ NODE_OPTIONS }, 'keys', 'list')).toEqual({
    exitCode: 1,
    stdout: '',
    stderr: 'error: DATABASE_URL must be set: this installation does not include PostgreSQL\n',
  });
});

it('reads .env in the working directory, and uses the data folder .data in it by default', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'animal-store-cli-'));
  await writeFile(join(folder, '.data'), 'a file cannot be a data folder');
  const stderr = expect.stringMatching(/^error: The data folder \.data cannot be used: EEXIST/);
  expect(await runProgramIn(folder, {}, 'keys', 'list')).toEqual({ exitCode: 1, stdout: '', stderr });
  await writeFile(join(folder, '.env'), 'DATABASE_URL=mysql://elsewhere\n');
  expect(await runProgramIn(folder, {}, 'keys', 'list')).toEqual({
    exitCode: 2,
    stdout: '',
    stderr: 'error: DATABASE_URL must be a postgres:// URL\n',
  });
  await rm(folder, { recursive: true });
});
