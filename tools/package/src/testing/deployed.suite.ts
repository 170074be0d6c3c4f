import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { createServer as createHttpServer } from 'node:http';
import type { AddressInfo, Server } from 'node:net';
import { text } from 'node:stream/consumers';
import { createTestDatabase, findFreePort, type TestDatabase } from '@animal-store/local-postgres/testing';
import { ServiceProcess } from '@animal-store/test-kit/service-process';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { command, compose, healthCheck, nodeImage } from './container-files.js';

/** Starts a program of the deployed service in its folder or its image, with pipes and only these environment variables. */
export type Run = (command: readonly string[], env: Readonly<Record<string, string>>) => ChildProcess;

interface ProcessResult {
  readonly exitCode: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** Defines the tests of the deployed service, for its folder and its image. `terminate` sends SIGTERM to a service that `run` started. */
export function testDeployedService(run: Run, terminate: (service: { readonly pid: number }) => unknown): void {
  let database: TestDatabase;
  let env: Readonly<Record<string, string>>;
  let firstKey: ProcessResult;
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
    firstKey = await waitForExit(run(compose.services['first-key']?.command ?? [], env));
    key = /^ast_local_[0-9A-Za-z]{49}$/m.exec(firstKey.stdout)?.[0] ?? '';
    service = await new ServiceProcess(run(command, env)).waitUntilListening();
  });

  afterAll(async () => {
    await service.kill();
    collector.close();
    await database.drop();
  });

  it('runs on the Node.js that the Dockerfile names', async () => {
    const { stdout } = await waitForExit(run(['node', '--version'], {}));
    expect(nodeImage).toContain(`:${stdout.trim().replace(/^v/, '')}-`);
  });

  it('has no PostgreSQL', async () => {
    const { exitCode, stderr } = await waitForExit(run(['animal-store', 'keys', 'list'], {}));
    expect(exitCode).toBe(1);
    expect(stderr).toContain('DATABASE_URL must be set');
  });

  it('creates and prints the first key of docker-compose.yml, once', async () => {
    expect(firstKey).toMatchObject({ exitCode: 0, stderr: '' });
    expect(key).not.toBe('');
    const again = await animalStore('keys', 'create', '--client', 'first', '--if-none', '--json');
    expect(JSON.parse(again.stdout)).toEqual({ created: false, client: 'first' });
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
    terminate(service);
    expect(await service.exit()).toBe(0);
    expect(await isHealthy()).toMatchObject({ exitCode: 1, stderr: '' });
    expect(new Set(traces)).toEqual(new Set(['/v1/traces']));
  });
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
