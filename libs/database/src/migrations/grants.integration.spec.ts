import { randomBytes } from 'node:crypto';
import { createTestDatabase, query, type TestDatabase } from '@animal-store/local-postgres/testing';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { grantStatements } from './grants.js';

/** Roles belong to the whole server, so the names are unique. */
const suffix = randomBytes(6).toString('hex');
const [databaseOwner, owner, member, indirect, superuser] = [
  `database_${suffix}`,
  `owner_${suffix}`,
  `member_${suffix}`,
  `indirect_${suffix}`,
  `super_${suffix}`,
] as const;
const odd = `odd "' \\ $$ ${suffix}`;
const roles = [databaseOwner, owner, member, indirect, superuser, odd].map((role) => `"${role.replaceAll('"', '""')}"`);
const persistence = [{ schema: `shop'"2"`, entities: [], migrations: [] }];
let database: TestDatabase;

const apply = (role: string) => query(database.url, grantStatements(persistence, 'service', role).join(';'));
const privileges = () =>
  query(
    database.url,
    `SELECT nspacl::text, (SELECT json_agg(relacl::text ORDER BY oid) FROM pg_class WHERE relnamespace = n.oid) AS tables FROM pg_namespace n
     WHERE nspname IN ('shop''"2"', 'public')`,
  );

beforeAll(async () => {
  database = await createTestDatabase();
  await query(
    database.url,
    roles.map((role) => `CREATE ROLE ${role}`).join(';'),
    `ALTER ROLE ${superuser} SUPERUSER; GRANT ${owner} TO ${member}; GRANT ${member} TO ${indirect};
     ALTER DATABASE ${new URL(database.url).pathname.slice(1)} OWNER TO ${databaseOwner};
     CREATE SCHEMA "shop'""2""";
     CREATE TABLE public.schema_migrations (id integer);
     CREATE TABLE "shop'""2""".orders (id bigserial);
     ALTER TABLE "shop'""2""".orders OWNER TO ${owner};`,
  );
});

afterAll(async () => {
  await database.drop();
  await query(process.env['TEST_POSTGRES_URL'] ?? '', `DROP ROLE ${roles.join()}`);
});

it.each([
  ...[owner, databaseOwner, member, indirect, superuser].map((name) => [
    name,
    `the role ${name} is, or is a member of, a superuser or an owner of the database or its tables: use another role`,
  ]),
  ['none', 'role name "none" is reserved'],
  ...['public', 'PUBLIC', 'current_user', owner.toUpperCase()].map((name) => [name, `role "${name}" does not exist`]),
])('the role %s gets no privileges and loses none', async (role, message) => {
  const before = await privileges();
  await expect(apply(role)).rejects.toThrow(message);
  expect(await privileges()).toEqual(before);
});

it('another role gets them, whatever its name is', async () => {
  await apply(odd);
  expect(JSON.stringify(await privileges())).toContain(suffix);
});
