import { openAccess } from '@animal-store/access-infrastructure';
import { startLocalPostgres } from '@animal-store/local-postgres';
import { createTestDatabase, type TestDatabase } from '@animal-store/local-postgres/testing';
import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir, userInfo } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { Client } from 'pg';
import { run as runProgram } from './program.js';

/** What is deployed is the bundle; coverage counts the files that it is made of. */
const FOLDER = process.env['PROGRAM_FOLDER'] ?? 'bundle';
const MAIN = fileURLToPath(new URL(`../${FOLDER}/main.js`, import.meta.url));
jest.setTimeout(60_000);

const KEY = /ast_[a-z]+_[0-9A-Za-z]{49}/;

interface Outcome {
  readonly exitCode: number;
  readonly stdout: string;
  readonly stderr: string;
}

interface KeyJson {
  readonly id: number;
  readonly key: string;
  readonly prefix: string;
  readonly expiresAt: string | null;
}

/** Runs the built program with nothing of our environment but what a process needs. */
const animalStore = (environment: Readonly<Record<string, string>>, ...args: readonly string[]) => animalStoreIn('.', environment, ...args);

function animalStoreIn(cwd: string, environment: Readonly<Record<string, string>>, ...args: readonly string[]): Promise<Outcome> {
  const { PATH, HOME, SystemRoot, TEMP } = process.env;
  return new Promise((resolve) => {
    const child = execFile(
      process.execPath,
      [MAIN, ...args],
      { cwd, env: { PATH, HOME, SystemRoot, TEMP, ...environment } },
      (_, stdout, stderr) => resolve({ exitCode: child.exitCode ?? -1, stdout, stderr }),
    );
  });
}

async function query<Row extends object>(url: string, text: string): Promise<Row[]> {
  const client = new Client({ connectionString: url });
  await client.connect();
  try {
    return (await client.query<Row>(text)).rows;
  } finally {
    await client.end();
  }
}

const json = <T>({ stdout }: Outcome) => JSON.parse(stdout) as T;

describe('animal-store on the database that DATABASE_URL names', () => {
  let database: TestDatabase;
  const run = (...args: string[]) => animalStore({ DATABASE_URL: database.url }, ...args);

  beforeAll(async () => {
    database = await createTestDatabase();
  });

  afterAll(() => database.drop());

  it('migrates up and down and tells the state', async () => {
    const notMigrated = { exitCode: 1, stdout: '', stderr: 'error: the tables are missing: run "migrate up" first\n' };
    expect(await run('keys', 'list')).toEqual(notMigrated);
    expect(await run('seed', '--count', '1')).toEqual(notMigrated);
    expect(await run('migrate', 'down')).toEqual({ exitCode: 0, stdout: 'No migration is applied.\n', stderr: '' });

    const { migrations } = json<{ migrations: { name: string; applied: boolean }[] }>(await run('migrate', 'status', '--json'));
    const names = migrations.map(({ name }) => name);
    expect(names.map((name) => name.replace(/\d+$/, ''))).toEqual(expect.arrayContaining(['CreateClientsAndApiKeys', 'CreatePets']));
    expect(migrations).toEqual(names.map((name) => ({ name, applied: false })));

    expect(await run('migrate', 'up')).toEqual({ exitCode: 0, stdout: names.map((name) => `applied ${name}\n`).join(''), stderr: '' });
    expect(await run('migrate', 'up')).toMatchObject({ exitCode: 0, stdout: 'The database is up to date.\n' });
    const newest = names.at(-1) ?? '';
    const refused = await run('migrate', 'down');
    expect(refused).toMatchObject({ exitCode: 2, stdout: '' });
    expect(refused.stderr).toMatch(new RegExp(`^${newest} is taken back, and what it holds is lost:\n(?:  .+\n)*error: add --yes: .+\n$`));
    expect(await run('migrate', 'down', '--yes')).toEqual({ exitCode: 0, stdout: `took back ${newest}\n`, stderr: '' });
    expect((await run('migrate', 'status')).stdout).toMatch(new RegExp(`^MIGRATION +STATE\\n(?:\\w+ +applied\\n)+${newest} +pending\\n$`));
    expect(json(await run('migrate', 'up', '--json'))).toEqual({ applied: [newest] });
    expect(json(await run('migrate', 'down', '--yes', '--json'))).toEqual({ undone: newest });
  });

  it('with CITUS=on warns that the extension is missing, and refuses another value than on or off', async () => {
    await run('migrate', 'up');
    const stderr = 'CITUS is on, but the database lacks the extension citus: no table is distributed\n';
    expect(await animalStore({ DATABASE_URL: database.url, CITUS: 'on' }, 'migrate', 'up')).toEqual({
      exitCode: 0,
      stdout: 'The database is up to date.\n',
      stderr,
    });
    const refused = await animalStore({ DATABASE_URL: database.url, CITUS: 'maybe' }, 'migrate', 'up');
    expect(refused).toMatchObject({ exitCode: 2, stderr: 'error: CITUS must be true or false\n' });
  });

  it('migrates an empty database once when several processes start at once', async () => {
    const empty = await createTestDatabase();
    const migrate = () => animalStore({ DATABASE_URL: empty.url }, 'migrate', 'up', '--json');
    const outcomes = await Promise.all([migrate(), migrate(), migrate(), migrate()]);
    expect(outcomes.map(({ exitCode, stderr }) => ({ exitCode, stderr }))).toEqual(outcomes.map(() => ({ exitCode: 0, stderr: '' })));
    const applied = outcomes.flatMap((outcome) => json<{ applied: string[] }>(outcome).applied);
    const status = json<{ migrations: { name: string }[] }>(await animalStore({ DATABASE_URL: empty.url }, 'migrate', 'status', '--json'));
    expect(applied).toEqual(status.migrations.map(({ name }) => name));
    await empty.drop();
  });

  it('waits as long as told for another process that is migrating, and says so', async () => {
    const empty = await createTestDatabase();
    const holder = new Client({ connectionString: empty.url });
    await holder.connect();
    await holder.query('SELECT pg_advisory_lock(7302947561038214)');
    expect(await animalStore({ DATABASE_URL: empty.url }, 'migrate', 'up', '--wait', '6s')).toEqual({
      exitCode: 1,
      stdout: '',
      stderr:
        'waiting for another process that is migrating the database\nerror: another process has been migrating the database for 6 s\n',
    });
    await holder.end();
    await empty.drop();
  });

  it('asks before it takes back a migration, and says what is dropped', async () => {
    await run('migrate', 'up');
    while (json<{ undone: string }>(await run('migrate', 'down', '--yes', '--json')).undone !== 'CreateIdempotencyKeys1763683320000');
    const asked: string[] = [];
    const down = async (answer: boolean) => {
      let output = '';
      const write = (text: string) => (output += text);
      const confirm = (question: string) => Promise.resolve(asked.push(question) > 0 && answer);
      const exitCode = await runProgram(['migrate', 'down'], {
        env: { DATABASE_URL: database.url },
        stdout: { write },
        stderr: { write },
        confirm,
      });
      return { exitCode, output };
    };
    expect(await down(false)).toEqual({ exitCode: 1, output: expect.stringMatching(/DROP INDEX .*\nerror: nothing was taken back\n$/s) });
    expect(await down(true)).toEqual({ exitCode: 0, output: expect.stringMatching(/took back IndexPetsByStatus1763683260000\n$/) });
    expect(await down(true)).toEqual({ exitCode: 0, output: expect.stringContaining('DROP TABLE pets.pets') });
    expect(asked).toEqual(['Take it back?', 'Take it back?', 'Take it back?']);
  });

  describe('keys', () => {
    beforeAll(async () => {
      expect(await run('migrate', 'up')).toMatchObject({ exitCode: 0 });
    });

    beforeEach(() => query(database.url, 'TRUNCATE access.clients, access.api_keys, access.audit_events RESTART IDENTITY'));

    const isValid = async (key: string) => {
      const access = await openAccess(database.url);
      try {
        return await Promise.resolve(access.authenticateApiKey.execute(key)).then(
          () => true,
          () => false,
        );
      } finally {
        await access.close();
      }
    };

    it('create shows a key that works, once', async () => {
      const { exitCode, stdout, stderr } = await run('keys', 'create', '--client', 'Acme Pets');
      expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: '' });
      expect(stdout).toMatch(/^Key 1 of the client Acme Pets, scopes pets:read pets:write, expires never:$/m);
      const key = KEY.exec(stdout)?.[0] ?? '';
      expect(key).toMatch(/^ast_production_/);
      expect(await isValid(key)).toBe(true);

      for (const listed of [await run('keys', 'list'), await run('keys', 'list', '--json')]) {
        expect(listed.stdout).toContain(key.slice(0, 'ast_production_'.length + 6));
        expect(listed.stdout).not.toContain(key.slice(0, 'ast_production_'.length + 7));
      }
    });

    it('create takes scopes, expiry and environment', async () => {
      const options = ['--scope', 'pets:read', '--expires-in', '90d', '--environment', 'staging', '--json'];
      const { key, ...rest } = json<KeyJson & { createdAt: string }>(await run('keys', 'create', '--client', 'acme', ...options));
      expect(key).toMatch(/^ast_staging_/);
      expect(rest).toMatchObject({ created: true, id: 1, client: 'acme', scopes: ['pets:read'], prefix: key.slice(0, 18) });
      expect(Date.parse(rest.expiresAt ?? '') - Date.parse(rest.createdAt)).toBe(90 * 86_400_000);
    });

    it('create makes no key with a scope that nothing asks for', async () => {
      expect(await run('keys', 'create', '--client', 'acme', '--scope', 'pets:read,pets:reed')).toEqual({
        exitCode: 2,
        stdout: '',
        stderr: 'error: no operation knows the scope pets:reed; there are pets:read, pets:write\n',
      });
      expect(json(await run('keys', 'list', '--json'))).toEqual([]);
    });

    it('create takes the environment from ENVIRONMENT', async () => {
      const { stdout } = await animalStore({ DATABASE_URL: database.url, ENVIRONMENT: 'qa' }, 'keys', 'create', '--client', 'acme');
      expect(stdout).toMatch(/^ast_qa_/m);
    });

    it('create --if-none leaves a client with an active key alone', async () => {
      const create = (...more: string[]) => run('keys', 'create', '--client', 'acme', '--if-none', ...more);
      const together = await Promise.all([create(), create()]);
      expect(together.map(({ stdout }) => KEY.test(stdout)).sort()).toEqual([false, true]);
      expect(await create()).toEqual({ exitCode: 0, stdout: 'The client acme has an active key already; none was made.\n', stderr: '' });
      expect(json(await create('--json'))).toEqual({ created: false, client: 'acme' });
      expect(json<unknown[]>(await run('keys', 'list', '--json'))).toHaveLength(1);
    });

    it('list shows all of a key but its secret, of one client if asked', async () => {
      for (const client of ['acme', 'b']) await run('keys', 'create', '--client', client, '--expires-in', '1d');
      await run('keys', 'revoke', '2');
      const time = String.raw`\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ`;
      const { stdout } = await run('keys', 'list');
      const [header, first, second, end] = stdout.split('\n');
      expect(header).toMatch(/^ID +PREFIX +CLIENT +SCOPES +STATE +CREATED +EXPIRES +REVOKED +LAST USED$/);
      expect(first).toMatch(new RegExp(`^1 +ast_production_\\w{6} +acme +pets:read pets:write +active +${time} +${time} +- +-$`));
      expect(second).toMatch(new RegExp(`^2 +ast_production_\\w{6} +b +pets:read pets:write +revoked +${time} +${time} +${time} +-$`));
      expect(end).toBe('');
      const listed = json<object[]>(await run('keys', 'list', '--client', 'b', '--json'));
      expect(listed).toEqual([expect.objectContaining({ id: 2, client: 'b', state: 'revoked', lastUsedAt: null })]);
      expect(Object.keys(listed[0] ?? {}).sort()).toEqual(
        ['client', 'createdAt', 'expiresAt', 'id', 'lastUsedAt', 'prefix', 'revokedAt', 'scopes', 'state'].sort(),
      );
      expect(await run('keys', 'list', '--client', 'nobody')).toEqual({ exitCode: 0, stdout: 'No keys.\n', stderr: '' });
    });

    it('list --expires-within shows the active keys that expire by then', async () => {
      for (const lifetime of ['29d', '31d']) await run('keys', 'create', '--client', 'acme', '--expires-in', lifetime);
      await run('keys', 'create', '--client', 'acme');
      expect(json<KeyJson[]>(await run('keys', 'list', '--expires-within', '30d', '--json')).map(({ id }) => id)).toEqual([1]);
      expect((await run('keys', 'list', '--expires-within', '1d')).stdout).toBe('No keys.\n');
    });

    it('rotate makes a new key and lets the old one live on for the overlap', async () => {
      const old = json<KeyJson>(await run('keys', 'create', '--client', 'acme', '--scope', 'pets:read', '--json'));
      const rotated = json<KeyJson & { createdAt: string; retired: KeyJson }>(await run('keys', 'rotate', String(old.id), '--json'));
      expect(rotated).toMatchObject({ client: 'acme', scopes: ['pets:read'], expiresAt: null, retired: { id: old.id } });
      expect(Date.parse(rotated.retired.expiresAt ?? '') - Date.parse(rotated.createdAt)).toBe(86_400_000);
      expect([await isValid(old.key), await isValid(rotated.key)]).toEqual([true, true]);

      const { stdout } = await run('keys', 'rotate', rotated.prefix, '--overlap', '0s');
      expect([await isValid(rotated.key), await isValid(KEY.exec(stdout)?.[0] ?? '')]).toEqual([false, true]);
      expect(await run('keys', 'rotate', rotated.prefix)).toEqual({ exitCode: 1, stdout: '', stderr: 'error: The API key is expired.\n' });
    });

    it('revoke and rotate take a whole key, as it was leaked, and do not show it', async () => {
      const create = async () => json<KeyJson>(await run('keys', 'create', '--client', 'acme', '--json'));
      const [first, second] = [await create(), await create()];
      const outcomes = [
        await run('keys', 'revoke', first.key),
        await run('keys', 'rotate', second.key, '--overlap', '0s'),
        await run('keys', 'rotate', first.key),
        await run('keys', 'revoke', `${first.key.slice(0, -1)}_`),
      ];
      expect(outcomes.map(({ exitCode }) => exitCode)).toEqual([0, 0, 1, 1]);
      expect([await isValid(first.key), await isValid(second.key)]).toEqual([false, false]);
      for (const { stdout, stderr } of outcomes) {
        for (const { key, prefix } of [first, second]) expect(stdout + stderr).not.toContain(key.slice(prefix.length, -1));
      }
    });

    it('revoke ends a key', async () => {
      const { id, key, prefix } = json<KeyJson>(await run('keys', 'create', '--client', 'acme', '--json'));
      const revoked = await run('keys', 'revoke', prefix);
      expect(revoked.stdout).toMatch(new RegExp(`^Key ${String(id)} \\(${prefix}\\) of the client acme is revoked since .*Z\\.\\n$`));
      expect(await isValid(key)).toBe(false);
      expect((await run('keys', 'revoke', String(id))).stdout).toBe(revoked.stdout);
      expect(await run('keys', 'revoke', '77')).toEqual({ exitCode: 1, stdout: '', stderr: 'error: No API key is called 77.\n' });
    });
  });

  describe('clients', () => {
    beforeAll(async () => {
      expect(await run('migrate', 'up')).toMatchObject({ exitCode: 0 });
      await query(database.url, 'TRUNCATE access.clients, access.api_keys, access.audit_events RESTART IDENTITY');
    });

    it('are listed, disabled, enabled and limited, and keys audit tells who did it', async () => {
      const runAs = (operator: string, ...args: string[]) => animalStore({ DATABASE_URL: database.url, OPERATOR: operator }, ...args);
      expect(await run('clients', 'list')).toEqual({ exitCode: 0, stdout: 'No clients.\n', stderr: '' });
      expect(await run('keys', 'audit')).toEqual({ exitCode: 0, stdout: 'No changes.\n', stderr: '' });
      const { id, key, prefix } = json<KeyJson>(await runAs('carol', 'keys', 'create', '--client', 'acme', '--rate-limit', '50', '--json'));
      expect((await runAs('dave', 'clients', 'disable', 'acme')).stdout).toBe('The client acme is disabled.\n');
      expect((await run('clients', 'list')).stdout).toMatch(/^1 +acme +disabled +50 +\S+Z$/m);
      expect((await run('keys', 'list')).stdout).toMatch(/^1 .* disabled /m);
      expect((await run('keys', 'create', '--client', 'acme', '--if-none')).stdout).toContain('none was made');
      expect((await runAs('dave', 'clients', 'enable', 'acme')).stdout).toBe('The client acme is enabled.\n');
      expect((await run('clients', 'set-rate-limit', 'acme', '0')).stdout).toBe('The client acme has no rate limit.\n');
      expect(json(await run('clients', 'set-rate-limit', 'acme', 'default', '--json'))).toEqual({
        id: 1,
        name: 'acme',
        state: 'enabled',
        rateLimit: null,
        disabledAt: null,
      });
      await runAs('carol', 'keys', 'rotate', String(id));
      await runAs('carol', 'keys', 'revoke', String(id));
      expect(await run('clients', 'disable', 'nobody')).toEqual({
        exitCode: 1,
        stdout: '',
        stderr: 'error: No client is called nobody.\n',
      });

      const audit = await run('keys', 'audit', '--json');
      const { events, next } = json<{ events: Record<string, unknown>[]; next: unknown }>(audit);
      const user = userInfo().username;
      expect(events.map(({ operator, action, keyId }) => [operator, action, keyId])).toEqual([
        ['carol', 'revoke', id],
        ['carol', 'rotate', id],
        [user, 'set-rate-limit', null],
        [user, 'set-rate-limit', null],
        ['dave', 'enable', null],
        ['dave', 'disable', null],
        ['carol', 'create', id],
        ['carol', 'set-rate-limit', null],
      ]);
      const [{ role }] = (await query<{ role: string }>(database.url, 'SELECT current_user AS role')) as [{ role: string }];
      expect(new Set(events.map(({ databaseRole }) => databaseRole))).toEqual(new Set([role]));
      expect(next).toBeNull();
      expect(audit.stdout).toContain(prefix);
      expect(audit.stdout).not.toContain(key.slice(prefix.length));

      const page = await run('keys', 'audit', '--limit', '2');
      expect(page.stdout).toMatch(/^ID +TIME .*\n8 .* revoke .*\n7 .* rotate .*\nOlder changes: --after 7\n$/);
      expect((await run('keys', 'audit', '--after', '2')).stdout).toMatch(
        /^ID +TIME .*\n1 +\S+Z +carol +\w+ +set-rate-limit +acme +- +from=null to=50\n$/,
      );
    });
  });

  describe('seed', () => {
    beforeAll(async () => {
      expect(await run('migrate', 'up')).toMatchObject({ exitCode: 0 });
    });

    it('adds the same animals for the same seed, and tells the planner', async () => {
      const first = await run('seed', '--count', '3500', '--seed', '7', '--pending-share', '0.1');
      expect(first).toMatchObject({ exitCode: 0, stderr: '' });
      expect(first.stdout).toMatch(/^Added 3,500 pets in [\d.]+ s: [\d,]+ available, \d+ pending, \d+ sold\.\n$/);
      const added = await run('seed', '--count', '3500', '--seed', '7', '--pending-share', '0.1', '--json');
      const { byStatus } = json<{ byStatus: Record<string, number> }>(added);

      const halves = await query<{ n: number; pets: string; pending: number; sold: number }>(
        database.url,
        `SELECT count(*)::int AS n, md5(string_agg(name || category_id || status, ',' ORDER BY id)) AS pets,
           count(*) FILTER (WHERE status = 'pending')::int AS pending, count(*) FILTER (WHERE status = 'sold')::int AS sold
         FROM pets.pets GROUP BY id > 3500`,
      );
      expect(halves).toHaveLength(2);
      expect(halves[0]).toEqual(halves[1]);
      expect(halves[0]).toMatchObject({ n: 3500, pending: byStatus['pending'], sold: byStatus['sold'] });
      expect(await query(database.url, `SELECT reltuples FROM pg_class WHERE oid = 'pets.pets'::regclass`)).toEqual([{ reltuples: 7000 }]);
    });
  });
});

describe('animal-store without a database', () => {
  it('refuses wrong usage with exit code 2 and one line', async () => {
    const { exitCode, stdout, stderr } = await animalStore({}, 'keys', 'craete');
    expect({ exitCode, stdout }).toEqual({ exitCode: 2, stdout: '' });
    expect(stderr).toMatch(/^error: .+\n$/);
  });

  it('asks for DATABASE_URL where PostgreSQL is not part of the installation', async () => {
    const hide = `import { registerHooks } from 'node:module';
      registerHooks({ resolve: (name, context, next) => next(name === '@animal-store/local-postgres' ? '@animal-store/absent' : name, context) });`;
    const NODE_OPTIONS = `--import=data:text/javascript,${encodeURIComponent(hide)}`;
    expect(await animalStore({ NODE_OPTIONS }, 'keys', 'list')).toEqual({
      exitCode: 1,
      stdout: '',
      stderr: 'error: set DATABASE_URL: this installation has no PostgreSQL of its own\n',
    });
  });
});

describe('animal-store on a data folder', () => {
  let folder: string;
  const run = (...args: string[]) => animalStore({ DATA_DIR: join(folder, 'data') }, ...args);

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'animal-store-cli-'));
  });

  afterAll(() => rm(folder, { recursive: true, force: true }));

  it('reads .env where it is run', async () => {
    await writeFile(join(folder, '.env'), 'DATABASE_URL=mysql://elsewhere\n');
    const stderr = 'error: DATABASE_URL must be a postgres:// URL\n';
    expect(await animalStoreIn(folder, {}, 'keys', 'list')).toEqual({ exitCode: 2, stdout: '', stderr });
  });

  it('brings it up to date by itself, and works beside the service', async () => {
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
