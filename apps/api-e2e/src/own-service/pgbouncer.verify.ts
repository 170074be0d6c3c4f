import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createTestDatabase, type TestDatabase } from '@animal-store/local-postgres/testing';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Client } from 'pg';
import { linksOf } from '../support/answers.js';
import { Api } from '../support/api.js';
import { DebianServer } from '../support/debian-server.js';
import { readPet, readPets } from '../support/json.js';
import { createKey, refusedStart, Service } from '../support/service.js';

// `npm run verify:pgbouncer`: not part of `npm test`, since there is no PgBouncer in the npm registry.

/** Fewer than the service's own pool, so that its connections take turns at the server's. */
const SERVER_CONNECTIONS = 3;
const PETS = 300;

const api = new Api();
let folder: string;
let database: TestDatabase;
let pooler: DebianServer;
let pooledUrl: string;
let service: Service;

beforeAll(async () => {
  database = await createTestDatabase();
  folder = await mkdtemp(join(tmpdir(), 'animal-store-pgbouncer-'));
  await chmod(folder, 0o755);
  pooler = await DebianServer.start({ program: 'pgbouncer', args: async (port) => [await configure(port)] });
  pooledUrl = `postgres://anybody@127.0.0.1:${pooler.port}${new URL(database.url).pathname}`;
  service = await Service.start(pooledUrl, { DATABASE_PREPARED: 'off', MIGRATION_DATABASE_URL: database.url, RATE_LIMIT: '0' });
  api.open({ baseUrl: service.url, key: (await createKey(database.url, 'suite')).key });
});

afterAll(async () => {
  api.close();
  await service.stop();
  await pooler.stop();
  await rm(folder, { recursive: true });
  await database.drop();
});

async function configure(port: number): Promise<string> {
  const server = new URL(database.url);
  const file = join(folder, 'pgbouncer.ini');
  const lines = [
    '[databases]',
    `* = host=${server.hostname} port=${server.port} user=${server.username} password=${server.password}`,
    '[pgbouncer]',
    'listen_addr = 127.0.0.1',
    `listen_port = ${port}`,
    'unix_socket_dir =',
    'auth_type = any',
    'pool_mode = transaction',
    `default_pool_size = ${SERVER_CONNECTIONS}`,
  ];
  await writeFile(file, lines.join('\n'));
  return file;
}

async function query(url: string, text: string): Promise<unknown[]> {
  const client = new Client({ connectionString: url });
  await client.connect();
  try {
    return (await client.query<object>(text)).rows;
  } finally {
    await client.end();
  }
}

describe('behind a pooler in transaction mode, with DATABASE_PREPARED=off', () => {
  it('animals are added, fetched and listed, many at once', async () => {
    const created = await Promise.all(Array.from({ length: PETS }, (_, n) => api.createPet({ name: `Pet ${n}` })));
    const fetched = await Promise.all(created.map(({ id }) => api.get(`/v1/pets/${id}`)));
    expect(fetched.map(({ text }) => readPet(text))).toEqual(created);
    const listed = [];
    for (let link: string | undefined = '/v1/pets?limit=100'; link !== undefined;) {
      const page = await api.follow(link);
      listed.push(...readPets(page.text));
      [link] = linksOf(page, 'next');
    }
    expect(new Set(listed.map(({ id }) => id))).toEqual(new Set(created.map(({ id }) => id)));
  });

  it('an idempotency key holds', async () => {
    const headers = { 'idempotency-key': '"once"' };
    const answers = await Promise.all(Array.from({ length: 50 }, () => api.create('{"name":"Once","categoryId":7}', { headers })));
    expect(new Set(answers.map(({ status, text }) => `${status} ${text}`)).size).toBe(1);
    expect(answers.filter(({ headers: answered }) => answered['idempotent-replayed'] === undefined)).toHaveLength(1);
  });

  it('the service shares the connections of the pooler, and leaves no statement on them', async () => {
    const sessions = await query(database.url, `SELECT 1 FROM pg_stat_activity WHERE application_name = 'animal-store-api'`);
    expect(sessions.length).toBeLessThanOrEqual(SERVER_CONNECTIONS);
    for (let i = 0; i < SERVER_CONNECTIONS; i++) expect(await query(pooledUrl, 'SELECT name FROM pg_prepared_statements')).toEqual([]);
  });

  it('migrations go round it', async () => {
    const nowhere = { DATABASE_URL: pooledUrl, DATABASE_PREPARED: 'off', MIGRATION_DATABASE_URL: 'postgres://localhost:1/nowhere' };
    expect(await refusedStart(nowhere)).toMatchObject({ exitCode: 1 });
  });
});

it('without DATABASE_PREPARED=off the service does not start, and says what the pooler has against it', async () => {
  const { exitCode, output } = await refusedStart({ DATABASE_URL: pooledUrl, MIGRATION_DATABASE_URL: database.url });
  expect(exitCode).toBe(1);
  expect(output).toContain('statement_timeout');
});
