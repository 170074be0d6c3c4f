import { waitFor } from '@animal-store/local-postgres/testing';
import { describe, expect, it } from '@jest/globals';
import pg from 'pg';
import { DataSource } from 'typeorm';
import type { DatabasePool } from './connection/database-pool.js';
import { Database, type DatabaseOptions } from './database.js';
import { FakeServer } from './testing/fake-server.js';

const url = 'postgres://store@db.example/catalogue';
const create = (options: Partial<DatabaseOptions> = {}) =>
  new Database({ url, applicationName: 'spec', poolSize: 3, persistence: [], ...options });

describe('a Database', () => {
  it('belongs to the objects of TypeORM that it creates', () => {
    const database = create();
    expect(Database.of(database.manager)).toBe(database);
    const { manager } = new DataSource({ type: 'postgres', driver: pg });
    expect(() => Database.of(manager)).toThrow(new TypeError('The DataSource must be a Database of @animal-store/database.'));
  });

  it('has replicas only if it has URLs of replicas', async () => {
    expect(create().replicas).toBeUndefined();
    expect(create({ replicaUrls: [] }).replicas).toBeUndefined();
    const replicas = create({ replicaUrls: ['postgres://a:1/x', 'postgres://c/x'] }).replicas;
    expect([...(replicas?.problems ?? [])]).toEqual([
      ['a:1', 'it is not connected yet'],
      ['c:5432', 'it is not connected yet'],
    ]);
    await replicas?.close();
  });

  it.each([
    ['by default', {}, 5_000],
    ['without a statement timeout', { statementTimeoutMs: 0 }, 5_000],
    ['with a statement timeout', { statementTimeoutMs: 2_000 }, 3_000],
  ])('gives up a statement on a replica that does not respond, %s', async (_when, options, timeoutMs) => {
    const { replicas } = create({ replicaUrls: ['postgres://a/x'], ...options });
    const [{ pool }] = (replicas as unknown as { readonly replicas: readonly [{ readonly pool: DatabasePool }] }).replicas;
    expect(pool.options).toMatchObject({ query_timeout: timeoutMs });
    await replicas?.close();
  });
});

it.each([
  ['its first statement', /setting = 'off' ORDER BY/],
  ['the first statement of TypeORM', /version/],
])('connect() leaves no connection open if the server rejects %s', async (_what, rejects) => {
  const server = await FakeServer.start({ rejects });
  await expect(create({ url: `postgres://store@${server.address}/catalogue` }).connect()).rejects.toMatchObject({ code: '42501' });
  await waitFor(() => expect(server.connections).toBe(0));
  expect(server.sessions[0]).toMatchObject({ application_name: 'animal-store probe' });
  server.close();
});

it('initialize() leaves no connection open if the first statement of TypeORM fails', async () => {
  const server = await FakeServer.start({ rejects: /version/ });
  await expect(create({ url: `postgres://store@${server.address}/catalogue` }).initialize()).rejects.toMatchObject({ code: '42501' });
  expect(server.sessions).toHaveLength(1);
  await waitFor(() => expect(server.connections).toBe(0));
  server.close();
});
