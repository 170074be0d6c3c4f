import { query } from '@animal-store/local-postgres/testing';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { json, runAnimalStore, useAnimalStore } from './testing/run-animal-store.js';

const store = useAnimalStore();

beforeEach(() => query(store.url, 'TRUNCATE access.clients, access.api_keys, access.audit_events RESTART IDENTITY'));

describe('a new key that cannot be printed', () => {
  it.each([
    ['the reader has closed the pipe', { write: () => raise(failure('EPIPE')) }, 'EPIPE: no'],
    ['the disk is full', { write: () => raise(failure('ENOSPC')) }, 'ENOSPC: no'],
    ['the output is discarded', { isDiscarded: true, write: () => undefined }, 'standard output is closed or /dev/null'],
  ])('is named, so that it can be revoked, if %s', async (_, output, reason) => {
    for (const [index, args] of [
      ['keys', 'create', '--client', 'acme'],
      ['keys', 'rotate', '1', '--json'],
    ].entries()) {
      expect(await runAnimalStore({ DATABASE_URL: store.url }, args, { output })).toMatchObject({
        exitCode: 1,
        stderr: `error: key ${String(index + 1)} was created and cannot be printed, so revoke it: ${reason}\n`,
      });
    }
  });
});

it.each(['keys list', 'keys audit --json', 'clients list', 'migrate up --json', 'events list', 'grants keys acme', 'doctor', '--help'])(
  'the command %s reports that its result cannot be written, unless the reader has closed the pipe',
  async (command) => {
    const runTo = (code: string) =>
      runAnimalStore({ DATABASE_URL: store.url }, command.split(' '), { output: { write: () => raise(failure(code)) } });
    const stderr = 'error: standard output cannot be written: ENOSPC: no\n';
    expect(await runTo('ENOSPC')).toMatchObject({ exitCode: 1, stderr });
    expect(await runTo('EPIPE')).toMatchObject({ exitCode: 0, stderr: '' });
  },
);

describe('a database role without privileges', () => {
  const role = `nobody_${String(process.pid)}`;
  let url: string;

  beforeAll(async () => {
    await query(store.url, `CREATE ROLE ${role} LOGIN PASSWORD 'of-tests-only'`);
    url = Object.assign(new URL(store.url), { username: role, password: 'of-tests-only' }).href;
  });
  afterAll(() => query(store.url, `DROP ROLE ${role}`));

  it.each([
    [
      'keys create --client acme',
      'DATABASE_URL to the URL of a role with the privileges of "animal-store grants keys", such as animal_store_keys',
    ],
    ['keys list', 'DATABASE_URL to the URL of a role with the privileges of "animal-store grants keys", such as animal_store_keys'],
    ['clients list', 'DATABASE_URL to the URL of a role with the privileges of "animal-store grants keys", such as animal_store_keys'],
    ['events list', 'DATABASE_URL to the URL of a role with the privileges of "animal-store grants service", such as animal_store_service'],
    ['seed --count 1', 'DATABASE_URL to the URL of the owner of the database, such as animal_store_owner'],
    ['migrate up', 'MIGRATION_DATABASE_URL or DATABASE_URL to the URL of the owner of the database, such as animal_store_owner'],
    [
      `grants keys ${role} --apply`,
      'MIGRATION_DATABASE_URL or DATABASE_URL to the URL of the owner of the database, such as animal_store_owner',
    ],
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
    expect(json(await store.run('clients', 'list', '--json'))).toMatchObject([{ name, rateLimit: 7, state: 'disabled' }]);
    expect(json(await store.run('keys', 'list', '--json', `--client=${name}`))).toHaveLength(1);
  },
);

function failure(code: string): Error {
  return Object.assign(new Error(`${code}: no`), { code });
}

function raise(error: Error): never {
  throw error;
}
