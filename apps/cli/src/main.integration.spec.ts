import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createTestDatabase } from '@animal-store/local-postgres/testing';
import { expect, it } from '@jest/globals';
import { json, type KeyJson, useAnimalStore } from './testing/run-animal-store.js';
import { runInShell, runProgram, runProgramIn, runProgramWithoutReader } from './testing/run-program.js';

const migrated = useAnimalStore();

it('ends without an error if the reader of its output closes the pipe', async () => {
  expect(await runProgramWithoutReader('--help')).toEqual({ exitCode: 0, stderr: '' });
});

it.each([
  ['at all', '1<"$MAIN"', 'EBADF: bad file descriptor, write'],
  ['completely', '>"$FILE"', 'EFBIG: file too large, write'],
])('reports that a result cannot be written %s', async (_, redirection, reason) => {
  const folder = await mkdtemp(join(tmpdir(), 'animal-store-cli-'));
  // At most one block.
  const script = `ulimit -f 1; animal_store --help ${redirection}`;
  expect(await runInShell({ FILE: join(folder, 'help') }, script)).toEqual({
    exitCode: 1,
    stdout: '',
    stderr: `error: standard output cannot be written: ${reason}\n`,
  });
  await rm(folder, { recursive: true });
});

it.each([
  ['1<"$MAIN"', 'EBADF: bad file descriptor, write'],
  ['>&-', 'standard output is closed or /dev/null'],
  ['| true', 'EPIPE: broken pipe, write'],
])('creates no key with %s', async (redirection, reason) => {
  const stderr = `error: the new key cannot be printed, so nothing was changed: ${reason}\n1\n`;
  const script = `{ animal_store keys create --client acme 2>&3; echo $? >&3; } 3>&2 ${redirection}`;
  expect(await runInShell({ DATABASE_URL: migrated.url }, script)).toEqual({ exitCode: 0, stdout: '', stderr });
  expect(await runProgram({ DATABASE_URL: migrated.url }, 'clients', 'list')).toMatchObject({ stdout: 'No clients.\n' });
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
  for (const environment of [{}, { DATA_DIR: '' }] as Record<string, string>[])
    expect(await runProgramIn(folder, environment, 'keys', 'list')).toEqual({ exitCode: 1, stdout: '', stderr });
  await writeFile(join(folder, '.env'), 'DATABASE_URL=mysql://elsewhere\n');
  expect(await runProgramIn(folder, {}, 'keys', 'list')).toEqual({
    exitCode: 2,
    stdout: '',
    stderr: 'error: DATABASE_URL must be a postgres:// URL\n',
  });
  await rm(folder, { recursive: true });
});

it('migrates an empty database once if several processes start concurrently, and then manages keys', async () => {
  const empty = await createTestDatabase();
  const run = (...args: string[]) => runProgram({ DATABASE_URL: empty.url }, ...args);
  const migrate = () => run('migrate', 'up', '--json');
  const outcomes = await Promise.all([migrate(), migrate(), migrate()]);
  expect(outcomes.map(({ exitCode, stderr }) => ({ exitCode, stderr }))).toEqual(outcomes.map(() => ({ exitCode: 0, stderr: '' })));
  const applied = outcomes.flatMap((outcome) => json<{ applied: string[] }>(outcome).applied);
  const status = json<{ migrations: { name: string }[] }>(await run('migrate', 'status', '--json'));
  expect(applied).toEqual(status.migrations.map(({ name }) => name));

  const created = await run('keys', 'create', '--client', 'acme', '--json');
  expect(created).toMatchObject({ exitCode: 0, stderr: '' });
  expect(json<KeyJson>(created)).toMatchObject({ id: 1, key: expect.stringMatching(/^ast_production_/) });
  await empty.drop();
});
