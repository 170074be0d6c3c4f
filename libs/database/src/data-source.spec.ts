import { waitFor } from '@animal-store/local-postgres/testing';
import { describe, expect, it } from '@jest/globals';
import { type CustomTypesConfig, types } from 'pg';
import type { EntitySchema } from 'typeorm';
import { connect, createDataSource, type DatabaseOptions, isCitusOn, persistenceOf, replicasOf, targetOf, urlOf } from './data-source.js';
import { DatabaseClient } from './database-client.js';
import { DatabasePool } from './database-pool.js';
import { FakeServer } from './testing/fake-server.js';

const url = 'postgres://store@db.example/catalogue';
const create = (options: Partial<DatabaseOptions> = {}) =>
  createDataSource({ url, applicationName: 'spec', poolSize: 3, persistence: [], ...options });

/** The options that TypeORM passes to the pool. */
const poolOptions = (options: Partial<DatabaseOptions> = {}) => create(options).options.extra as Record<string, unknown>;

describe('createDataSource', () => {
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
      url,
      applicationName: 'spec',
      poolSize: 3,
      connectTimeoutMS: 5_000,
      logging: false,
      entities: [Thing],
      migrations: [CreateThings1763683200000],
      schema: 'public',
      migrationsTableName: 'schema_migrations',
      migrationsTransactionMode: 'each',
      installExtensions: false,
      driver: { Pool: DatabasePool },
    });
    expect((options as unknown as { poolErrorHandler: (error: Error) => unknown }).poolErrorHandler(new Error('lost'))).toBeUndefined();
    expect(create({ connectTimeoutMs: 7 }).options).toMatchObject({ connectTimeoutMS: 7 });
    expect(poolOptions()).toEqual({
      Client: DatabaseClient,
      types: expect.anything(),
      keepAlive: true,
      url,
      citus: false,
      persistence: [],
      subscriptions: [],
    });
  });

  it('reads int8 as bigint, and other types as `pg` does', () => {
    const { getTypeParser } = poolOptions()['types'] as Required<CustomTypesConfig>;
    expect((getTypeParser(types.builtins.INT8, 'text') as (text: string) => unknown)('9223372036854775807')).toBe(2n ** 63n - 1n);
    expect((getTypeParser(types.builtins.INT8) as (text: string) => unknown)('-1')).toBe(-1n);
    expect(getTypeParser(types.builtins.INT8, 'binary')).toBe(types.getTypeParser(types.builtins.INT8, 'binary'));
    expect(getTypeParser(types.builtins.INT4, 'text')).toBe(types.getTypeParser(types.builtins.INT4, 'text'));
    expect(getTypeParser(types.builtins.INT4, 'binary')).toBe(types.getTypeParser(types.builtins.INT4, 'binary'));
  });

  it.each<[Partial<DatabaseOptions>, object]>([
    [{}, {}],
    [{ statementTimeoutMs: 0 }, {}],
    [{ statementTimeoutMs: 1 }, { query_timeout: 1_001, statement_timeout: 1 }],
    [{ statementTimeoutMs: 2_000 }, { query_timeout: 3_000, statement_timeout: 2_000 }],
    [{ statementTimeoutMs: 2_000, preparedStatements: false }, { query_timeout: 3_000 }],
  ])('with %j has the timeouts %j', (options, timeouts) => {
    const { query_timeout, statement_timeout } = poolOptions(options) as Record<string, number>;
    const all = { query_timeout, statement_timeout };
    expect(all).toEqual(timeouts);
  });

  it('has another client if prepared statements are off', () => {
    expect(poolOptions({ preparedStatements: false })['Client']).not.toBe(DatabaseClient);
    expect(poolOptions({ preparedStatements: true })['Client']).toBe(DatabaseClient);
  });

  it('remembers the URL, whether tables are distributed, and the contexts', () => {
    const file = { file: '/run/secrets/url' };
    const persistence = [{ schema: 'things', entities: [], migrations: [] }];
    const dataSource = create({ url: file, citus: true, persistence });
    expect([urlOf(dataSource), isCitusOn(dataSource), persistenceOf(dataSource)]).toEqual([file, true, persistence]);
    expect('url' in dataSource.options).toBe(false);
    expect(isCitusOn(create())).toBe(false);
    expect(targetOf(create())).toMatchObject({ servers: [{ host: 'db.example', port: 5432 }], database: 'catalogue' });
  });

  it('has replicas only if it has URLs of replicas', async () => {
    expect(replicasOf(create())).toBeUndefined();
    expect(replicasOf(create({ replicaUrls: [] }))).toBeUndefined();
    const replicas = replicasOf(create({ replicaUrls: ['postgres://a,b:1/x', 'postgres://c/x'] }));
    expect([...(replicas?.problems ?? [])]).toEqual([
      ['a:5432,b:1', 'it is not connected yet'],
      ['c:5432', 'it is not connected yet'],
    ]);
    await replicas?.close();
  });

  it.each<[Partial<DatabaseOptions>, object]>([
    [{}, { connectionTimeoutMillis: 5_000, query_timeout: 5_000 }],
    [
      { connectTimeoutMs: 7, statementTimeoutMs: 10_000 },
      { connectionTimeoutMillis: 7, query_timeout: 11_000, statement_timeout: 10_000 },
    ],
  ])('with %j has pools of replicas with %j', (options, expected) => {
    const replicaUrl = 'postgres://replica.example/x';
    const replicas = replicasOf(create({ ...options, replicaUrls: [replicaUrl] })) as unknown as {
      replicas: readonly { pool: { options: object } }[];
    };
    expect(replicas.replicas.map(({ pool }) => pool.options)).toEqual([
      expect.objectContaining({ ...expected, url: replicaUrl, application_name: 'spec', max: 3, Client: DatabaseClient, keepAlive: true }),
    ]);
  });
});

it.each([
  ['its first statement', /^SELECT 1$/],
  ['the first statement of TypeORM', /version/],
])('connect() leaves no connection open if the server rejects %s', async (_what, rejects) => {
  const server = await FakeServer.start({ rejects });
  await expect(connect(create({ url: `postgres://store@${server.address}/catalogue` }))).rejects.toMatchObject({ code: '42501' });
  await waitFor(() => expect(server.connections).toBe(0));
  expect(server.sessions[0]).toMatchObject({ application_name: 'animal-store probe' });
  server.close();
});
