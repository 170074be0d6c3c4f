import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { query } from '@animal-store/local-postgres/testing';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { asRole, createKey, runAnimalStore, Service } from '../support/service.js';
import { NEW_PET } from '../support/json.js';

const PASSWORD = 'of-tests-only';
/** Roles belong to the whole server, so this file uses unique names. */
const NAME = `roles_${randomBytes(6).toString('hex')}`;
const [OWNER, SERVICE, KEYS] = [`${NAME}_owner`, `${NAME}_service`, `${NAME}_keys`];
/** Has what the administrator of a managed PostgreSQL has. */
const ADMINISTRATOR = `${NAME}_administrator`;
const TABLES = ['pets', 'idempotency_keys', 'clients', 'api_keys', 'audit_events', 'runs', 'schema_migrations'];

const superuser = process.env['TEST_POSTGRES_URL'] ?? '';
const urlOf = (database: string, role: string) => {
  const url = new URL(asRole(superuser, role, PASSWORD));
  url.pathname = `/${database}`;
  return url.href;
};
const asSuperuser = (sql: string, database = NAME) => {
  const url = new URL(superuser);
  url.pathname = `/${database}`;
  return query(url.href, sql);
};
const [owner, service, keys] = [urlOf(NAME, OWNER), urlOf(NAME, SERVICE), urlOf(NAME, KEYS)];

/** Returns the SQL statements of docs/deployment.md with the names of this file. */
function documentedStatements(): string[] {
  const page = readFileSync(new URL('../../../../docs/deployment.md', import.meta.url), 'utf8');
  const [, sql = ''] = /## Database roles[^]*?```sql\n([^]*?)```/.exec(page) ?? [];
  return sql
    .replaceAll('animal_store', NAME)
    .replaceAll('<password>', PASSWORD)
    .split(';')
    .filter((text) => text.trim());
}

/** What the command line printed. Does not depend on the database. */
let grants: string[];

async function grant(): Promise<void> {
  for (const statements of grants) await query(owner, statements);
}

beforeAll(async () => {
  const statements = documentedStatements();
  expect(statements).toHaveLength(7);
  await query(superuser, `CREATE ROLE ${ADMINISTRATOR} LOGIN CREATEROLE CREATEDB PASSWORD '${PASSWORD}'`);
  for (const statement of statements) await query(asRole(superuser, ADMINISTRATOR, PASSWORD), statement);
  // Shadows a function and the tables. The search_path omits `public`, so statements must name it.
  await asSuperuser(`CREATE SCHEMA hostile; GRANT ALL ON SCHEMA hostile TO PUBLIC;
    CREATE FUNCTION hostile.now() RETURNS timestamptz LANGUAGE plpgsql AS 'BEGIN RAISE EXCEPTION ''a hostile function was used''; END'`);
  for (const table of TABLES) await asSuperuser(`CREATE TABLE hostile.${table} (trap text); GRANT ALL ON hostile.${table} TO PUBLIC`);
  for (const role of [OWNER, SERVICE, KEYS]) await query(superuser, `ALTER ROLE ${role} SET search_path = hostile, pg_catalog`);
  await runAnimalStore(owner, 'migrate', 'up');
  grants = [await runAnimalStore(owner, 'grants', 'service', SERVICE), await runAnimalStore(owner, 'grants', 'keys', KEYS)];
  await grant();
});

afterAll(async () => {
  for (const database of [NAME, `${NAME}_bare`]) await query(superuser, `DROP DATABASE IF EXISTS ${database} WITH (FORCE)`);
  for (const role of [OWNER, SERVICE, KEYS, ADMINISTRATOR]) await query(superuser, `DROP ROLE IF EXISTS ${role}`);
});

describe('with the documented roles and a hostile search_path', () => {
  it('other sessions of the roles use its function', () =>
    expect(query(service, 'SELECT now()')).rejects.toThrow('a hostile function was used'));

  it('the service serves requests and the command line manages keys', async () => {
    const running = await Service.start(service, { MIGRATE_ON_START: 'false', MIGRATION_DATABASE_URL: owner });
    try {
      const { id, key } = await createKey(keys, 'acme');
      const headers = { Authorization: `Bearer ${key}`, 'Content-Type': 'application/json', 'Idempotency-Key': 'one' };
      const add = async () => (await fetch(`${running.url}/v1/pets`, { method: 'POST', headers, body: NEW_PET })).status;
      expect([await add(), await add()]).toEqual([201, 201]);
      const list = await fetch(`${running.url}/v1/pets`, { headers });
      expect([list.status, ((await list.json()) as unknown[]).length]).toEqual([200, 1]);
      expect((await fetch(`${running.url}/health/ready`)).status).toBe(200);
      for (const args of [
        ['keys', 'rotate', String(id)],
        ['keys', 'revoke', String(id)],
        ['clients', 'disable', 'acme'],
        ['clients', 'set-rate-limit', 'acme', '100'],
      ])
        await runAnimalStore(keys, ...args);
      const events = JSON.parse(await runAnimalStore(keys, 'keys', 'audit', '--json')) as { databaseRole: string }[];
      expect(events).toHaveLength(5);
      expect(new Set(events.map(({ databaseRole }) => databaseRole))).toEqual(new Set([KEYS]));
    } finally {
      await running.stop();
    }
  });

  it('nothing was read from or written to the hostile schema', async () => {
    for (const table of TABLES) expect(await asSuperuser(`SELECT * FROM hostile.${table}`)).toEqual([]);
    const [made] = (await asSuperuser(`SELECT count(*)::int AS tables FROM pg_tables WHERE schemaname = 'hostile'`)) as [
      { tables: number },
    ];
    expect(made.tables).toBe(TABLES.length);
  });

  const forbidden = /permission denied|must be owner/;

  it.each([
    `UPDATE pets.pets SET name = 'x'`,
    'DELETE FROM pets.pets',
    'TRUNCATE pets.pets',
    'DROP TABLE pets.pets',
    'ALTER TABLE pets.pets ADD COLUMN x text',
    'CREATE TABLE pets.more (x text)',
    'CREATE TABLE public.more (x text)',
    'CREATE TEMP TABLE more (x text)',
    'CREATE SCHEMA more',
    `UPDATE pets.idempotency_keys SET request = '{}'`,
    `INSERT INTO access.clients (name) VALUES ('x')`,
    'UPDATE access.clients SET disabled_at = NULL',
    'UPDATE access.api_keys SET revoked_at = NULL',
    'DELETE FROM access.api_keys',
    'SELECT * FROM access.audit_events',
    'DELETE FROM public.schema_migrations',
    'CREATE ROLE more',
  ])('the role of the service may not run: %s', (sql) => expect(query(service, sql)).rejects.toThrow(forbidden));

  it.each([
    'SELECT * FROM pets.pets',
    'SELECT * FROM pets.idempotency_keys',
    `UPDATE access.api_keys SET hash = ''`,
    `UPDATE access.clients SET name = 'x'`,
    'DELETE FROM access.clients',
    `UPDATE access.audit_events SET operator = 'x'`,
    'DELETE FROM access.audit_events',
    'TRUNCATE access.audit_events',
    `INSERT INTO access.audit_events (database_role, operator, action, client_id, client_name, details) VALUES ('x', 'x', 'create', 1, 'x', '{}')`,
    'CREATE TABLE access.more (x text)',
  ])('the role for keys may not run: %s', (sql) => expect(query(keys, sql)).rejects.toThrow(forbidden));

  it('grants can be repeated and revoke privileges that are not required', async () => {
    await query(owner, `GRANT DELETE ON pets.pets TO ${SERVICE}; GRANT UPDATE (name) ON pets.pets TO ${SERVICE}`);
    await query(owner, `GRANT USAGE ON SCHEMA pets TO ${KEYS}; GRANT SELECT ON pets.pets, public.schema_migrations TO ${KEYS}`);
    const revoked = [
      [service, 'DELETE FROM pets.pets WHERE false'],
      [service, `UPDATE pets.pets SET name = 'x' WHERE false`],
      [keys, 'SELECT id FROM pets.pets'],
      [keys, 'SELECT name FROM public.schema_migrations'],
    ] as const;
    for (const [role, sql] of revoked) await query(role, sql);
    await grant();
    for (const [role, sql] of revoked) await expect(query(role, sql)).rejects.toThrow(forbidden);
    const schemas = `SELECT nspname FROM pg_namespace WHERE nspname <> 'public' AND has_schema_privilege('${KEYS}', oid, 'USAGE')`;
    expect(await asSuperuser(`${schemas} AND nspowner = '${OWNER}'::regrole`)).toEqual([{ nspname: 'access' }]);
  });
});
