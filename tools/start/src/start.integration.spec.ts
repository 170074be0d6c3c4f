import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { access, chmod, mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { promisify } from 'node:util';
import { createTestDatabase, waitFor } from '@animal-store/local-postgres/testing';
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { Client } from 'pg';

const RUN = join(import.meta.dirname, '..', 'run.mjs');

let temporary: string;
let dataDir: string;
const children: ChildProcess[] = [];

beforeAll(async () => {
  temporary = await mkdtemp(join(tmpdir(), 'start-'));
  dataDir = join(temporary, 'data');
  // Stale projects are built once, outside the timeout of a spec.
  await runFailingStart({ PORT: 'build only' });
});
afterEach(async () => {
  for (const child of children.splice(0)) if (isRunning(child)) await kill(child);
});
afterAll(() => rm(temporary, { recursive: true, force: true }));

describe('npm start', () => {
  it('prints commands that work in a shell, and leaves nothing running after Ctrl-C', async () => {
    const service = await start();
    const [list, add] = service.commands;
    expect(await runInShell(list)).toBe('[]');
    expect(JSON.parse(await runInShell(add))).toEqual({ id: 1, name: 'Rex', categoryId: 1, status: 'available' });
    expect(service.apiKey).toMatch(/^ast_local_/);
    expect((await stat(join(dataDir, 'api-key'))).mode & 0o777).toBe(0o600);

    expect(await stop(service, 'SIGINT')).toBe(0);
    expect(await processesOf(dataDir)).toEqual([]);
  });

  it('runs the service with a role that is no superuser and owns nothing, and stops without a grace period', async () => {
    const service = await start({ DRAIN_SECONDS: '600' });
    await runInShell(service.commands[0]);
    const password = (await readFile(join(dataDir, 'postgres-password'), 'utf8')).trim();
    const [, , , port] = (await readFile(join(dataDir, 'postgres', 'postmaster.pid'), 'utf8')).split('\n');
    const owner = new Client({ connectionString: `postgres://animal_store:${password}@127.0.0.1:${port}/animal_store` });
    await owner.connect();
    const { rows } = await owner.query<object>(
      `SELECT DISTINCT usename AS role, rolsuper AS "isSuperuser", EXISTS (SELECT FROM pg_class WHERE relowner = usesysid) AS "isOwner"
       FROM pg_stat_activity JOIN pg_roles ON pg_roles.oid = usesysid WHERE application_name = 'animal-store-api'`,
    );
    await owner.end();
    expect(rows).toEqual([{ role: 'animal_store_service', isSuperuser: false, isOwner: false }]);
    expect(await stop(service, 'SIGTERM')).toBe(0);
  });

  it('keeps the catalogue and the API key across a restart', async () => {
    const before = (await readFile(join(dataDir, 'api-key'), 'utf8')).trim();
    const service = await start();
    expect(service.apiKey).toBe(before);
    expect(JSON.parse(await runInShell(service.commands[0]))).toMatchObject([{ name: 'Rex' }]);
    expect(await stop(service, 'SIGTERM')).toBe(0);
  });

  it('recovers after kill -9', async () => {
    const killed = await start();
    await runInShell(killed.commands[1]);
    await kill(killed.child);
    expect(await processesOf(dataDir)).not.toEqual([]);

    const service = await start();
    expect(JSON.parse(await runInShell(service.commands[0]))).toHaveLength(2);
    await stop(service, 'SIGTERM');
  });

  it('responds with 503 if PostgreSQL dies, and recovers with the next start', async () => {
    const service = await start();
    const status = async () => (await fetch(`${service.url}/pets`, { headers: { authorization: `Bearer ${service.apiKey}` } })).status;
    expect(await status()).toBe(200);
    const [pid] = (await readFile(join(dataDir, 'postgres', 'postmaster.pid'), 'utf8')).split('\n');
    process.kill(Number(pid), 'SIGKILL');
    await waitFor(async () => expect(await status()).toBe(503));
    expect(await stop(service, 'SIGTERM')).toBe(0);

    const next = await start();
    expect(JSON.parse(await runInShell(next.commands[0]))).toHaveLength(2);
    expect(await stop(next, 'SIGTERM')).toBe(0);
  });

  it.each([
    ['is missing', (file: string) => rm(file)],
    [
      'has a key that is not in the database',
      (file: string) => writeFile(file, 'ast_local_0000000000000000000000000000000000000000000000000\n'),
    ],
  ])('creates another API key if the file %s', async (_case, damage) => {
    const file = join(dataDir, 'api-key');
    const before = (await readFile(file, 'utf8')).trim();
    await damage(file);
    await chmod(file, 0o644).catch(() => undefined);
    const service = await start();
    expect(service.apiKey).not.toBe(before);
    expect(JSON.parse(await runInShell(service.commands[0]))).toHaveLength(2);
    expect((await stat(file)).mode & 0o777).toBe(0o600);
    await stop(service, 'SIGTERM');
  });

  it('stops if its parent npm is gone', async () => {
    const shell = spawn('sh', ['-c', `"${process.execPath}" "${RUN}" start; true`], { env: environment({ npm_lifecycle_event: 'start' }) });
    children.push(shell);
    await waitForWelcome(shell);
    await kill(shell);
    await waitFor(async () => expect(await processesOf(dataDir)).toEqual([]));
  });

  it('uses the database of DATABASE_URL and prints how to create a key', async () => {
    const database = await createTestDatabase();
    const unused = join(temporary, 'unused');
    const service = await start({ DATABASE_URL: database.url, DATA_DIR: unused });
    expect(service.output).toContain('npm run animal-store -- keys create --client');
    expect((await fetch(`${service.url}/pets`)).status).toBe(401);
    expect(await stop(service, 'SIGTERM')).toBe(0);
    await expect(access(unused)).rejects.toThrow();
    await database.drop();
  });
});

describe('npm start reports in one line', () => {
  it('that the data folder is in use', async () => {
    const service = await start();
    expect(await runFailingStart()).toEqual({
      exitCode: 1,
      stdout: '',
      stderr: `The data folder ${dataDir} is in use by process ${service.child.pid}.\n`,
    });
    await stop(service, 'SIGTERM');
  });

  it('that the port is taken', async () => {
    const other = createServer().listen(0, '127.0.0.1');
    await once(other, 'listening');
    const { port } = other.address() as { port: number };
    const { exitCode, stdout, stderr } = await runFailingStart({ PORT: String(port) });
    expect({ exitCode, stdout }).toEqual({ exitCode: 1, stdout: '' });
    expect(stderr).toMatch(new RegExp(`^Port ${port} .*\\n$`));
    expect(await processesOf(dataDir)).toEqual([]);
    other.close();
  });

  it('an invalid value, without its control characters', async () => {
    const { stderr } = await runFailingStart({ DATA_DIR: '/dev/null/\u001b[31m' });
    expect(stderr).toMatch(/^The data folder \/dev\/null\/\\x1b\[31m .*\n$/);
  });

  it('which variable is invalid, before anything is started', async () => {
    const untouched = join(temporary, 'untouched');
    const { exitCode, stdout, stderr } = await runFailingStart({ PORT: 'many', DATA_DIR: untouched });
    expect({ exitCode, stdout }).toEqual({ exitCode: 1, stdout: '' });
    expect(stderr).toMatch(/^PORT .*\n$/);
    await expect(access(untouched)).rejects.toThrow();
  });

  it('that the data folder cannot be used', async () => {
    const file = join(temporary, 'file');
    await writeFile(file, '');
    expect(await runFailingStart({ DATA_DIR: file })).toEqual({
      exitCode: 1,
      stdout: '',
      stderr: `The data folder ${file} cannot be used: EEXIST: file already exists, mkdir '${file}'.\n`,
    });
  });

  it.each([
    [
      'DATABASE_URL is not percent-encoded',
      { DATABASE_URL: 'postgres://user:se%zzcret@localhost/none' },
      /^DATABASE_URL must be percent-encoded; .*\n$/,
    ],
    ['the database has no TLS', { sslmode: 'require' }, /^The database at \S+ cannot be reached: the server does not support TLS, .*\n$/],
    ['HOST is not an address', { HOST: 'host.invalid' }, /^HOST host\.invalid cannot be used: .*\n$/],
  ])('that %s', async (_what, { sslmode, ...variables }: Record<string, string>, expected) => {
    const database = await createTestDatabase();
    const url = sslmode === undefined ? database.url : `${database.url}?sslmode=${sslmode}`;
    const { exitCode, stdout, stderr } = await runFailingStart({ DATABASE_URL: url, ...variables });
    expect({ exitCode, stderr }).toEqual({ exitCode: 1, stderr: expect.stringMatching(expected) });
    expect(stdout).not.toContain('Animal Store');
    expect(stderr).not.toContain('secret');
    await database.drop();
  });

  it('that the database of DATABASE_URL cannot be reached, and waits for it', async () => {
    const service = await start({ DATABASE_URL: 'postgres://user:secret@127.0.0.1:1/none' });
    expect(service.output).toContain('The database at 127.0.0.1:1 cannot be reached: connect ECONNREFUSED 127.0.0.1:1; retrying');
    expect(service.output).not.toContain('secret');
    expect(await stop(service, 'SIGINT')).toBe(0);
  });
});

interface Started {
  readonly child: ChildProcess;
  /** The output up to the end of the welcome text. */
  readonly output: string;
  /** http://localhost:3000/v1 */
  readonly url: string;
  readonly apiKey: string;
  readonly commands: readonly [list: string, add: string];
}

async function start(variables: Record<string, string> = {}): Promise<Started> {
  const child = spawn(process.execPath, [RUN, 'start'], { env: environment(variables) });
  children.push(child);
  child.stderr.resume();
  const output = await waitForWelcome(child);
  const field = (name: string) => new RegExp(`^ *${name} +(\\S.*)$`, 'm').exec(output)?.[1] ?? '';
  const commands = [...output.matchAll(/^ *(curl .*)$/gm)].map(([, command = '']) => command);
  return { child, output, url: field('Address'), apiKey: field('API key'), commands: commands as [string, string] };
}

/** Resolves to the output when the welcome text is complete. */
async function waitForWelcome(child: ChildProcess): Promise<string> {
  let output = '';
  child.stdout?.setEncoding('utf8');
  await new Promise<void>((resolve, reject) => {
    child.stdout?.on('data', (chunk: string) => {
      output += chunk;
      if (output.includes('Ctrl-C stops')) resolve();
    });
    child.once('exit', () => reject(new Error(`the service exited: ${output}`)));
  });
  return output;
}

/** Runs a start that fails. Resolves when it has exited. */
async function runFailingStart(
  variables: Record<string, string> = {},
): Promise<{ exitCode: number | null; stdout: string; stderr: string }> {
  const child = spawn(process.execPath, [RUN, 'start'], { env: environment(variables), stdio: ['ignore', 'pipe', 'pipe'] });
  children.push(child);
  const [stdout, stderr] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'exit')]);
  return { exitCode: child.exitCode, stdout, stderr };
}

function environment(variables: Record<string, string>): NodeJS.ProcessEnv {
  const { PATH } = process.env;
  return { PATH, DATA_DIR: dataDir, PORT: '0', ...variables };
}

async function runInShell(command: string): Promise<string> {
  const { stdout } = await promisify(execFile)('sh', ['-c', command]);
  return stdout;
}

async function stop({ child }: Started, signal: NodeJS.Signals): Promise<number | null> {
  const exit = once(child, 'exit');
  child.kill(signal);
  await exit;
  return child.exitCode;
}

async function kill(child: ChildProcess): Promise<void> {
  const exit = once(child, 'exit');
  child.kill('SIGKILL');
  await exit;
}

function isRunning(child: ChildProcess): boolean {
  return child.exitCode === null && child.signalCode === null;
}

async function processesOf(folder: string): Promise<string[]> {
  const { stdout } = await promisify(execFile)('ps', ['-axww', '-o', 'command=']);
  return stdout.split('\n').filter((command) => command.includes('postgres') && command.includes(folder));
}
