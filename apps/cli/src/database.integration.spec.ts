import { access, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startLocalPostgres } from '@animal-store/local-postgres';
import { query, waitFor } from '@animal-store/local-postgres/testing';
import { afterAll, afterEach, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { json, type KeyJson, runAnimalStore } from './testing/run-animal-store.js';

describe('animal-store on a data folder', () => {
  let dataDir: string;
  const run = (...args: string[]) => runAnimalStore({ DATA_DIR: dataDir }, args);
  const isServerRunning = () =>
    access(join(dataDir, 'postgres', 'postmaster.pid')).then(
      () => true,
      () => false,
    );

  beforeAll(async () => {
    dataDir = join(await mkdtemp(join(tmpdir(), 'animal-store-cli-')), 'data');
  });
  afterEach(() => void jest.restoreAllMocks());
  afterAll(() => rm(join(dataDir, '..'), { recursive: true, force: true }));

  it('migrates the database automatically and works while the service runs', async () => {
    expect(await run('events', 'list')).toMatchObject({ exitCode: 1, stderr: 'error: the tables are missing: run "migrate up" first\n' });
    expect(await isServerRunning()).toBe(false);
    const created = await run('keys', 'create', '--client', 'acme', '--json');
    expect(json<KeyJson>(created).key).toMatch(/^ast_local_/);
    expect(await run('seed', '--count', '10')).toMatchObject({ exitCode: 0, stderr: '' });

    const service = await startLocalPostgres(dataDir);
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

  it('stops PostgreSQL on Ctrl-C or SIGTERM, and exits with code 130 or 143', async () => {
    const listeners = () => ['SIGINT', 'SIGTERM'].map((signal) => process.listenerCount(signal));
    const before = listeners();
    const exit = jest.spyOn(process, 'exit').mockReturnValue(undefined as never);
    // Bounded, so that a seed that the signal does not stop cannot fill the disk.
    const seeding = run('seed', '--count', '1000000');
    await waitFor(() => expect(listeners()).toEqual(before.map((count) => count + 1)));
    // The program ends by the first signal. Here, its exit is mocked, so both are handled.
    process.emit('SIGINT', 'SIGINT');
    process.emit('SIGTERM', 'SIGTERM');
    await waitFor(() => expect(exit.mock.calls.flat().sort()).toEqual([130, 143]));
    expect(await isServerRunning()).toBe(false);
    expect(await seeding).toMatchObject({ exitCode: 1, stdout: '' });
    expect(listeners()).toEqual(before);
  });
});
