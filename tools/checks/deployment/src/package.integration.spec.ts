import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { accessSync, constants, mkdtempSync, readdirSync, readFileSync, realpathSync, rmSync } from 'node:fs';
import { createServer as createHttpServer } from 'node:http';
import { isBuiltin } from 'node:module';
import type { AddressInfo, Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join, relative, sep } from 'node:path';
import { text } from 'node:stream/consumers';
import { createTestDatabase, findFreePort, type TestDatabase } from '@animal-store/local-postgres/testing';
import { ServiceProcess } from '@animal-store/test-kit/service-process';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { command, compose, healthCheck, WORKSPACE } from './testing/files.js';

interface ProcessResult {
  readonly exitCode: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** Outside the workspace, so that no import finds its node_modules. */
const folder = realpathSync(mkdtempSync(join(tmpdir(), 'animal-store-package-')));
const out = join(folder, 'service');

const read = (path: string) => readFileSync(join(out, path), 'utf8');
const filesOf = (path: string): string[] => {
  const files = readdirSync(path, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  return files.map(({ parentPath, name }) => relative(path, join(parentPath, name)).replaceAll(sep, '/')).sort();
};

const main = (...args: readonly string[]) =>
  spawnSync(process.execPath, [join(WORKSPACE, 'tools/checks/deployment/dist/write-package.js'), ...args], { encoding: 'utf8' });

beforeAll(() => expect(main('--out', out)).toMatchObject({ status: 0, stdout: `${out}\n` }));

afterAll(() => rmSync(folder, { recursive: true, force: true }));

describe('the packaged folder', () => {
  it('contains the bundles, Swagger UI and nothing else', () => {
    const files = filesOf(out);
    expect(files.filter((file) => !/^apps\/(?:api|cli)\/bundle\/[\w-]+\.js$/.test(file))).toEqual([
      'LICENSE',
      'THIRD-PARTY-LICENSES.txt',
      'apps/api/assets/docs.html',
      'apps/api/assets/docs.js',
      'bin/animal-store',
      ...['package.json', 'swagger-ui-bundle.js', 'swagger-ui.css'].map((name) => `node_modules/swagger-ui-dist/${name}`),
      'package.json',
      'sbom.cdx.json',
    ]);
    expect(files).toEqual(expect.arrayContaining(['apps/api/bundle/main.js', 'apps/cli/bundle/main.js']));
    expect(() => accessSync(join(out, 'bin/animal-store'), constants.X_OK)).not.toThrow();
  });

  it('imports no package', () => {
    // Allowed: optional packages that are not used, and imports in code that Ajv and fast-json-stringify could generate.
    const optional =
      /^(?:@nestjs\/(?:microservices|websockets|platform-express)|@fastify\/(?:static|multipart|view)|swagger-ui-dist)(?:\/|$)/;
    const others = /^(?:@node-rs\/xxhash|pg-native|pg-cloudflare|supports-color|class-transformer\/storage|@animal-store\/local-postgres)$/;
    const written = /^(?:ajv|ajv-formats|fast-json-stringify)\//;
    const bundles = filesOf(out).filter((file) => file.includes('/bundle/'));
    const imported = bundles.flatMap((file) =>
      [...read(file).matchAll(/(?:\bfrom |\bimport |\b(?:import|__require|require(?:\$\d+)?)\()["']([^"'./$][^"'$]*)["']/g)].map(
        ([, name = '']) => name,
      ),
    );
    expect(imported.length).toBeGreaterThan(30);
    expect(
      [...new Set(imported)].filter((name) => !isBuiltin(name) && ![optional, others, written].some((known) => known.test(name))),
    ).toEqual([]);
  });

  it('lists the packages of the bundles in its SBOM, each with its version and hash, and no address or path of a machine', () => {
    const { metadata, components } = JSON.parse(read('sbom.cdx.json')) as {
      metadata: object;
      components: readonly { name: string; version: string; purl: string; hashes: unknown[]; licenses: unknown[] }[];
    };
    expect(metadata).toMatchObject({ component: { name: 'animal-store', type: 'application' } });
    const names = components.map(({ name }) => name);
    expect(names).toEqual(expect.arrayContaining(['@nestjs/common', 'class-validator', 'fastify', 'pg', 'swagger-ui-dist', 'typeorm']));
    expect(names).not.toEqual(expect.arrayContaining(['typescript']));
    for (const { name, version, purl, hashes, licenses } of components) {
      expect(purl).toBe(`pkg:npm/${name.replace('@', '%40')}@${version}`);
      expect(hashes).toEqual([{ alg: 'SHA-512', content: expect.stringMatching(/^[0-9a-f]{128}$/) }]);
      expect(licenses).toHaveLength(1);
    }
    expect(read('sbom.cdx.json').replace('http://cyclonedx.org/schema/', '')).not.toMatch(/https?:|file:/);
    expect(read('sbom.cdx.json')).not.toContain(WORKSPACE);
  });

  it('has the licence of every package in its SBOM', () => {
    const { components } = JSON.parse(read('sbom.cdx.json')) as { components: readonly { 'bom-ref': string }[] };
    const licences = read('THIRD-PARTY-LICENSES.txt').split(`\n${'-'.repeat(80)}\n\n`);
    expect(licences.map((text) => text.slice(0, text.indexOf('\n'))).sort()).toEqual(components.map((found) => found['bom-ref']).sort());
    expect(licences.filter((text) => /MIT|Apache|BSD|ISC|Permission/.exec(text) === null)).toEqual([]);
  });

  it('does not overwrite any other folder', () => {
    const message = `${folder} is neither empty nor an earlier package. Empty it or choose another --out\n`;
    expect(main('--out', folder)).toMatchObject({ status: 1, stdout: '', stderr: message });
    expect(filesOf(out)).toContain('package.json');
  });
});

describe('the packaged service', () => {
  let database: TestDatabase;
  let env: Readonly<Record<string, string>>;
  let key: string;
  let service: ServiceProcess;
  const traces: (string | undefined)[] = [];
  const collector = createHttpServer((request, response) => {
    traces.push(request.url);
    response.end();
  });

  const animalStore = (...args: readonly string[]): Promise<ProcessResult> => waitForExit(run(['animal-store', ...args], env));
  const isHealthy = (): Promise<ProcessResult> => waitForExit(run(healthCheck, { PORT: String(service.port) }));

  beforeAll(async () => {
    database = await createTestDatabase();
    env = {
      NODE_ENV: 'test',
      DATABASE_URL: database.url,
      ENVIRONMENT: 'local',
      PORT: '0',
      MIGRATE_ON_START: 'false',
      DRAIN_SECONDS: '0',
      // Loads the optional parts: tracing, and the client of a Redis that does not exist.
      OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${await listen(collector)}`,
      REDIS_URL: `redis://127.0.0.1:${await findFreePort()}`,
    };
    expect(await animalStore('migrate', 'up')).toMatchObject({ exitCode: 0, stderr: '' });
    const firstKey = await waitForExit(run(compose.services['first-key']?.command ?? [], env));
    expect(firstKey).toMatchObject({ exitCode: 0, stderr: '' });
    key = /^ast_local_[0-9A-Za-z]{49}$/m.exec(firstKey.stdout)?.[0] ?? '';
    service = await new ServiceProcess(run(command, env)).waitUntilListening();
  });

  afterAll(async () => {
    await service.stop('SIGKILL');
    collector.close();
    await database.drop();
  });

  it('has no PostgreSQL', async () => {
    const stderr = 'error: DATABASE_URL must be set: this installation does not include PostgreSQL\n';
    expect(await waitForExit(run(['animal-store', 'keys', 'list'], {}))).toEqual({ exitCode: 1, stdout: '', stderr });
  });

  it('says which variable prevents its start, without an API key', async () => {
    const { exitCode, stdout, stderr } = await waitForExit(run(command, { DATABASE_URL_FILE: key }));
    expect({ exitCode, stdout }).toEqual({ exitCode: 1, stdout: '' });
    expect(stderr).toMatch(/^DATABASE_URL_FILE cannot be read: .*ast_local_\w{6}…'\n$/);
  });

  it('lists and adds animals', async () => {
    expect(await request(service, '/v1/pets', { key })).toEqual({ status: 200, text: '[]' });
    const added = await request(service, '/v1/pets', { key, body: { name: 'Rex', categoryId: 7 } });
    expect(added.status).toBe(201);
    expect(JSON.parse((await request(service, '/v1/pets', { key })).text)).toEqual([JSON.parse(added.text)]);
    expect((await request(service, '/v1/pets')).status).toBe(401);
  });

  it('serves /docs with everything it loads', async () => {
    const page = await request(service, '/docs');
    const parts = [...page.text.matchAll(/<(?:link|script|img)\b[^>]*\b(?:href|src)="([^":]+)"/g)];
    const assets = parts.map(([, part = '']) => new URL(part, 'http://localhost/docs').pathname);
    expect(assets.length).toBeGreaterThan(2);
    const statuses = await Promise.all([...assets, '/openapi.json'].map(async (part) => [part, (await request(service, part)).status]));
    expect(statuses.filter(([, status]) => status !== 200)).toEqual([]);
  });

  it('passes the health check of the Dockerfile until SIGTERM, exits with 0 and has sent its traces', async () => {
    expect(await isHealthy()).toMatchObject({ exitCode: 0, stderr: '' });
    process.kill(service.pid, 'SIGTERM');
    expect(await service.exit()).toBe(0);
    expect(await isHealthy()).toMatchObject({ exitCode: 1, stderr: '' });
    expect(new Set(traces)).toEqual(new Set(['/v1/traces']));
  });
});

/** Runs a program as in the image: the package is the working directory, and only the given variables are set. */
function run([program = '', ...args]: readonly string[], env: Readonly<Record<string, string>>): ChildProcess {
  const programs: Readonly<Record<string, readonly string[]>> = { node: [], 'animal-store': [join(out, 'bin/animal-store')] };
  const before = programs[program];
  if (!before) throw new Error(`${program} is not in the image`);
  return spawn(process.execPath, [...before, ...args], { cwd: out, env, stdio: ['ignore', 'pipe', 'pipe'] });
}

/** Resolves when a program has exited. */
async function waitForExit(child: ChildProcess): Promise<ProcessResult> {
  const output = Promise.all([child.stdout, child.stderr].map(async (stream) => (stream ? text(stream) : '')));
  const [exitCode] = (await once(child, 'close')) as [number | null];
  const [stdout = '', stderr = ''] = await output;
  return { exitCode, stdout, stderr };
}

/** Sends a request to the service, and returns the status and the text of the response. */
async function request(
  { url }: ServiceProcess,
  path: string,
  init: { key?: string; body?: unknown } = {},
): Promise<{ status: number; text: string }> {
  const response = await fetch(new URL(path, url), {
    headers: {
      ...(init.key && { authorization: `Bearer ${init.key}` }),
      ...(init.body !== undefined && { 'content-type': 'application/json' }),
    },
    ...(init.body !== undefined && { method: 'POST', body: JSON.stringify(init.body) }),
  });
  return { status: response.status, text: await response.text() };
}

async function listen(server: Server): Promise<number> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return (server.address() as AddressInfo).port;
}
