import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { copyTestDatabase, query, type TestDatabase } from '@animal-store/local-postgres/testing';

/** Role of the database server, shared by all databases of the suite. */
const ROLE = 'animal_store_e2e';
const PASSWORD = 'of-tests-only';

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
 * Creates a migrated database on the server in TEST_POSTGRES_URL, with the role of the service.
 * @param programFolder folder of the command-line tool, whose migrations the database has
 */
export async function createMigratedDatabase(runAnimalStore: AnimalStore, programFolder: string): Promise<TestDatabase> {
  const database = await copyTestDatabase(`e2e_template_${hashOf(programFolder)}`, (url) => prepare(url, runAnimalStore));
  prepared.set(new URL(database.url).pathname, Promise.resolve());
  return database;
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

/** Distinguishes the templates of different versions on a server that outlives the run. */
function hashOf(folder: string): string {
  const hash = createHash('sha256');
  for (const file of readdirSync(folder).sort()) if (file.endsWith('.js')) hash.update(readFileSync(join(folder, file)));
  return hash.digest('hex').slice(0, 16);
}
