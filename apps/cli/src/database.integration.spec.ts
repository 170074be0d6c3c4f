import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startLocalPostgres } from '@animal-store/local-postgres';
import { query } from '@animal-store/local-postgres/testing';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { runAnimalStore, runAnimalStoreIn, runAnimalStoreWithoutReader, json, type KeyJson } from './testing/run-animal-store.js';

describe('animal-store without a database', () => {
  it('rejects wrong usage with exit code 2 and one line', async () => {
    const { exitCode, stdout, stderr } = await runAnimalStore({}, 'keys', 'craete');
    expect({ exitCode, stdout }).toEqual({ exitCode: 2, stdout: '' });
    expect(stderr).toMatch(/^error: .+\n$/);
  });

  it('ends without an error if the reader of its output closes the pipe', async () => {
    expect(await runAnimalStoreWithoutReader('--help')).toEqual({ exitCode: 0, stderr: '' });
  });

  it('requires DATABASE_URL if PostgreSQL is not part of the installation', async () => {
    const hide = `import { registerHooks } from 'node:module';
      registerHooks({ resolve: (name, context, next) => next(name === '@animal-store/local-postgres' ? '@animal-store/absent' : name, context) });`;
    const NODE_OPTIONS = `--import=data:text/javascript,${encodeURIComponent(hide)}`;
    expect(await runAnimalStore({ NODE_OPTIONS }, 'keys', 'list')).toEqual({
      exitCode: 1,
      stdout: '',
      stderr: 'error: DATABASE_URL must be set: this installation does not include PostgreSQL\n',
    });
  });
});

describe('animal-store on a data folder', () => {
  let folder: string;
  const run = (...args: string[]) => runAnimalStore({ DATA_DIR: join(folder, 'data') }, ...args);

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'animal-store-cli-'));
  });

  afterAll(() => rm(folder, { recursive: true, force: true }));

  it('reads .env in the working directory', async () => {
    await writeFile(join(folder, '.env'), 'DATABASE_URL=mysql://elsewhere\n');
    const stderr = 'error: DATABASE_URL must be a postgres:// URL\n';
    expect(await runAnimalStoreIn(folder, {}, 'keys', 'list')).toEqual({ exitCode: 2, stdout: '', stderr });
  });

  it('migrates the database automatically and works while the service runs', async () => {
    expect(await run('keys', 'list')).toMatchObject({ exitCode: 1, stderr: 'error: the tables are missing: run "migrate up" first\n' });
    const created = await run('keys', 'create', '--client', 'acme', '--json');
    expect(json<KeyJson>(created).key).toMatch(/^ast_local_/);
    expect(await run('seed', '--count', '10')).toMatchObject({ exitCode: 0, stderr: '' });

    const service = await startLocalPostgres({ dataDir: join(folder, 'data') });
    try {
      expect(await query(service.url, 'SELECT count(*)::int AS n FROM pets.pets')).toEqual([{ n: 10 }]);
      const { id } = json<KeyJson>(await run('keys', 'rotate', '1', '--json'));
      expect(await run('keys', 'revoke', String(id))).toMatchObject({ exitCode: 0 });
      expect(await query(service.url, 'SELECT revoked_at IS NOT NULL AS revoked FROM access.api_keys ORDER BY id')).toEqual([
        { revoked: false },
        { revoked: true },
      ]);
    } finally {
      await service.stop();
    }
  });
});
