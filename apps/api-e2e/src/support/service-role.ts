import { createHash, randomBytes } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { query, type TestDatabase } from '@animal-store/local-postgres/testing';
import { Client } from 'pg';

/** Role of the database server, shared by all databases of the suite. */
const ROLE = 'animal_store_e2e';
const PASSWORD = 'of-tests-only';
/** Serialises the creation of the template among the spec files. */
const TEMPLATE_LOCK = 5_839_201;

const prepared = new Map<string, Promise<void>>();

type AnimalStore = (databaseUrl: string, ...args: readonly string[]) => Promise<string>;

/** Returns the URL of the database for the role of the service. Migrates the database first, as its owner. */
export function serviceRoleUrl(ownerUrl: string, runAnimalStore: AnimalStore): Promise<string> {
  const { pathname } = new URL(ownerUrl);
  const known = prepared.get(pathname) ?? prepare(ownerUrl, runAnimalStore);
  prepared.set(pathname, known);
  return known.then(() => asRole(ownerUrl, ROLE, PASSWORD));
}

/**
 * Creates a migrated database on the server in TEST_POSTGRES_URL. It is a copy of a template, which the first spec file creates.
 * @param programFolder folder of the command-line tool, whose migrations the template has
 */
export async function createMigratedDatabase(runAnimalStore: AnimalStore, programFolder: string): Promise<TestDatabase> {
  const server = process.env['TEST_POSTGRES_URL'] ?? '';
  const template = `e2e_template_${hashOf(programFolder)}`;
  const name = `test_${randomBytes(8).toString('hex')}`;
  const client = new Client({ connectionString: server });
  await client.connect();
  try {
    await client.query('SELECT pg_advisory_lock($1)', [TEMPLATE_LOCK]);
    const { rowCount } = await client.query('SELECT FROM pg_database WHERE datname = $1', [template]);
    if (rowCount === 0) {
      const unfinished = `${template}_unfinished`;
      await client.query(`DROP DATABASE IF EXISTS ${unfinished} WITH (FORCE)`);
      await client.query(`CREATE DATABASE ${unfinished}`);
      await prepare(urlOf(server, unfinished), runAnimalStore);
      await client.query(`ALTER DATABASE ${unfinished} RENAME TO ${template}`);
    }
    await client.query(`CREATE DATABASE ${name} TEMPLATE ${template}`);
  } finally {
    await client.end();
  }
  prepared.set(`/${name}`, Promise.resolve());
  return {
    url: urlOf(server, name),
    async drop() {
      await query(server, `DROP DATABASE IF EXISTS ${name} WITH (FORCE)`);
    },
  };
}

async function prepare(ownerUrl: string, runAnimalStore: AnimalStore): Promise<void> {
  await runAnimalStore(ownerUrl, 'migrate', 'up');
  const grants = await runAnimalStore(ownerUrl, 'grants', 'service', ROLE);
  // Other spec files may create the role concurrently.
  await query(
    ownerUrl,
    `DO $$ BEGIN
       CREATE ROLE ${ROLE} LOGIN PASSWORD '${PASSWORD}' NOSUPERUSER;
     EXCEPTION WHEN duplicate_object OR unique_violation THEN NULL; END $$`,
  );
  await query(ownerUrl, grants);
}

export function asRole(url: string, role: string, password: string): string {
  const given = new URL(url);
  given.username = role;
  given.password = password;
  return given.href;
}

function urlOf(server: string, database: string): string {
  const url = new URL(server);
  url.pathname = `/${database}`;
  return url.href;
}

/** Distinguishes the templates of different versions on a server that outlives the run. */
function hashOf(folder: string): string {
  const hash = createHash('sha256');
  for (const file of readdirSync(folder).sort()) if (file.endsWith('.js')) hash.update(readFileSync(join(folder, file)));
  return hash.digest('hex').slice(0, 16);
}
