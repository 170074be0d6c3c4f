import { waitFor } from '@animal-store/local-postgres/testing';
import { describe, expect, it } from '@jest/globals';
import pg from 'pg';
import { DataSource, type EntitySchema } from 'typeorm';
import { Database, type DatabaseOptions } from './database.js';
import { DatabaseClient } from './connection/database-client.js';
import type { DatabasePool } from './connection/database-pool.js';
import { FakeServer } from './testing/fake-server.js';

const url = 'postgres://store@db.example/catalogue';
const create = (options: Partial<DatabaseOptions> = {}) =>
  new Database({ url, applicationName: 'spec', poolSize: 3, persistence: [], ...options });

/** Creates the pool like TypeORM. */
const createPool = (options: Partial<DatabaseOptions> = {}) => {
  const { driver } = create(options).options as unknown as { driver: { Pool: new () => DatabasePool } };
  return new driver.Pool();
};
const poolOptions = (options: Partial<DatabaseOptions> = {}) => createPool(options).options as unknown as Record<string, unknown>;

describe('a Database', () => {
  it('passes its options to TypeORM and the pool', () => {
    class Thing {}
    class CreateThings1763683200000 {
      up = () => Promise.resolve();
      down = () => Promise.resolve();
    }
    const persistence = [{ schema: 'things', entities: [Thing as unknown as EntitySchema], migrations: [CreateThings1763683200000] }];
    const { options } = create({ persistence });
    expect(options).toMatchObject({
      type: 'postgres',
      logging: false,
      entities: [Thing],
      migrations: [CreateThings1763683200000],
      schema: 'public',
      migrationsTableName: 'schema_migrations',
      migrationsTransactionMode: 'each',
      installExtensions: false,
    });
    expect((options as unknown as { poolErrorHandler: (error: Error) => unknown }).poolErrorHandler(new Error('lost'))).toBeUndefined();
    expect(poolOptions({ connectTimeoutMs: 7 })).toMatchObject({ connectionTimeoutMillis: 7 });
    expect(poolOptions()).toMatchObject({
      Client: DatabaseClient,
      url,
      application_name: 'spec',
      max: 3,
      connectionTimeoutMillis: 5_000,
    });
  });

  it.each<[Partial<DatabaseOptions>, object]>([
    [{}, {}],
    [{ statementTimeoutMs: 0 }, { statementTimeoutMs: 0 }],
    [{ statementTimeoutMs: 1 }, { query_timeout: 1_001, statementTimeoutMs: 1 }],
  ])('with %j has the timeouts %j', (options, timeouts) => {
    const { query_timeout, statementTimeoutMs } = poolOptions(options) as Record<string, number>;
    const all = { query_timeout, statementTimeoutMs };
    expect(all).toEqual(timeouts);
  });

  it('belongs to the objects of TypeORM that it creates', () => {
    const database = create();
    expect(Database.of(database.manager)).toBe(database);
    const { manager } = new DataSource({ type: 'postgres', driver: pg });
    expect(() => Database.of(manager)).toThrow(new TypeError('The DataSource must be a Database of @animal-store/database.'));
  });

  it('passes its observer to the pool and to replicas', async () => {
    const observer = { executed: () => undefined };
    expect([createPool().observer, createPool({ observer }).observer]).toEqual([undefined, observer]);
    const { replicas } = create({ observer, replicaUrls: ['postgres://a/x'] });
    expect(replicas?.observer).toBe(observer);
    await replicas?.close();
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

  it.each<[Partial<DatabaseOptions>, object]>([
    [{}, { connectionTimeoutMillis: 5_000, query_timeout: 5_000 }],
    [
      { connectTimeoutMs: 7, statementTimeoutMs: 10_000 },
      { connectionTimeoutMillis: 7, query_timeout: 11_000, statementTimeoutMs: 10_000 },
    ],
  ])('with %j has pools of replicas with %j', (options, expected) => {
    const replicaUrl = 'postgres://replica.example/x';
    const replicas = create({ ...options, replicaUrls: [replicaUrl] }).replicas as unknown as {
      replicas: readonly { pool: { options: object } }[];
    };
    expect(replicas.replicas.map(({ pool }) => pool.options)).toEqual([
      expect.objectContaining({ ...expected, url: replicaUrl, application_name: 'spec', max: 3, Client: DatabaseClient }),
    ]);
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
