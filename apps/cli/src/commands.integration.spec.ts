import { access, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startLocalPostgres } from '@animal-store/local-postgres';
import { createTestDatabase, query, waitFor } from '@animal-store/local-postgres/testing';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { json, type KeyJson, runAnimalStore, useAnimalStore } from './testing/run-animal-store.js';
import { runInShell, runProgram } from './testing/run-program.js';

const store = useAnimalStore();

describe('animal-store migrate', () => {
  const store = useAnimalStore({ migrated: false });

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
    expect(await grant('keys', 'public', '--apply')).toEqual({ exitCode: 1, stdout: '', stderr: 'error: role "public" does not exist\n' });
    await query(store.url, `DROP OWNED BY "${role}"; DROP ROLE "${role}"`);
  });
});

describe('animal-store events', () => {
  const TIME = String.raw`\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ`;
  const ISO_TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;

  beforeEach(async () => {
    await query(store.url, 'TRUNCATE events.deliveries, events.subscriptions');
  });

  /** Adds two events that are not handled, and three that are parked, two of them of the order 7. */
  async function addEvents(): Promise<void> {
    await query(store.url, `INSERT INTO events.subscriptions (name, types) VALUES ('pets', '{orders.order_placed}'), ('idle', '{}')`);
    await query(
      store.url,
      `INSERT INTO events.deliveries
       (position, subscription, aggregate_type, aggregate_id, type, payload, occurred_at, attempts, parked_at, error)
     OVERRIDING SYSTEM VALUE
     SELECT position, 'pets', 'orders', id, 'orders.order_placed', '{}', now() - interval '90 s', 2, CASE WHEN error <> '' THEN now() END, error
     FROM unnest('{1,2,9007199254740993,4,5}'::int8[], '{7,7,8,7,9}'::text[], ARRAY[E'Error: no\n\x1bstock', 'waits', 'waits', NULL, NULL])
       AS given (position, id, error)`,
    );
  }

  const retried = async () => {
    const rows = await query(
      store.url,
      'SELECT position::text FROM events.deliveries WHERE parked_at IS NULL AND attempts = 0 ORDER BY events.deliveries.position',
    );
    return rows.map((row) => (row as { position: string }).position);
  };

  it('list prints the lag of each subscription', async () => {
    expect((await store.run('events', 'list')).stdout).toBe('No subscriptions.\n');
    await addEvents();
    const { stdout } = await store.run('events', 'list');
    expect(stdout).toMatch(/^NAME +LAG +PARKED +ATTEMPTS +LAG SECONDS\nidle +0 +0 +0 +0\npets +2 +3 +2 +9\d\S*\n$/);
    expect(json(await store.run('events', 'list', '--json'))).toEqual([
      { name: 'idle', lag: 0, lagSeconds: 0, attempts: 0, parked: 0 },
      { name: 'pets', lag: 2, lagSeconds: expect.any(Number), attempts: 2, parked: 3 },
    ]);
  });

  it('parked prints parked events with their errors', async () => {
    expect((await store.run('events', 'parked')).stdout).toBe('No parked events.\n');
    await addEvents();
    const [header, first, , third] = (await store.run('events', 'parked')).stdout.split('\n');
    expect(header).toMatch(/^SUBSCRIPTION +POSITION +TYPE +AGGREGATE ID +OCCURRED AT +PARKED AT +ERROR$/);
    expect(first).toMatch(new RegExp(String.raw`^pets +1 +orders\.order_placed +7 +${TIME} +${TIME} +Error: no\\x0a\\x1bstock$`));
    expect(third).toMatch(/^pets +9007199254740993 /);
    const { stdout } = await store.run('events', 'parked', '--json');
    expect(stdout).toContain('"position": 9007199254740993');
    expect((JSON.parse(stdout) as unknown[])[1]).toEqual({
      subscription: 'pets',
      position: 2,
      type: 'orders.order_placed',
      aggregateId: '7',
      occurredAt: expect.stringMatching(ISO_TIME),
      parkedAt: expect.stringMatching(ISO_TIME),
      error: 'waits',
    });
  });

  it('retry marks all parked events of a subscription', async () => {
    await addEvents();
    expect(await store.run('events', 'retry', 'pets')).toMatchObject({ exitCode: 0, stdout: '3 parked events are retried.\n' });
    expect(await retried()).toEqual(['1', '2', '9007199254740993']);
  });

  it('retry fails if no event of the subscription is parked', async () => {
    await addEvents();
    const stderr = 'error: the subscription other has no parked event\n';
    expect(await store.run('events', 'retry', 'other')).toEqual({ exitCode: 1, stdout: '', stderr });
    expect(await retried()).toEqual([]);
  });

  it('forget removes a subscription with its events', async () => {
    await addEvents();
    expect(await store.run('events', 'forget', 'pets')).toEqual({
      exitCode: 0,
      stdout: 'The subscription pets is forgotten.\n',
      stderr: '',
    });
    expect(await query(store.url, 'SELECT name FROM events.subscriptions')).toEqual([{ name: 'idle' }]);
    expect((await store.run('events', 'parked')).stdout).toBe('No parked events.\n');
    expect(await store.run('events', 'forget', 'pets')).toMatchObject({ exitCode: 1, stderr: 'error: there is no subscription pets\n' });
  });
});

describe('animal-store seed', () => {
  beforeEach(() => query(store.url, 'TRUNCATE pets.pets RESTART IDENTITY CASCADE'));

  it('adds the same pets for the same seed and updates the planner statistics', async () => {
    const seed = (value: string) => store.run('seed', '--count', '3500', '--seed', value);
    expect(await seed('7')).toEqual({ exitCode: 0, stdout: 'Added 3,500 pets.\n', stderr: '' });
    await seed('7');
    await seed('8');
    const sets = await query<{ n: number; pets: string; sold: number; kinds: number }>(
      store.url,
      `SELECT count(*)::int AS n, md5(string_agg(name || category_id || status, ',' ORDER BY id)) AS pets,
       count(*) FILTER (WHERE status = 'sold')::int AS sold, count(DISTINCT category_id)::int AS kinds
     FROM pets.pets GROUP BY (id - 1) / 3500 ORDER BY (id - 1) / 3500`,
    );
    expect(sets.map(({ n, kinds }) => [n, kinds])).toEqual([1, 2, 3].map(() => [3500, 4]));
    expect(sets[1]).toEqual(sets[0]);
    expect(sets[2]?.pets).not.toBe(sets[0]?.pets);
    // A fifth. The seed is fixed, so the result is always the same.
    expect(Math.abs((sets[0]?.sold ?? 0) - 700)).toBeLessThan(100);
    expect(await query(store.url, `SELECT reltuples > 0 AS analysed FROM pg_class WHERE oid = 'pets.pets'::regclass`)).toEqual([
      { analysed: true },
    ]);
  });

  it('adds all or none, and says how many', async () => {
    await query(store.url, `ALTER TABLE pets.pets ADD CONSTRAINT no_rex CHECK (name NOT LIKE 'Rex %') NOT VALID`);
    const stderr = expect.stringMatching(/^error: .*"no_rex"\n$/);
    expect(await store.run('seed', '--count', '3500')).toEqual({ exitCode: 1, stdout: '', stderr });
    await query(store.url, 'ALTER TABLE pets.pets DROP CONSTRAINT no_rex', 'CREATE RULE none AS ON INSERT TO pets.pets DO INSTEAD NOTHING');
    expect((await store.run('seed', '--count', '10')).stdout).toBe('Added 0 pets.\n');
    await query(store.url, 'DROP RULE none ON pets.pets');
    expect(await query(store.url, 'SELECT FROM pets.pets')).toEqual([]);
  });
});

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

describe('the program', () => {
  it.each([
    ['>/dev/full', 'ENOSPC: no space left on device, write'],
    ['| true', 'write EPIPE'],
  ])('names a new key that cannot be printed with %s', async (redirection, reason) => {
    const stderr = expect.stringMatching(`^error: key \\d+ was created and cannot be printed, so revoke it: ${reason}\n1\n$`);
    const script = `{ animal_store keys create --client acme 2>&3; echo $? >&3; } 3>&2 ${redirection}`;
    expect(await runInShell({ DATABASE_URL: store.url }, script)).toEqual({ exitCode: 0, stdout: '', stderr });
  });

  it('reads .env in the working directory, and uses the data folder .data in it by default', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'animal-store-cli-'));
    await writeFile(join(folder, '.data'), 'a file cannot be a data folder');
    const stderr = expect.stringMatching(/^error: The data folder \.data cannot be used: EEXIST/);
    expect(await runProgram(folder, {}, 'keys', 'list')).toEqual({ exitCode: 1, stdout: '', stderr });
    await writeFile(join(folder, '.env'), 'DATABASE_URL=mysql://elsewhere\n');
    expect(await runProgram(folder, {}, 'keys', 'list')).toEqual({
      exitCode: 2,
      stdout: '',
      stderr: 'error: DATABASE_URL must be a postgres:// URL\n',
    });
    await rm(join(folder, '.env'));
    await mkdir(join(folder, '.env'));
    const unreadable = expect.stringMatching(/^error: \.env cannot be read: .+\n$/);
    expect(await runProgram(folder, {}, 'keys', 'list')).toEqual({ exitCode: 1, stdout: '', stderr: unreadable });
    await rm(folder, { recursive: true });
  });
});
