import { userInfo } from 'node:os';
import { query } from '@animal-store/local-postgres/testing';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { loadScopes } from './database.js';
import { formatTime } from './output.js';
import { json, KEY, type KeyJson, runAnimalStore, useAnimalStore } from './testing/run-animal-store.js';

const store = useAnimalStore();
/** The scopes of all contexts: those of a key that is created without `--scope`. */
const SCOPES = await loadScopes();
const ALL = SCOPES.join(' ');

beforeEach(() => query(store.url, 'TRUNCATE access.clients, access.api_keys, access.audit_events RESTART IDENTITY'));

describe('animal-store keys', () => {
  const ISO_TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;
  const view = (id: number, client: string) => ({
    id,
    prefix: expect.stringMatching(/^ast_production_\w{6}$/),
    client,
    scopes: SCOPES,
    createdAt: expect.stringMatching(ISO_TIME),
  });

  it('create prints a key, once', async () => {
    const { exitCode, stdout, stderr } = await store.run('keys', 'create', '--client', 'Acme Pets');
    expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: '' });
    expect(SCOPES).toEqual(expect.arrayContaining(['pets:read', 'pets:write']));
    expect(stdout).toMatch(new RegExp(`^Key 1 of the client Acme Pets, scopes ${ALL}, expires never:$`, 'm'));
    const key = KEY.exec(stdout)?.[0] ?? '';
    expect(key).toMatch(/^ast_production_/);

    for (const listed of [await store.run('keys', 'list'), await store.run('keys', 'list', '--json')]) {
      expect(listed.stdout).toContain(key.slice(0, 'ast_production_'.length + 6));
      expect(listed.stdout).not.toContain(key.slice(0, 'ast_production_'.length + 7));
    }
    const stored = await contentOfDatabase();
    expect(stored).toContain(key.slice(0, 'ast_production_'.length + 6));
    expect(stored).not.toContain(key.slice('ast_production_'.length + 6));
  });

  /** Returns the rows of all tables as text. */
  async function contentOfDatabase(): Promise<string> {
    const tables = await query<{ name: string }>(
      store.url,
      `SELECT format('%I.%I', schemaname, tablename) AS name FROM pg_tables WHERE schemaname NOT IN ('pg_catalog', 'information_schema')`,
    );
    const rows = tables.map(({ name }) => query(store.url, `SELECT row.*::text AS text FROM ${name} AS row`));
    return JSON.stringify(await Promise.all(rows));
  }

  it('create prints the expiry, and a note if the client is disabled', async () => {
    const create = () => store.run('keys', 'create', '--client', 'acme', '--scope', 'pets:read', '--expires-in', '90d');
    const note = 'The client is disabled: the key is rejected until the client is enabled.';
    const enabled = await create();
    const [{ expiresAt }] = json<[KeyJson]>(await store.run('keys', 'list', '--json'));
    expect(enabled.stdout).toMatch(
      new RegExp(
        `^Key 1 of the client acme, scopes pets:read, expires ${toSeconds(expiresAt)}:\\n\\n${KEY.source}\\n\\nStore it now: .* is stored\\.\\n$`,
      ),
    );
    await store.run('clients', 'disable', 'acme');
    expect((await create()).stdout).toMatch(new RegExp(`is stored\\.\\n\\n${note}\\n$`));
  });

  it('create accepts scopes, expiry and environment', async () => {
    const args = ['keys', 'create', '--client', 'acme', '--scope', 'pets:read', '--expires-in', '90d', '--json'];
    const env = { DATABASE_URL: store.url, ENVIRONMENT: 'staging' };
    const { key, ...rest } = json<KeyJson & { createdAt: string }>(await runAnimalStore(env, args));
    expect(key).toMatch(/^ast_staging_/);
    expect(rest).toMatchObject({ created: true, id: 1, client: 'acme', scopes: ['pets:read'], prefix: key.slice(0, 18) });
    expect(Date.parse(rest.expiresAt ?? '') - Date.parse(rest.createdAt)).toBe(90 * 86_400_000);
  });

  it('create rejects a scope that no operation requires', async () => {
    expect(await store.run('keys', 'create', '--client', 'acme', '--scope', 'pets:read,pets:reed')).toEqual({
      exitCode: 2,
      stdout: '',
      stderr: `error: unknown scope pets:reed; the known scopes are ${SCOPES.join(', ')}\n`,
    });
    expect(json(await store.run('keys', 'list', '--json'))).toEqual([]);
  });

  it.each([
    [['--client', 'acme', '--expires-in', '0d'], /^error: expiry must be a valid date after the creation date\n$/],
    [['--client', ' '], /^error: client name must be 1 to 100 printable characters/],
  ])('create rejects %j', async (options, stderr) => {
    expect(await store.run('keys', 'create', ...options)).toEqual({ exitCode: 2, stdout: '', stderr: expect.stringMatching(stderr) });
  });

  it('create --if-none creates no key for a client with an active key', async () => {
    const create = (...more: string[]) => store.run('keys', 'create', '--client', 'acme', '--if-none', ...more);
    expect((await create()).stdout).toMatch(KEY);
    expect(await create()).toEqual({ exitCode: 0, stdout: 'The client acme already has an active key; no key was created.\n', stderr: '' });
    expect(json(await create('--json'))).toEqual({ created: false, client: 'acme' });
    expect(json<unknown[]>(await store.run('keys', 'list', '--json'))).toHaveLength(1);
  });

  it('list shows keys without their secrets and filters by client', async () => {
    for (const client of ['acme', 'b']) await store.run('keys', 'create', '--client', client, '--expires-in', '1d');
    await store.run('keys', 'revoke', '2');
    await query(store.url, "UPDATE access.api_keys SET last_used_at = '2026-11-21T12:00:00.5Z' WHERE id = 2");
    const time = String.raw`\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ`;
    const [header, first, second, end] = (await store.run('keys', 'list')).stdout.split('\n');
    expect(header).toMatch(/^ID +PREFIX +CLIENT +SCOPES +CREATED AT +EXPIRES AT +REVOKED AT +LAST USED AT +STATE$/);
    expect(first).toMatch(new RegExp(`^1 +ast_production_\\w{6} +acme +${ALL} +${time} +${time} +- +- +active$`));
    expect(second).toMatch(new RegExp(`^2 +ast_production_\\w{6} +b +${ALL} +${time} +${time} +${time} +2026-11-21T12:00:00Z +revoked$`));
    expect(end).toBe('');
    const listed = json<Record<string, string>[]>(await store.run('keys', 'list', '--json'));
    expect(listed).toEqual([
      { ...view(1, 'acme'), state: 'active', expiresAt: expect.stringMatching(ISO_TIME), revokedAt: null, lastUsedAt: null },
      {
        ...view(2, 'b'),
        state: 'revoked',
        expiresAt: expect.stringMatching(ISO_TIME),
        revokedAt: expect.stringMatching(ISO_TIME),
        lastUsedAt: '2026-11-21T12:00:00.500Z',
      },
    ]);
    expect(json(await store.run('keys', 'list', '--client', 'b', '--json'))).toEqual(listed.slice(1));
    expect(await store.run('keys', 'list', '--client', 'nobody')).toEqual({ exitCode: 0, stdout: 'No keys.\n', stderr: '' });
  });

  it('rotate creates a key and keeps the old one valid for the overlap', async () => {
    const old = json<KeyJson>(await store.run('keys', 'create', '--client', 'acme', '--scope', 'pets:read', '--json'));
    const rotated = json<KeyJson & { createdAt: string; retired: KeyJson }>(await store.run('keys', 'rotate', String(old.id), '--json'));
    expect(rotated).toMatchObject({ client: 'acme', scopes: ['pets:read'], expiresAt: null, retired: { id: old.id } });
    expect(Date.parse(rotated.retired.expiresAt ?? '') - Date.parse(rotated.createdAt)).toBe(86_400_000);

    const { stdout } = await store.run('keys', 'rotate', String(rotated.id), '--overlap', '0s');
    const { expiresAt } = json<KeyJson[]>(await store.run('keys', 'list', '--json')).find(({ id }) => id === rotated.id) ?? {};
    expect(stdout).toMatch(/^Key 3 of the client acme, scopes pets:read, expires never:$/m);
    expect(stdout).toContain(`\nKey 2 (${rotated.prefix}) expires ${toSeconds(expiresAt)}.\n`);
    expect(await store.run('keys', 'rotate', String(rotated.id))).toEqual({
      exitCode: 1,
      stdout: '',
      stderr: 'error: The API key is expired.\n',
    });
  });

  it('revoke may be repeated', async () => {
    const { id, prefix } = json<KeyJson>(await store.run('keys', 'create', '--client', 'acme', '--json'));
    const revoke = async () => (await store.run('keys', 'revoke', String(id))).stdout;
    for (const stdout of [await revoke(), await revoke()])
      expect(stdout).toBe(`Key ${String(id)} (${prefix}) of the client acme is revoked.\n`);
    expect(await store.run('keys', 'revoke', '77')).toEqual({ exitCode: 1, stdout: '', stderr: 'error: No API key has the id 77.\n' });
  });
});

describe('animal-store clients', () => {
  it('are listed, disabled, enabled and rate limited, and keys audit shows who did it', async () => {
    const runAs = (operator: string, ...args: string[]) => runAnimalStore({ DATABASE_URL: store.url, OPERATOR: operator }, args);
    expect(await store.run('clients', 'list')).toEqual({ exitCode: 0, stdout: 'No clients.\n', stderr: '' });
    expect(await store.run('keys', 'audit')).toEqual({ exitCode: 0, stdout: 'No changes.\n', stderr: '' });
    const { id, key, prefix } = json<KeyJson>(await runAs('carol', 'keys', 'create', '--client', 'acme', '--json'));
    await runAs('carol', 'clients', 'set-rate-limit', 'acme', '50');
    expect((await runAs('dave', 'clients', 'disable', 'acme')).stdout).toBe('The client acme is disabled.\n');
    expect((await store.run('clients', 'list')).stdout).toMatch(/^1 +acme +50 +\S+Z$/m);
    expect((await store.run('keys', 'list')).stdout).toMatch(/^1 .* disabled$/m);
    expect((await store.run('keys', 'create', '--client', 'acme', '--if-none')).stdout).toContain('no key was created');
    expect((await runAs('dave', 'clients', 'enable', 'acme')).stdout).toBe('The client acme is enabled.\n');
    await query(store.url, "CREATE FUNCTION access.keep() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN OLD; END'");
    await query(store.url, 'CREATE TRIGGER keep BEFORE UPDATE ON access.clients FOR EACH ROW EXECUTE FUNCTION access.keep()');
    expect((await store.run('clients', 'disable', 'acme')).stdout).toBe('The client acme is enabled.\n');
    await query(store.url, 'DROP FUNCTION access.keep CASCADE');
    for (const [limit, rateLimit] of [
      ['0', 0],
      ['default', null],
    ] as const) {
      expect((await store.run('clients', 'set-rate-limit', 'acme', limit)).stdout).toBe(`The client acme has the rate limit ${limit}.\n`);
      expect(json(await store.run('clients', 'list', '--json'))).toEqual([{ id: 1, name: 'acme', rateLimit, disabledAt: null }]);
    }
    await runAs('carol', 'keys', 'rotate', String(id));
    await runAs('carol', 'keys', 'revoke', String(id));
    expect(await store.run('clients', 'disable', 'nobody')).toEqual({
      exitCode: 1,
      stdout: '',
      stderr: 'error: No client has the name nobody.\n',
    });

    const audit = await store.run('keys', 'audit', '--json');
    const events = json<Record<string, unknown>[]>(audit);
    const user = userInfo().username;
    expect(events.map(({ operator, action, keyId }) => [operator, action, keyId])).toEqual([
      ['carol', 'revoke', id],
      ['carol', 'rotate', id],
      [user, 'set-rate-limit', null],
      [user, 'set-rate-limit', null],
      ['dave', 'enable', null],
      ['dave', 'disable', null],
      ['carol', 'set-rate-limit', null],
      ['carol', 'create', id],
    ]);
    const [{ role }] = (await query<{ role: string }>(store.url, 'SELECT current_user AS role')) as [{ role: string }];
    expect(new Set(events.map(({ databaseRole }) => databaseRole))).toEqual(new Set([role]));
    expect(audit.stdout).toContain(prefix);
    expect(audit.stdout).not.toContain(key.slice(prefix.length));

    const page = await store.run('keys', 'audit', '--limit', '2');
    const [header, eighth, seventh, end] = page.stdout.split('\n');
    expect(header).toMatch(/^ID +OCCURRED AT +OPERATOR +DATABASE ROLE +ACTION +CLIENT ID +CLIENT +KEY ID +KEY PREFIX +DETAILS$/);
    expect(eighth).toMatch(new RegExp(`^8 +\\S+Z +carol +${role} +revoke +1 +acme +1 +${prefix} +-$`));
    expect(seventh).toMatch(new RegExp(`^7 .* rotate +1 +acme +1 +${prefix} +expiresAt=\\S+Z successorId=2 successorPrefix=\\w+$`));
    expect(end).toBe('');
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

it.each([`O'Hara "%s $1 \\; DROP TABLE`, '--'])('a client with the name %s can be created, disabled and limited', async (name) => {
  expect(await store.run('keys', 'create', `--client=${name}`)).toMatchObject({ exitCode: 0, stderr: '' });
  expect((await store.run('clients', 'disable', '--', name)).stdout).toBe(`The client ${name} is disabled.\n`);
  await store.run('clients', 'set-rate-limit', '--', name, '7');
  expect(json(await store.run('clients', 'list', '--json'))).toMatchObject([{ name, rateLimit: 7, disabledAt: expect.any(String) }]);
  expect(json(await store.run('keys', 'list', '--json', `--client=${name}`))).toHaveLength(1);
});

/** The time as a command shows it. */
function toSeconds(time: string | null | undefined): string {
  return formatTime(new Date(time ?? NaN));
}
