import { execFile } from 'node:child_process';
import { dirname } from 'node:path';
import { promisify } from 'node:util';
import type { TestDatabase } from '@animal-store/local-postgres/testing';
import { type Environment, processEnvironment, programPath, ServiceProcess } from '@animal-store/test-kit/service-process';
import { ALL_PETS, type CreatedKey } from './keys.js';
import { createMigratedDatabase, serviceRoleUrl } from './service-role.js';

export type { Environment };

const END_TIMEOUT_MS = 60_000;
/** Prevents a busy machine from counting as an overload of the service. */
const PATIENT = { MAX_EVENT_LOOP_LAG_MS: '60000' };

/** A running process of the built service. */
export type Service = ServiceProcess;
export const Service = {
  /**
   * Starts the service on a free port and waits until it listens. Unless MIGRATION_DATABASE_URL is set, migrates the database first and
   * gives the service a role with only the privileges of docs/deployment.md.
   * @param main program of the service, by default the bundle of this workspace
   */
  async start(databaseUrl: string, environment: Environment = {}, main = programPath('api')): Promise<Service> {
    const url = environment['MIGRATION_DATABASE_URL'] === undefined ? await serviceRoleUrl(databaseUrl, runAnimalStore) : databaseUrl;
    const command = [process.execPath, main];
    return ServiceProcess.start({ DATABASE_URL: url, DRAIN_SECONDS: '0', ...PATIENT, ...environment }, { command });
  },
};

/** Runs the service with a configuration that it must reject. Returns its exit code and output. */
export async function runUntilExit(environment: Environment): Promise<{ exitCode: number | null; output: string }> {
  const service = ServiceProcess.spawn(environment);
  const timer = setTimeout(() => void service.kill(), END_TIMEOUT_MS);
  const exitCode = await service.end();
  clearTimeout(timer);
  return { exitCode, output: service.output };
}

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
