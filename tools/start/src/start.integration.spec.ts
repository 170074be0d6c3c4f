import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { access, mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { connectAccessUseCases } from '@animal-store/access-infrastructure';
import { start as startService, StartupError } from '@animal-store/api/start';
import { createTestDatabase, query, type TestDatabase, waitFor } from '@animal-store/local-postgres/testing';
import { ServiceProcess } from '@animal-store/test-kit/service-process';
import { afterAll, afterEach, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { DataSource } from 'typeorm';
import { ensureLocalApiKey, LocalEnvironment, prepareDatabase } from './local-environment.js';
import { runUntilStopped } from './run-until-stopped.js';

const RUN = join(import.meta.dirname, '..', 'run.mjs');
const NODE = join(import.meta.dirname, '../../node.mjs');
/** What `npm start` runs once everything is built. Saves a second or two where the build does not matter. */
const BUILT = join(import.meta.dirname, '..', 'dist', 'start.js');
/** Prevents a busy machine from counting as an overload of the service, or as an outage of its database. */
const PATIENT = { MAX_EVENT_LOOP_LAG_MS: '60000', DATABASE_CONNECT_TIMEOUT_MS: '60000', DATABASE_STATEMENT_TIMEOUT_MS: '60000' };

let temporary: string;
let dataDir: string;
const running: ServiceProcess[] = [];

beforeAll(async () => {
  temporary = await mkdtemp(join(tmpdir(), 'start-'));
  dataDir = join(temporary, 'data');
});
afterEach(async () => {
  for (const service of running.splice(0)) await service.stop('SIGKILL');
});
afterAll(() => rm(temporary, { recursive: true, force: true }));

describe('npm start', () => {
  let apiKey: string;

  it('prints commands that work in a shell, runs the service with a role that owns nothing, and leaves nothing running after Ctrl-C', async () => {
    // Stops without the grace period.
    const service = await start({ DRAIN_SECONDS: '600' });
    ({ apiKey } = service);
    const [list, add] = service.commands;
    expect(await runInShell(list)).toBe('[]');
    expect(JSON.parse(await runInShell(add))).toEqual({ id: 1, name: 'Rex', categoryId: 1, status: 'available' });
    expect(apiKey).toMatch(/^ast_local_/);
    expect((await stat(join(dataDir, 'api-key'))).mode & 0o777).toBe(0o600);

    const password = (await readFile(join(dataDir, 'postgres-password'), 'utf8')).trim();
    const [, , , port] = (await readFile(join(dataDir, 'postgres', 'postmaster.pid'), 'utf8')).split('\n');
    const sessions = await query(
      `postgres://animal_store:${password}@127.0.0.1:${port}/animal_store`,
      `SELECT DISTINCT usename AS role, rolsuper AS "isSuperuser", EXISTS (SELECT FROM pg_class WHERE relowner = usesysid) AS "isOwner"
       FROM pg_stat_activity JOIN pg_roles ON pg_roles.oid = usesysid WHERE application_name = 'animal-store-api'`,
    );
    expect(sessions).toEqual([{ role: 'animal_store_service', isSuperuser: false, isOwner: false }]);
    await expect(new LocalEnvironment({ DATA_DIR: dataDir }).open()).rejects.toThrow(
      `The data folder ${dataDir} is in use by process ${service.process.pid}.`,
    );

    expect(await service.process.stop('SIGINT')).toBe(0);
    expect(isPostgresRunning()).toBe(false);
  });

  it('keeps the catalogue and the API key across a restart, and stops if npm is killed', async () => {
    const script = `child_process.spawn('sh', ['-c', '"$0" "${NODE}" "${BUILT}"; true', process.execPath], { stdio: 'inherit' })`;
    const service = await start({ npm_lifecycle_event: 'start' }, [process.execPath, '-e', script]);
    expect(service.apiKey).toBe(apiKey);
    const get = () => fetch(`${service.url}/pets`, { headers: { authorization: `Bearer ${apiKey}` } });
    expect(await (await get()).json()).toMatchObject([{ name: 'Rex' }]);
    await runInShell(service.commands[1]);
    await service.process.stop('SIGKILL');
    await waitFor(() => expect(get()).rejects.toThrow('fetch failed'));
    await waitFor(() => expect(isPostgresRunning()).toBe(false));
  });
});

describe('the local environment', () => {
  it('stops PostgreSQL also while it starts', async () => {
    const local = new LocalEnvironment({ DATA_DIR: dataDir });
    // It may lose its connection while it prepares the database.
    await Promise.allSettled([local.open(), local.close()]);
    const isLeft = isPostgresRunning();
    await local.close();
    expect(isLeft).toBe(false);
  });
});

describe('the local API key', () => {
  const role = `start_${String(process.pid)}`;
  let database: TestDatabase;
  let file: string;

  beforeAll(async () => {
    database = await createTestDatabase();
    await query(database.url, `CREATE ROLE ${role}`);
    await prepareDatabase(database.url, role);
    file = join(temporary, 'api-key');
  });
  afterAll(async () => {
    await database.drop();
    await query(process.env['TEST_POSTGRES_URL'] ?? '', `DROP ROLE ${role}`);
  });

  it.each([
    ['is missing', () => undefined],
    ['has a key that is not in the database', () => `ast_local_${'0'.repeat(49)}`],
    ['has a key that lacks a scope', () => createKey({ scopes: ['pets:read'] })],
    ['has an expired key', () => createKey({ scopes: ['pets:read', 'pets:write'], lifetimeMs: 1 })],
  ])('is created if the file %s', async (_case, before) => {
    const stored = await before();
    await rm(file, { force: true });
    if (stored !== undefined) await writeFile(file, stored, { mode: 0o644 });
    const destroy = jest.spyOn(DataSource.prototype, 'destroy');
    const key = await ensureLocalApiKey(database.url, file, 'qa');
    expect(destroy).toHaveBeenCalledTimes(1);
    jest.restoreAllMocks();
    expect(key).toMatch(/^ast_qa_/);
    expect(await readFile(file, 'utf8')).toBe(`${key}\n`);
    const { mode, uid } = await stat(file);
    expect([mode & 0o777, uid]).toEqual([0o600, (await stat(temporary)).uid]);
    expect(await ensureLocalApiKey(database.url, file, 'qa')).toBe(key);
  });

  async function createKey(input: { readonly scopes: readonly string[]; readonly lifetimeMs?: number }): Promise<string> {
    const access = await connectAccessUseCases(database.url);
    const { secret } = await access.manageApiKeys.create({ clientName: 'other', environment: 'local', ...input });
    await access.close();
    return secret;
  }
});

describe('runUntilStopped', () => {
  const noService = () => Promise.reject(new Error('not started'));

  it.each<[string, Record<string, string>, () => Promise<never>, RegExp]>([
    [
      'an invalid value without its control characters',
      { DATA_DIR: '/dev/null/\u001b[31m' },
      noService,
      /^The data folder \/dev\/null\/\\x1b\[31m .*$/,
    ],
    ['an invalid variable', { PORT: 'many', DATA_DIR: 'UNTOUCHED' }, noService, /^PORT .*$/],
    [
      'an unusable data folder',
      { DATA_DIR: 'FILE' },
      noService,
      /^The data folder \S+ cannot be used: EEXIST: file already exists, mkdir '\S+'\.$/,
    ],
    ['a failed start', { DATABASE_URL: 'any' }, () => Promise.reject(new StartupError('It failed.')), /^It failed\.$/],
    ['a bug with its stack', { DATABASE_URL: 'any' }, () => Promise.reject(new TypeError('a bug')), /^TypeError: a bug\n {4}at /],
  ])('reports %s and exits with code 1', async (_what, variables, startService, expected) => {
    const [untouched, file] = [join(temporary, 'untouched'), join(temporary, 'file')];
    await writeFile(file, '');
    const DATA_DIR = variables['DATA_DIR']?.replace('UNTOUCHED', untouched).replace('FILE', file) ?? untouched;
    expect(await run({ ...variables, DATA_DIR }, startService)).toEqual({
      exitCode: 1,
      stdout: [],
      stderr: [expect.stringMatching(expected)],
    });
    await expect(access(untouched)).rejects.toThrow();
  });

  it.each(['DATABASE_URL', 'DATABASE_URL_FILE'])('starts no PostgreSQL if %s is set', async (name) => {
    const variables = { [name]: '/any', DATA_DIR: join(temporary, 'untouched') };
    expect(await new LocalEnvironment(variables).open()).toBe(variables);
  });

  it('uses the database of DATABASE_URL, prints how to create a key and closes the service after a signal', async () => {
    const calls: string[] = [];
    const variables = { DATABASE_URL: 'postgres://127.0.0.1:1/any', DATA_DIR: join(temporary, 'untouched') };
    const running = run(variables, (env) => {
      expect(env).toEqual({ NODE_ENV: 'development', ...variables });
      return { url: Promise.resolve('http://localhost:3000'), close: () => Promise.resolve(calls.push('closed')) };
    });
    await waitFor(() => expect(console.log).toHaveBeenCalled());
    expect(calls).toEqual([]);
    process.emit('SIGTERM', 'SIGTERM');
    const { exitCode, stdout, stderr } = await running;
    expect({ exitCode, stderr, calls }).toEqual({ exitCode: 0, stderr: [], calls: ['closed'] });
    expect(stdout).toEqual([
      expect.stringMatching(/^ {2}Address {3}http:\/\/localhost:3000\/v1$[^]*npm run animal-store -- keys create --client/m),
    ]);
    await expect(access(variables.DATA_DIR)).rejects.toThrow();
  });

  it('names the database that it waits for, without the password', async () => {
    const variables = { DATABASE_URL: 'postgres://store:secret@127.0.0.1:1/x', PORT: '0', LOG_LEVEL: 'fatal' };
    const running = run(variables, startService);
    await waitFor(() => expect(console.log).toHaveBeenCalled());
    process.emit('SIGINT', 'SIGINT');
    expect(await running).toEqual({ exitCode: 0, stdout: ['\n  Waiting for the database at 127.0.0.1:1.'], stderr: [] });
  });

  it('stops PostgreSQL after the service, whose requests in progress need it, also if the terminal is closed', async () => {
    const calls = recordEnvironment();
    const running = run({ DATABASE_URL: 'any' }, () => ({
      url: 'http://localhost:3000',
      close: async () => {
        calls.push('service stops');
        await sleep(20);
        calls.push('service has stopped');
      },
    }));
    await waitFor(() => expect(console.log).toHaveBeenCalled());
    process.emit('SIGHUP', 'SIGHUP');
    expect(await running).toMatchObject({ exitCode: 0 });
    expect(calls).toEqual(['service stops', 'service has stopped', 'PostgreSQL has stopped']);
  });

  it('stops PostgreSQL also if the service does not start', async () => {
    const calls = recordEnvironment();
    const failure = new StartupError('Port 3000 is in use.');
    expect(await run({ DATABASE_URL: 'any' }, () => Promise.reject(failure))).toMatchObject({ exitCode: 1, stderr: [failure.message] });
    expect(calls).toEqual(['PostgreSQL has stopped']);
  });

  it('stops PostgreSQL and exits on a second Ctrl-C while the service stops', async () => {
    const calls = recordEnvironment();
    const { promise: closed, resolve: close } = Promise.withResolvers<void>();
    const running = run({ DATABASE_URL: 'any' }, () => ({ url: 'http://localhost:3000', close: () => closed }));
    await waitFor(() => expect(console.log).toHaveBeenCalled());
    process.emit('SIGINT', 'SIGINT');
    process.emit('SIGINT', 'SIGINT');
    expect(calls).toEqual([]);
    const now = performance.now();
    jest.spyOn(performance, 'now').mockReturnValue(now + 1_100);
    const exit = jest.spyOn(process, 'exit').mockReturnValue(undefined as never);
    process.emit('SIGINT', 'SIGINT');
    await waitFor(() => expect(exit).toHaveBeenCalledWith(130));
    expect(calls).toEqual(['PostgreSQL has stopped']);
    close();
    await running;
  });

  /** Records what happens to PostgreSQL. */
  function recordEnvironment(): string[] {
    const calls: string[] = [];
    jest.spyOn(LocalEnvironment.prototype, 'close').mockImplementation(() => Promise.resolve(void calls.push('PostgreSQL has stopped')));
    return calls;
  }

  /** Runs until it would exit. */
  async function run(variables: Record<string, string>, startService: Parameters<typeof runUntilStopped>[0]) {
    jest.replaceProperty(process, 'env', variables);
    const exit = jest.spyOn(process, 'exit').mockReturnValue(undefined as never);
    const outputs = [jest.spyOn(console, 'log').mockReturnValue(), jest.spyOn(console, 'error').mockReturnValue()];
    try {
      await runUntilStopped(startService);
      const [stdout, stderr] = outputs.map(({ mock }) => mock.calls.flat() as unknown[]);
      return { exitCode: exit.mock.lastCall?.[0], stdout, stderr };
    } finally {
      jest.restoreAllMocks();
      for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.removeAllListeners(signal);
    }
  }
});

interface Started {
  readonly process: ServiceProcess;
  /** http://localhost:3000/v1 */
  readonly url: string;
  readonly apiKey: string;
  readonly commands: readonly [list: string, add: string];
}

/** Resolves when the welcome text is complete. */
async function start(variables: Record<string, string> = {}, command = [process.execPath, RUN, 'start']): Promise<Started> {
  const service = ServiceProcess.spawn({ DATA_DIR: dataDir, PORT: '0', ...PATIENT, ...variables }, { command });
  running.push(service);
  await service.waitFor(/Ctrl-C stops/);
  const field = (name: string) => new RegExp(`^ *${name} +(\\S.*)$`, 'm').exec(service.output)?.[1] ?? '';
  const commands = [...service.output.matchAll(/^ *(curl .*)$/gm)].map(([, line = '']) => line);
  return { process: service, url: field('Address'), apiKey: field('API key'), commands: commands as [string, string] };
}

async function runInShell(command: string): Promise<string> {
  const { stdout } = await promisify(execFile)('sh', ['-c', command]);
  return stdout;
}

/** PostgreSQL removes its file last. Its command line does not name the folder. */
function isPostgresRunning(): boolean {
  return existsSync(join(dataDir, 'postgres', 'postmaster.pid'));
}
