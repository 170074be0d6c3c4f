import { randomBytes } from 'node:crypto';
import { createTestDatabase, query, type TestDatabase } from '@animal-store/local-postgres/testing';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { Client } from 'pg';
import { grantStatements } from './grants.js';
import { missingPrivileges } from './missing-privileges.js';
import type { Persistence } from '../persistence.js';

/** Roles belong to the whole server, so the name is unique. */
const ROLE = `privileges_${randomBytes(6).toString('hex')}`;
const persistence: readonly Persistence[] = [
  { schema: 'shop "2"', entities: [], migrations: [] },
  {
    schema: 'own',
    entities: [],
    migrations: [],
    privileges: {
      service: [
        'SELECT, UPDATE (id, name) ON own.things',
        'USAGE ON SEQUENCE own.things_id_seq',
        'EXECUTE ON FUNCTION own.is_valid(text[])',
      ],
      keys: ['SELECT ON own.things', 'SELECT ON own.missing', 'UPDATE (missing) ON own.things', 'SELECT ON missing.things'],
    },
  },
];

let database: TestDatabase;
let client: Client;

beforeAll(async () => {
  database = await createTestDatabase();
  await query(
    database.url,
    `CREATE ROLE ${ROLE} LOGIN PASSWORD 'of-tests-only';
     CREATE TABLE public.schema_migrations (id integer);
     CREATE SCHEMA "shop ""2""";
     CREATE TABLE "shop ""2""".orders (id bigserial, name text);
     CREATE SCHEMA own;
     CREATE TABLE own.things (id bigserial, name text);
     CREATE FUNCTION own.is_valid(text[]) RETURNS boolean LANGUAGE sql AS 'SELECT true';
     REVOKE EXECUTE ON FUNCTION own.is_valid(text[]) FROM PUBLIC`,
  );
  const url = new URL(database.url);
  [url.username, url.password] = [ROLE, 'of-tests-only'];
  client = new Client({ connectionString: url.href });
  await client.connect();
});

afterAll(async () => {
  await client.end();
  await database.drop();
  await query(process.env['TEST_POSTGRES_URL'] ?? '', `DROP ROLE ${ROLE}`);
});

const missing = (purpose: 'service' | 'keys') => missingPrivileges(client, persistence, purpose);

it('lists the privileges that are not granted', async () => {
  expect(await missing('service')).toEqual([
    'SELECT ON public.schema_migrations',
    'USAGE ON SCHEMA "shop ""2"""',
    ...['SELECT', 'INSERT', 'UPDATE', 'DELETE'].map((privilege) => `${privilege} ON ALL TABLES IN SCHEMA "shop ""2"""`),
    'USAGE ON ALL SEQUENCES IN SCHEMA "shop ""2"""',
    'USAGE ON SCHEMA "own"',
    'SELECT ON own.things',
    'UPDATE (id, name) ON own.things',
    'USAGE ON SEQUENCE own.things_id_seq',
    'EXECUTE ON FUNCTION own.is_valid(text[])',
  ]);
  await query(database.url, `GRANT UPDATE (id) ON own.things TO ${ROLE}`);
  expect(await missing('service')).toContain('UPDATE (id, name) ON own.things');
});

it('is empty after the grants, and ignores what does not exist', async () => {
  await query(database.url, grantStatements(persistence, 'service', ROLE).join(';'));
  expect(await missing('service')).toEqual([]);
  expect(await missing('keys')).toEqual([]);
});

it('lists a privilege that one of the tables lacks', async () => {
  await query(database.url, `CREATE TABLE "shop ""2""".returns (); GRANT SELECT, INSERT, UPDATE ON "shop ""2""".returns TO ${ROLE}`);
  expect(await missing('service')).toEqual(['DELETE ON ALL TABLES IN SCHEMA "shop ""2"""']);
});

it('rejects syntax that it does not support', async () => {
  const other = [{ schema: 'own', entities: [], migrations: [], privileges: { service: ['USAGE ON DOMAIN own.name'] } }];
  await expect(missingPrivileges(client, other, 'service')).rejects.toThrow('GRANT USAGE ON DOMAIN own.name TO ""');
});
