import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createTestDatabase, query } from '@animal-store/local-postgres/testing';
import { describe, expect, it } from '@jest/globals';
import { json, runAnimalStore, useAnimalStore } from './testing/run-animal-store.js';

const store = useAnimalStore({ migrated: false });

describe('animal-store migrate', () => {
  it('migrates up and shows the status', async () => {
    const notMigrated = { exitCode: 1, stdout: '', stderr: 'error: the tables are missing: run "migrate up" first\n' };
    expect(await store.run('keys', 'list')).toEqual(notMigrated);
    expect(await store.run('seed', '--count', '1')).toEqual(notMigrated);

    const migrations = json<{ name: string; applied: boolean }[]>(await store.run('migrate', 'status', '--json'));
    const names = migrations.map(({ name }) => name);
    expect(names.map((name) => name.replace(/\d+$/, ''))).toEqual(expect.arrayContaining(['CreateClientsAndApiKeys', 'CreatePets']));
    expect(migrations).toEqual(names.map((name) => ({ name, applied: false })));

    expect(await store.run('migrate', 'up')).toEqual({
      exitCode: 0,
      stdout: names.map((name) => `applied ${name}\n`).join(''),
      stderr: '',
    });
    expect(await store.run('migrate', 'up')).toMatchObject({ exitCode: 0, stdout: 'The database is up to date.\n' });
    expect((await store.run('migrate', 'status')).stdout).toMatch(/^NAME +APPLIED\n(?:\w+ +true\n)+$/);
  });

  it('migrates an empty database once if several commands start concurrently', async () => {
    const empty = await createTestDatabase();
    const migrate = () => runAnimalStore({ DATABASE_URL: empty.url }, ['migrate', 'up']);
    const outcomes = await Promise.all([migrate(), migrate(), migrate()]);
    expect(outcomes.map(({ exitCode, stderr }) => ({ exitCode, stderr }))).toEqual(outcomes.map(() => ({ exitCode: 0, stderr: '' })));
    const status = await runAnimalStore({ DATABASE_URL: empty.url }, ['migrate', 'status', '--json']);
    const names = json<{ name: string }[]>(status).map(({ name }) => name);
    const applied = outcomes.flatMap(({ stdout }) => [...stdout.matchAll(/^applied (\w+)$/gm)].map(([, name]) => name));
    expect(applied).toEqual(names);
    await empty.drop();
  });

  it.each([
    ['on', true],
    ['off', false],
    ['', false],
  ])('with CITUS=%s, warns that the extension is missing: %s', async (CITUS, warns) => {
    await store.run('migrate', 'up');
    expect(await runAnimalStore({ DATABASE_URL: store.url, CITUS }, ['migrate', 'up'])).toEqual({
      exitCode: 0,
      stdout: 'The database is up to date.\n',
      stderr: warns ? 'CITUS is on, but the database lacks the extension citus: no table is distributed\n' : '',
    });
  });

  it('uses MIGRATION_DATABASE_URL, which may be in a file', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'animal-store-cli-'));
    const file = join(folder, 'url');
    await writeFile(file, `${store.url}\n`);
    const other = 'postgres://127.0.0.1:1/other';
    const status = (env: Record<string, string>) => runAnimalStore(env, ['migrate', 'status']);
    expect(await status({ MIGRATION_DATABASE_URL: store.url, DATABASE_URL: other })).toMatchObject({ exitCode: 0 });
    expect(await status({ MIGRATION_DATABASE_URL_FILE: file, DATABASE_URL: other })).toMatchObject({ exitCode: 0 });
    expect(await status({ MIGRATION_DATABASE_URL_FILE: file })).toMatchObject({ exitCode: 0 });
    for (const name of ['MIGRATION_DATABASE_URL', 'MIGRATION_DATABASE_URL_FILE'])
      expect(await status({ [name]: '', DATABASE_URL: store.url })).toMatchObject({
        exitCode: 2,
        stderr: `error: ${name} is empty: set or unset it\n`,
      });
    expect(await status({ MIGRATION_DATABASE_URL: 'mysql://x', DATABASE_URL: store.url })).toMatchObject({
      exitCode: 2,
      stderr: 'error: MIGRATION_DATABASE_URL must be a postgres:// URL\n',
    });
    const list = await runAnimalStore({ MIGRATION_DATABASE_URL: store.url, DATABASE_URL: other }, ['clients', 'list']);
    expect(list).toMatchObject({ exitCode: 1, stderr: expect.stringContaining('ECONNREFUSED') });
    await rm(folder, { recursive: true });
  });

  it('is followed by grants, which --apply runs as the owner', async () => {
    await store.run('migrate', 'up');
    const role = `service ${String(process.pid)}`;
    await query(store.url, `CREATE ROLE "${role}"`);
    const mayRead = async (table: string) =>
      (await query<{ may: boolean }>(store.url, `SELECT has_table_privilege('${role}', '${table}', 'SELECT') AS may`))[0]?.may;
    const env = { MIGRATION_DATABASE_URL: store.url, DATABASE_URL: 'postgres://127.0.0.1:1/other' };
    const grant = (...args: string[]) => runAnimalStore(env, ['grants', ...args]);
    expect(await grant('service', role)).toMatchObject({ exitCode: 0, stdout: expect.stringMatching(/^BEGIN;\n/) });
    expect(await mayRead('pets.pets')).toBe(false);
    const stdout = `The role ${role} has the privileges of the purpose service.\n`;
    expect(await grant('service', role, '--apply')).toEqual({ exitCode: 0, stdout, stderr: '' });
    expect(await mayRead('pets.pets')).toBe(true);
    await grant('keys', role, '--apply');
    expect(await Promise.all(['pets.pets', 'access.clients'].map(mayRead))).toEqual([false, true]);
    for (const name of ['nobody', 'public'])
      expect(await grant('keys', name, '--apply')).toEqual({ exitCode: 1, stdout: '', stderr: `error: role "${name}" does not exist\n` });
    await query(store.url, `DROP OWNED BY "${role}"; DROP ROLE "${role}"`);
  });
});
