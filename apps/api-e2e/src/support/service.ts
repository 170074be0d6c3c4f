import { execFile } from 'node:child_process';
import { dirname } from 'node:path';
import { promisify } from 'node:util';
import type { TestDatabase } from '@animal-store/local-postgres/testing';
import { type Environment, processEnvironment, programPath, ServiceProcess } from '@animal-store/test-kit/service-process';
import { ALL_PETS, type CreatedKey } from './keys.js';
import { createMigratedDatabase, serviceRoleUrl } from './service-role.js';

export type { Environment };

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
    const url = environment['MIGRATION_DATABASE_URL'] === undefined ? await serviceRoleUrl(databaseUrl, runAnimalStore) : databaseUrl;
    return ServiceProcess.start(
      { DATABASE_URL: url, DRAIN_SECONDS: '0', ...PATIENT, ...environment },
      {
        command: [process.execPath, programPath('api')],
      },
    );
  },
};

/** Runs the command-line tool on a database and returns its standard output. */
export async function runAnimalStore(databaseUrl: string, ...args: readonly string[]): Promise<string> {
  const { stdout } = await promisify(execFile)(process.execPath, [programPath('cli'), ...args], {
    env: processEnvironment({ DATABASE_URL: databaseUrl }),
  });
  return stdout;
}

/** Creates a database with all migrations on the server in TEST_POSTGRES_URL. */
export function createStoreDatabase(): Promise<TestDatabase> {
  return createMigratedDatabase(runAnimalStore, dirname(programPath('cli')));
}

/** Creates a key for a client with the command line. `options` are added to `keys create`. */
export async function createKey(
  databaseUrl: string,
  client: string,
  scopes: readonly string[] = ALL_PETS,
  ...options: readonly string[]
): Promise<CreatedKey> {
  const printed = await runAnimalStore(databaseUrl, 'keys', 'create', '--client', client, '--scope', scopes.join(), ...options, '--json');
  return JSON.parse(printed) as CreatedKey;
}
