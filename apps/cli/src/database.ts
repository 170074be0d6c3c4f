import { Database, migrateUp, parseDatabaseUrl, type Persistence, readSecretUrl, type SecretUrl } from '@animal-store/database';
import { CliError, EXIT_USAGE, reasonOf } from './failure.js';
import type { Terminal } from './output.js';

const DEFAULT_DATA_DIR = '.data';
const EXIT_CODES = { SIGINT: 130, SIGTERM: 143 };

/** SQLSTATE code insufficient_privilege. */
const INSUFFICIENT_PRIVILEGE = '42501';

/** The variables with the URL of the database, and the role that a command needs (docs/deployment.md). */
interface DatabaseAccess {
  readonly variables: readonly string[];
  readonly role: string;
}

export const AS_KEYS: DatabaseAccess = { variables: ['DATABASE_URL'], role: 'animal_store_keys' };
export const AS_SERVICE: DatabaseAccess = { variables: ['DATABASE_URL'], role: 'animal_store_service' };
export const AS_OWNER: DatabaseAccess = { variables: ['DATABASE_URL'], role: 'animal_store_owner' };
/** MIGRATION_DATABASE_URL lets commands bypass a connection pooler. */
export const AS_MIGRATOR: DatabaseAccess = { variables: ['MIGRATION_DATABASE_URL', 'DATABASE_URL'], role: 'animal_store_owner' };

/** Where a command finds its database. */
export interface DatabaseAddress {
  readonly url: SecretUrl;
  /** Whether this is the local PostgreSQL in the data folder. */
  readonly isLocal: boolean;
  readonly citus?: boolean;
}

/** Returns the database URL of the first variable that is set. A variable named NAME_FILE contains the path of a file with the URL. */
export function databaseUrl({ env }: Terminal, names: readonly string[]): SecretUrl | undefined {
  const given = names.flatMap((name) => [name, `${name}_FILE`]).filter((name) => env[name] !== undefined);
  const empty = given.find((name) => env[name]?.trim() === '');
  if (empty !== undefined) throw new CliError(`${empty} is empty: set or unset it`, EXIT_USAGE);
  const [variable] = given;
  if (variable === undefined) return undefined;
  const value = env[variable] ?? '';
  const url = variable.endsWith('_FILE') ? { file: value } : value;
  try {
    parseDatabaseUrl(readSecretUrl(url));
  } catch (error) {
    throw new CliError(`${variable} ${(error as Error).message}`, EXIT_USAGE);
  }
  if (env[`${variable}_FILE`]) throw new CliError(`${variable}_FILE and ${variable} must not both be set`, EXIT_USAGE);
  return url;
}

/** Runs `work` on the database that a variable names, or else on the local one in the data folder, which it starts if required. */
export async function withDatabase<T>(
  terminal: Terminal,
  { variables, role }: DatabaseAccess,
  work: (database: DatabaseAddress) => Promise<T>,
): Promise<T> {
  const url = databaseUrl(terminal, variables);
  if (url !== undefined) {
    return work({ url, isLocal: false, citus: await isCitus(terminal) }).catch((error: unknown) => {
      if ((error as { code?: unknown }).code !== INSUFFICIENT_PRIVILEGE) throw error;
      throw new CliError(`${reasonOf(error)}; set ${variables.join(' or ')} to the URL of a role such as ${role}`);
    });
  }
  const { connectLocalPostgres } = await import('@animal-store/local-postgres').catch(reportMissingPostgres);
  const server = await connectLocalPostgres(terminal.env['DATA_DIR'] || DEFAULT_DATA_DIR);
  const stopAndExit = (signal: keyof typeof EXIT_CODES) => void server.stop().finally(() => process.exit(EXIT_CODES[signal]));
  process.on('SIGINT', stopAndExit).on('SIGTERM', stopAndExit);
  try {
    return await work({ url: server.url, isLocal: true });
  } finally {
    await server.stop();
    process.off('SIGINT', stopAndExit).off('SIGTERM', stopAndExit);
  }
}

/** The variable has the syntax of the service. */
async function isCitus({ env: { CITUS } }: Terminal): Promise<boolean> {
  if (!CITUS) return false;
  const { readConfig } = await import('@animal-store/api/configuration');
  return readConfig({ DATABASE_URL: 'postgres://', CITUS }).citus;
}

/** Reports that PostgreSQL is not installed, as in the image of the service. */
function reportMissingPostgres(error: unknown): never {
  if ((error as NodeJS.ErrnoException).code !== 'ERR_MODULE_NOT_FOUND') throw error;
  throw new CliError('DATABASE_URL must be set: this installation does not include PostgreSQL');
}

/** Runs `work` on a connected database with the migrations of all contexts. */
export async function withDataSource<T>({ url, citus = false }: DatabaseAddress, work: (dataSource: Database) => Promise<T>): Promise<T> {
  const dataSource = new Database({
    url,
    applicationName: 'animal-store migrate',
    poolSize: 2,
    citus,
    persistence: await loadPersistence(),
  });
  await dataSource.initialize();
  try {
    return await work(dataSource);
  } finally {
    await dataSource.destroy();
  }
}

/** Migrates the database if it is the local one. */
export async function migrateIfLocal(database: DatabaseAddress): Promise<void> {
  if (database.isLocal) await withDataSource(database, (dataSource) => migrateUp(dataSource));
}

/** Returns the persistence of all contexts. They are imported dynamically, since most commands need neither them nor NestJS. */
export async function loadPersistence(): Promise<readonly Persistence[]> {
  const { contexts } = await import('@animal-store/api/contexts');
  return contexts.map(({ persistence }) => persistence);
}

/** Returns all scopes of this deployment. */
export async function loadScopes(): Promise<readonly string[]> {
  const { contexts } = await import('@animal-store/api/contexts');
  return contexts.flatMap(({ scopes }) => scopes ?? []);
}
