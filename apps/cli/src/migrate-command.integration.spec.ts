import { createTestDatabase } from '@animal-store/local-postgres/testing';
import { describe, expect, it } from '@jest/globals';
import { Client } from 'pg';
import { run as runProgram } from './program.js';
import { runAnimalStore, json, useAnimalStore } from './testing/run-animal-store.js';

const store = useAnimalStore();

describe('animal-store migrate', () => {
  it('migrates up and down and shows the status', async () => {
    const notMigrated = { exitCode: 1, stdout: '', stderr: 'error: the tables are missing: run "migrate up" first\n' };
    expect(await store.run('keys', 'list')).toEqual(notMigrated);
    expect(await store.run('seed', '--count', '1')).toEqual(notMigrated);
    expect(await store.run('migrate', 'down')).toEqual({ exitCode: 0, stdout: 'No migration is applied.\n', stderr: '' });

    const { migrations } = json<{ migrations: { name: string; applied: boolean }[] }>(await store.run('migrate', 'status', '--json'));
    const names = migrations.map(({ name }) => name);
    expect(names.map((name) => name.replace(/\d+$/, ''))).toEqual(expect.arrayContaining(['CreateClientsAndApiKeys', 'CreatePets']));
    expect(migrations).toEqual(names.map((name) => ({ name, applied: false })));

    expect(await store.run('migrate', 'up')).toEqual({
      exitCode: 0,
      stdout: names.map((name) => `applied ${name}\n`).join(''),
      stderr: '',
    });
    expect(await store.run('migrate', 'up')).toMatchObject({ exitCode: 0, stdout: 'The database is up to date.\n' });
    const newest = names.at(-1) ?? '';
    const refused = await store.run('migrate', 'down');
    expect(refused).toMatchObject({ exitCode: 2, stdout: '' });
    expect(refused.stderr).toMatch(
      new RegExp(`^Reverting ${newest} loses its data. It runs these statements:\n(?:  .+\n)*error: use --yes .+\n$`),
    );
    expect(await store.run('migrate', 'down', '--yes')).toEqual({ exitCode: 0, stdout: `reverted ${newest}\n`, stderr: '' });
    expect((await store.run('migrate', 'status')).stdout).toMatch(
      new RegExp(`^MIGRATION +STATE\\n(?:\\w+ +applied\\n)+${newest} +pending\\n$`),
    );
    expect(json(await store.run('migrate', 'up', '--json'))).toEqual({ applied: [newest] });
    expect(json(await store.run('migrate', 'down', '--yes', '--json'))).toEqual({ undone: newest });
  });

  it('warns if CITUS is on without the extension, and rejects an invalid CITUS', async () => {
    await store.run('migrate', 'up');
    const stderr = 'CITUS is on, but the database lacks the extension citus: no table is distributed\n';
    expect(await runAnimalStore({ DATABASE_URL: store.url, CITUS: 'on' }, 'migrate', 'up')).toEqual({
      exitCode: 0,
      stdout: 'The database is up to date.\n',
      stderr,
    });
    const refused = await runAnimalStore({ DATABASE_URL: store.url, CITUS: 'maybe' }, 'migrate', 'up');
    expect(refused).toMatchObject({ exitCode: 2, stderr: 'error: CITUS must be true or false\n' });
  });

  it('migrates an empty database once if several processes start concurrently', async () => {
    const empty = await createTestDatabase();
    const migrate = () => runAnimalStore({ DATABASE_URL: empty.url }, 'migrate', 'up', '--json');
    const outcomes = await Promise.all([migrate(), migrate(), migrate(), migrate()]);
    expect(outcomes.map(({ exitCode, stderr }) => ({ exitCode, stderr }))).toEqual(outcomes.map(() => ({ exitCode: 0, stderr: '' })));
    const applied = outcomes.flatMap((outcome) => json<{ applied: string[] }>(outcome).applied);
    const status = json<{ migrations: { name: string }[] }>(
      await runAnimalStore({ DATABASE_URL: empty.url }, 'migrate', 'status', '--json'),
    );
    expect(applied).toEqual(status.migrations.map(({ name }) => name));
    await empty.drop();
  });

  it('waits up to --wait for another process that is migrating, and reports it', async () => {
    const empty = await createTestDatabase();
    const holder = new Client({ connectionString: empty.url });
    await holder.connect();
    await holder.query('SELECT pg_advisory_lock(7302947561038214)');
    expect(await runAnimalStore({ DATABASE_URL: empty.url }, 'migrate', 'up', '--wait', '6s')).toEqual({
      exitCode: 1,
      stdout: '',
      stderr:
        'waiting for another process that is migrating the database\nerror: another process has been migrating the database for 6 s\n',
    });
    await holder.end();
    await empty.drop();
  });

  it('asks before it reverts a migration and shows what is dropped', async () => {
    await store.run('migrate', 'up');
    while (json<{ undone: string }>(await store.run('migrate', 'down', '--yes', '--json')).undone !== 'CreateIdempotencyKeys1763683320000');
    const asked: string[] = [];
    const down = async (answer: boolean) => {
      let output = '';
      const write = (text: string) => (output += text);
      const confirm = (question: string) => Promise.resolve(asked.push(question) > 0 && answer);
      const exitCode = await runProgram(['migrate', 'down'], {
        env: { DATABASE_URL: store.url },
        stdout: { write },
        stderr: { write },
        confirm,
      });
      return { exitCode, output };
    };
    expect(await down(false)).toEqual({ exitCode: 1, output: expect.stringMatching(/DROP INDEX .*\nerror: nothing was reverted\n$/s) });
    expect(await down(true)).toEqual({ exitCode: 0, output: expect.stringMatching(/reverted IndexPetsByStatus1763683260000\n$/) });
    expect(await down(true)).toEqual({ exitCode: 0, output: expect.stringContaining('DROP TABLE pets.pets') });
    expect(asked).toEqual(['Revert it?', 'Revert it?', 'Revert it?']);
  });
});
