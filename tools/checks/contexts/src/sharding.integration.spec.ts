import { type AccessUseCases, createAccessUseCases } from '@animal-store/access-infrastructure';
import { type Context, contexts } from '@animal-store/api/contexts';
import { startTestApp, type TestApp } from '@animal-store/api/testing/test-app';
import {
  BatchedRepository,
  Database,
  distributedTables,
  type EntityWithId,
  ExpireIdempotencyKeys,
  migrateUp,
} from '@animal-store/database';
import { createTestDatabase, waitFor } from '@animal-store/local-postgres/testing';
import { petsContext } from '@animal-store/pets-http';
import { useDatabase } from '@animal-store/test-kit';
import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { Client } from 'pg';
import type { DataSource } from 'typeorm';
import { shardingViolations, type ShardColumns } from './sharding-rules.js';

/** The distributed tables of the catalogue. */
const SHARDS: ShardColumns = new Map([
  ['pets.pets', 'id'],
  ['pets.idempotency_keys', 'key'],
]);

let service: TestApp;
let dataSource: Database;
let sent: ReadonlySet<string>;
let shards: ShardColumns;
let shardsOfPets: ShardColumns;

const NOTES_USE = /UPDATE access\.api_keys SET last_used_at/;

/** Returns a quoted name as PostgreSQL displays it. */
const shown = (name: string) => name.replaceAll(/"([a-z_][a-z0-9_]*)"/g, '$1');

beforeAll(async () => {
  sent = recordStatements();
  await migrateEmptyDatabase();
  // The service rejects subscriptions with CITUS=on. The statements of the operations are checked without them.
  for (const context of contexts) if (context.subscriptions) jest.replaceProperty(context, 'subscriptions', []);
  // Without the extension, tables are not distributed, but the service sends the statements for distributed tables.
  service = await startTestApp({ env: { CITUS: 'on', RATE_LIMIT: '0' } });
  dataSource = service.app.get(Database);
  shards = new Map(distributedTables(dataSource).map(({ name, column }) => [shown(name), column]));
  shardsOfPets = new Map([...shards].filter(([table]) => table.startsWith('pets.')));
  await useApi();
  await findSeveral();
  await new ExpireIdempotencyKeys(dataSource).execute();
  for (const use of Object.values(uses).flatMap(Object.values<Use>)) await use(createAccessUseCases(dataSource));
});

afterAll(() => service.close());

/** The database of the service is a copy of a migrated one. */
async function migrateEmptyDatabase(): Promise<void> {
  const database = await createTestDatabase();
  const persistence = contexts.map((context) => context.persistence);
  const opened = new Database({ url: database.url, applicationName: 'spec', poolSize: 1, persistence });
  await opened.initialize();
  await migrateUp(opened);
  await opened.destroy();
  await database.drop();
}

/** Sends requests to every operation of the catalogue: each creation also twice with a key, and each list also from a cursor on. */
async function useApi(): Promise<void> {
  const key = await service.createKey('pets:read', 'pets:write');
  const send = (path: string, init: RequestInit = {}, headers: Readonly<Record<string, string>> = {}) =>
    fetch(service.url + path, { ...init, headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json', ...headers } });
  for (const headers of [{}, {}, { 'idempotency-key': 'once' }, { 'idempotency-key': 'once' }]) {
    const response = await send('/v1/pets', { method: 'POST', body: '{"name":"Rex","categoryId":1}' }, headers);
    expect(response.status).toBe(201);
  }
  for (const filter of ['', '&status=available']) {
    const page = await send(`/v1/pets?limit=1${filter}`);
    const [, next = ''] = /<([^>]+)>; rel="next"/.exec(page.headers.get('link') ?? '') ?? [];
    expect([page.status, (await send(next)).status]).toEqual([200, 200]);
  }
  expect((await send('/v1/pets/1')).status).toBe(200);
  await fetch(`${service.url}/health/ready`);
}

/** The first call runs alone, the others share a statement. */
async function findSeveral(): Promise<void> {
  const tables = [...shards].filter(([, column]) => column === 'id').map(([name]) => name);
  for (const { target } of dataSource.entityMetadatas.filter(({ tablePath }) => tables.includes(tablePath))) {
    const rows = new BatchedRepository<EntityWithId>(dataSource.getRepository(target));
    await Promise.all([1n, 2n, 3n].map((id) => rows.findById(id)));
  }
}

type Use = (access: AccessUseCases) => Promise<unknown>;

/** All uses of API keys, clients and the audit trail. The type requires that new ones are added. */
const uses: { readonly [Name in keyof AccessUseCases]: Readonly<Record<keyof AccessUseCases[Name], Use>> } = {
  manageApiKeys: {
    create: async ({ manageApiKeys }) => {
      await manageApiKeys.create({ clientName: 'acme', environment: 'test', scopes: ['pets:read'] });
    },
    list: ({ manageApiKeys }) => manageApiKeys.list('acme'),
    rotate: async ({ manageApiKeys }) => {
      const [listed] = await manageApiKeys.list('acme');
      await manageApiKeys.rotate(listed?.key.id ?? 0n);
    },
    revoke: async ({ manageApiKeys }) => {
      const [listed] = await manageApiKeys.list('acme');
      await manageApiKeys.revoke(listed?.key.id ?? 0n);
    },
    listAudit: ({ manageApiKeys }) => manageApiKeys.listAudit(1),
  },
  manageClients: {
    list: ({ manageClients }) => manageClients.list(),
    disable: ({ manageClients }) => manageClients.disable('acme'),
    enable: ({ manageClients }) => manageClients.enable('acme'),
    setRateLimit: ({ manageClients }) => manageClients.setRateLimit('acme', 7),
  },
  authenticateApiKey: {
    execute: async ({ manageApiKeys, authenticateApiKey }) => {
      const { secret } = await manageApiKeys.create({ clientName: 'other', environment: 'test', scopes: ['pets:read'] });
      await authenticateApiKey.execute(secret);
      // The use of a key is recorded in the background.
      await waitFor(() => expect([...sent].filter((sql) => NOTES_USE.test(sql))).not.toEqual([]));
    },
  },
};

describe('Citus', () => {
  it('distributes the tables of the catalogue, but not those of API keys', () => {
    expect(shardsOfPets).toEqual(SHARDS);
    expect([...shards.keys()].filter((table) => table.startsWith('access.'))).toEqual([]);
  });

  it('has all tables of a sharded context, except for its unsharded entities', async () => {
    expect(await undeclaredTables(dataSource, contexts)).toEqual([]);
  });

  it('can run every statement that the service sends', async () => {
    const violations: [string, string[]][] = [];
    for (const sql of sent) violations.push([sql, await shardingViolations(sql, shards)]);
    expect(violations.filter(([, found]) => found.length > 0)).toEqual([]);
  });

  it('gets the identifier with each insert', () => {
    const tables = [...shards]
      .filter(([, column]) => column === 'id')
      .map(([table]) => `"${table.replaceAll('"', '').replace('.', '"."')}"`);
    const inserts = [...sent].filter((sql) => tables.some((table) => sql.includes(`INSERT INTO ${table} (`)));
    expect(inserts).not.toEqual([]);
    expect(inserts.filter((sql) => !tables.some((table) => sql.includes(`INSERT INTO ${table} ("id", `)))).toEqual([]);
  });

  it('can distribute the tables with their constraints', async () => {
    expect(await constraintViolations(dataSource, shards)).toEqual([]);
  });
});

describe('finds a constraint that Citus rejects:', () => {
  const database = useDatabase(petsContext.persistence);

  it.each([
    ['ALTER TABLE pets.pets ADD CONSTRAINT pets_name_key UNIQUE (name)', 'pets.pets_name_key is unique across shards'],
    [
      'ALTER TABLE pets.idempotency_keys ADD CONSTRAINT keys_pet_id_fkey FOREIGN KEY (pet_id) REFERENCES pets.pets',
      'keys_pet_id_fkey of pets.idempotency_keys is a foreign key across shards',
    ],
  ])('%s', async (statement, violation) => {
    await database.dataSource.query(statement);
    const name = statement.split(' ')[5] ?? '';
    expect(await constraintViolations(database.dataSource, shardsOfPets)).toEqual([violation]);
    await database.dataSource.query(`ALTER TABLE ${statement.split(' ')[2] ?? ''} DROP CONSTRAINT ${name}`);
  });
});

it('finds a table that is neither distributed nor unsharded', async () => {
  await dataSource.query('CREATE TABLE pets.visits_per_day (day date PRIMARY KEY)');
  expect(await undeclaredTables(dataSource, contexts)).toEqual(['pets.visits_per_day is neither distributed nor in unsharded']);
  await dataSource.query('DROP TABLE pets.visits_per_day');
});

describe('shardingViolations finds', () => {
  it.each([
    ['FOR UPDATE without the shard column', `SELECT id FROM pets.pets WHERE status = 'sold' FOR UPDATE SKIP LOCKED`],
    ['FOR UPDATE without the shard column', `DELETE FROM pets.pets WHERE id IN (SELECT id FROM pets.pets LIMIT 5 FOR UPDATE)`],
    ['FOR UPDATE without the shard column', 'SELECT id FROM pets.pets WHERE id > $1 FOR NO KEY UPDATE'],
    ['a join of distributed tables', 'SELECT 1 FROM pets.idempotency_keys AS k LEFT JOIN pets.pets AS p ON p.id = k.pet_id'],
    ['a join of distributed tables', 'SELECT 1 FROM pets.pets, LATERAL (SELECT * FROM pets.idempotency_keys WHERE pet_id = pets.id) AS k'],
    [
      'LIMIT or OFFSET in a lateral subquery of a distributed table',
      'SELECT 1 FROM unnest($1::int[]) AS page CROSS JOIN LATERAL (SELECT count(*) FROM (SELECT id FROM pets.pets LIMIT page) AS p) AS list',
    ],
    [
      'LIMIT or OFFSET in a lateral subquery of a distributed table',
      'SELECT 1 FROM unnest($1::text[]) AS w (k) CROSS JOIN LATERAL (SELECT * FROM pets.idempotency_keys WHERE key = w.k OFFSET 0) AS r',
    ],
    ['a shard column compared with a subquery', 'SELECT name FROM pets.pets WHERE id = ANY ((SELECT $1::bigint[])::bigint[])'],
    ['a change of the shard column', 'UPDATE pets.pets SET id = 5 WHERE id = 4'],
    ['max() of identifiers', 'SELECT max(id) FROM pets.pets'],
    ['lastval() of identifiers', 'SELECT lastval() FROM pets.pets'],
    ['arithmetic with identifiers', 'SELECT id + 1 FROM pets.pets'],
    ['the order of RETURNING', `INSERT INTO pets.pets (name) VALUES ('a'), ('b') RETURNING id`],
    ['the order of RETURNING', 'INSERT INTO pets.pets (name) SELECT unnest($1::text[]) RETURNING id'],
    ['the order of RETURNING', 'WITH added AS (INSERT INTO pets.pets (name) SELECT unnest($1::text[]) RETURNING id) SELECT id FROM added'],
  ])('%s in %s', async (violation, sql) => {
    expect(await shardingViolations(sql, SHARDS)).toEqual([violation]);
  });
});

describe('shardingViolations allows', () => {
  it.each([
    'SELECT id FROM pets.pets WHERE id = $1 FOR UPDATE',
    'SELECT id FROM access.clients WHERE name = $1 FOR UPDATE',
    'SELECT id FROM pets.pets WHERE id = ANY ($1::bigint[])',
    'SELECT id FROM pets.pets WHERE id >= ($1::bigint[])[1] ORDER BY id LIMIT ($2::integer[])[1] + 1',
    'SELECT max(created_at) FROM pets.idempotency_keys',
    `INSERT INTO pets.pets (name) VALUES ('a') RETURNING id`,
    'WITH added AS (INSERT INTO pets.pets (name) SELECT unnest($1::text[]) RETURNING id) SELECT id FROM added ORDER BY id',
    'WITH added AS (INSERT INTO pets.pets (id) SELECT id FROM given RETURNING id) SELECT ordinal FROM given JOIN added ON added.id = given.id',
    'DELETE FROM pets.idempotency_keys WHERE (client_id, key) IN (SELECT client_id, key FROM pets.idempotency_keys ORDER BY created_at LIMIT 5)',
    'SELECT 1',
    'BEGIN',
  ])('%s', async (sql) => {
    expect(await shardingViolations(sql, SHARDS)).toEqual([]);
  });
});

/** Records the text of every statement that this process sends from now on. */
function recordStatements(): ReadonlySet<string> {
  const texts = new Set<string>();
  const prototype = Client.prototype as unknown as { query: (this: Client, ...args: unknown[]) => unknown };
  const { query } = prototype;
  prototype.query = function (...args) {
    const [statement] = args as [string | { text: string }];
    texts.add(typeof statement === 'string' ? statement : statement.text);
    return query.apply(this, args);
  };
  return texts;
}

/** Returns the tables of sharded contexts that are neither distributed nor declared as unsharded, such as those without an entity. */
async function undeclaredTables(dataSource: Database, contexts: readonly Pick<Context, 'persistence'>[]): Promise<string[]> {
  const sharded = contexts.map(({ persistence }) => persistence).filter((persistence) => persistence.sharded !== false);
  const tables = await dataSource.query<{ name: string }[]>(
    `SELECT format('%I.%I', schemaname, tablename) AS name FROM pg_tables WHERE schemaname = ANY ($1) ORDER BY 1`,
    [sharded.map(({ schema }) => schema)],
  );
  const distributed = new Set(distributedTables(dataSource).map(({ name }) => shown(name)));
  const unsharded = sharded.flatMap((persistence) => persistence.unsharded ?? []);
  const declared = new Set(unsharded.map((entity) => dataSource.getMetadata(entity).tablePath));
  const isDeclared = (name: string) => distributed.has(name) || declared.has(name.replaceAll('"', ''));
  return tables.filter(({ name }) => !isDeclared(name)).map(({ name }) => `${name} is neither distributed nor in unsharded`);
}

/** Returns the constraints with which Citus cannot distribute the tables: uniqueness and foreign keys across shards. */
async function constraintViolations(dataSource: DataSource, shards: ShardColumns): Promise<string[]> {
  const tables = [...shards.keys()];
  const unique = await dataSource.query<{ index: string; table: string; columns: string[] }[]>(
    `SELECT indexrelid::regclass::text AS index, indrelid::regclass::text AS table,
       ARRAY (SELECT attname::text FROM pg_attribute WHERE attrelid = indrelid AND attnum = ANY (indkey)) AS columns
     FROM pg_index WHERE (indisunique OR indisexclusion) AND indrelid = ANY ($1::text[]::regclass[]) ORDER BY 1`,
    [tables],
  );
  const references = await dataSource.query<{ name: string; table: string }[]>(
    `SELECT conname AS name, conrelid::regclass::text AS table FROM pg_constraint
     WHERE contype = 'f' AND (conrelid = ANY ($1::text[]::regclass[]) OR confrelid = ANY ($1::text[]::regclass[])) ORDER BY 1`,
    [tables],
  );
  return [
    ...unique
      .filter(({ table, columns }) => !columns.includes(shards.get(table) ?? ''))
      .map(({ index }) => `${index} is unique across shards`),
    ...references.map(({ table, name }) => `${name} of ${table} is a foreign key across shards`),
  ];
}
