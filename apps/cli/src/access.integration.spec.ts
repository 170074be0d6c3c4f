import { query } from '@animal-store/local-postgres/testing';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { json, runAnimalStore, useAnimalStore } from './testing/run-animal-store.js';

const store = useAnimalStore();

beforeEach(() => query(store.url, 'TRUNCATE access.clients, access.api_keys, access.audit_events RESTART IDENTITY'));

describe('a new key that cannot be printed', () => {
  it.each([
    ['the reader has closed the pipe', { stdout: () => Promise.reject(new Error('EPIPE: no')) }, 'EPIPE: no'],
    ['the output is discarded', { isDiscarded: true }, 'standard output is closed or /dev/null'],
  ])('is named, so that it can be revoked, if %s', async (_, output, reason) => {
    for (const [index, args] of [
      ['keys', 'create', '--client', 'acme'],
      ['keys', 'rotate', '1', '--json'],
    ].entries()) {
      expect(await runAnimalStore({ DATABASE_URL: store.url }, args, output)).toEqual({
        exitCode: 1,
        stdout: '',
        stderr: `error: key ${String(index + 1)} was created and cannot be printed, so revoke it: ${reason}\n`,
      });
    }
  });
});

it('a result that cannot be written is an error', async () => {
  const stdout = () => Promise.reject(new Error('ENOSPC: no'));
  expect(await runAnimalStore({ DATABASE_URL: store.url }, ['keys', 'list'], { stdout })).toMatchObject({
    exitCode: 1,
    stderr: 'error: ENOSPC: no\n',
  });
});

describe('a database role without privileges', () => {
  const role = `nobody_${String(process.pid)}`;
  let url: string;

  beforeAll(async () => {
    await query(store.url, `CREATE ROLE ${role} LOGIN PASSWORD 'of-tests-only'`);
    url = Object.assign(new URL(store.url), { username: role, password: 'of-tests-only' }).href;
  });
  afterAll(() => query(store.url, `DROP ROLE ${role}`));

  it.each([
    ['keys create --client acme', 'DATABASE_URL to the URL of a role such as animal_store_keys'],
    ['events list', 'DATABASE_URL to the URL of a role such as animal_store_service'],
    ['seed --count 1', 'DATABASE_URL to the URL of a role such as animal_store_owner'],
    ['migrate up', 'MIGRATION_DATABASE_URL or DATABASE_URL to the URL of a role such as animal_store_owner'],
    [`grants keys ${role} --apply`, 'MIGRATION_DATABASE_URL or DATABASE_URL to the URL of a role such as animal_store_owner'],
  ])('is told which role "%s" needs', async (command, hint) => {
    const { exitCode, stdout, stderr } = await runAnimalStore({ DATABASE_URL: url }, command.split(' '));
    expect({ exitCode, stdout }).toEqual({ exitCode: 1, stdout: '' });
    expect(stderr).toMatch(/^error: permission denied for \w+ [\w.]+; set /);
    expect(stderr).toContain(`; set ${hint}\n`);
  });
});

it.each(['🦓'.repeat(100), `O'Hara "%s $1 \\; DROP TABLE`, '--', '__proto__'])(
  'a client with the name %s can be created, disabled and limited',
  async (name) => {
    expect(await store.run('keys', 'create', `--client=${name}`)).toMatchObject({ exitCode: 0, stderr: '' });
    expect((await store.run('clients', 'disable', '--', name)).stdout).toBe(`The client ${name} is disabled.\n`);
    await store.run('clients', 'set-rate-limit', '--', name, '7');
    expect(json(await store.run('clients', 'list', '--json'))).toMatchObject([{ name, rateLimit: 7, disabledAt: expect.any(String) }]);
    expect(json(await store.run('keys', 'list', '--json', `--client=${name}`))).toHaveLength(1);
  },
);

it('names that differ only in the form of Unicode are the same client', async () => {
  const [composed, decomposed] = ['Zo\u00eb', 'Zoe\u0308'];
  await store.run('keys', 'create', '--client', decomposed);
  expect((await store.run('keys', 'create', '--client', composed, '--if-none')).stdout).toContain('already has an active key');
  for (const name of [composed, decomposed]) {
    expect((await store.run('clients', 'disable', name)).stdout).toBe(`The client ${composed} is disabled.\n`);
    expect(json<unknown[]>(await store.run('keys', 'list', '--client', name, '--json'))).toHaveLength(1);
  }
});
