import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { copyTestDatabase, query, type TestDatabase } from '@animal-store/local-postgres/testing';
import { type Environment, processEnvironment, programPath, ServiceProcess } from '@animal-store/test-kit/service-process';
import { ALL_PETS, type CreatedKey } from './keys.js';

export type { Environment };

/** Role of the database server, shared by all databases of the suite. */
const ROLE = 'animal_store_e2e';
const PASSWORD = 'of-tests-only';

/** By path of the URL. */
const prepared = new Map<string, Promise<void>>();

/** Prevents a busy machine from counting as an overload of the service. */
const PATIENT = { MAX_EVENT_LOOP_LAG_MS: '60000' };

/** A running process of the built service. */
export type Service = ServiceProcess;
export const Service = {
  /**
   * Starts the service on a free port and waits until it listens. Unless MIGRATION_DATABASE_URL is set, migrates the database first and
   * gives the service a role with only the privileges of docs/deployment.md.
   */
  async start(databaseUrl: string, environment: Environment = {}): Promise<Service> {
    const url = environment['MIGRATION_DATABASE_URL'] === undefined ? await serviceRoleUrl(databaseUrl) : databaseUrl;
    return ServiceProcess.start({ DATABASE_URL: url, DRAIN_SECONDS: '0', ...PATIENT, ...environment });
  },
};

/** Runs the command-line tool on a database and returns its standard output. */
export async function runAnimalStore(databaseUrl: string, ...args: readonly string[]): Promise<string> {
  const { stdout } = await promisify(execFile)(process.execPath, [programPath('cli'), ...args], {
    env: processEnvironment({ DATABASE_URL: databaseUrl }),
  });
  return stdout;
}

/** Creates a database with all migrations and the role of the service on the server in TEST_POSTGRES_URL. */
export async function createStoreDatabase(): Promise<TestDatabase> {
  const database = await copyTestDatabase(`e2e_template_${hashOf(dirname(programPath('cli')))}`, prepare);
  prepared.set(new URL(database.url).pathname, Promise.resolve());
  return database;
}

/** Creates a key for a client with the command line. */
export async function createKey(databaseUrl: string, client: string): Promise<CreatedKey> {
  const printed = await runAnimalStore(databaseUrl, 'keys', 'create', '--client', client, '--scope', ALL_PETS.join(), '--json');
  return JSON.parse(printed) as CreatedKey;
}

/** Returns the URL of the database for the role of the service. Migrates the database first, as its owner. */
async function serviceRoleUrl(ownerUrl: string): Promise<string> {
  const { pathname } = new URL(ownerUrl);
  const known = prepared.get(pathname) ?? prepare(ownerUrl);
  prepared.set(pathname, known);
  await known;
  return asRole(ownerUrl, ROLE, PASSWORD);
}

async function prepare(ownerUrl: string): Promise<void> {
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
