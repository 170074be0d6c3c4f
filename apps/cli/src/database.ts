import { Database, type Persistence, type SecretUrl } from '@animal-store/database';
import { CliError, EXIT_USAGE, reasonOf } from './failure.js';
import type { Terminal } from './output.js';

const DEFAULT_DATA_DIR = '.data';
const EXIT_CODES = { SIGINT: 130, SIGTERM: 143 };

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

interface DatabaseSettings {
  readonly url: SecretUrl;
  readonly citus?: boolean;
}

/**
 * Runs `work` on the database that a variable names, or else on the local one in the data folder, which it starts if required. The database
 * has the migrations of all contexts.
 */
export async function withDatabase<T>(
  terminal: Terminal,
  access: DatabaseAccess,
  work: (database: Database, isLocal: boolean) => Promise<T>,
): Promise<T> {
  const settings = await readSettings(terminal, access);
  if (settings !== undefined) {
    return openDatabase(settings, (database) => work(database, false)).catch((error: unknown) => {
      if ((error as { code?: unknown }).code !== INSUFFICIENT_PRIVILEGE) throw error;
      throw new CliError(`${reasonOf(error)}; set ${access.variables.join(' or ')} to the URL of a role such as ${access.role}`);
    });
  }
  const { connectLocalPostgres } = await import('@animal-store/local-postgres').catch(reportMissingPostgres);
  const server = await connectLocalPostgres(terminal.env['DATA_DIR'] || DEFAULT_DATA_DIR);
  const stopAndExit = (signal: keyof typeof EXIT_CODES) => void server.stop().finally(() => process.exit(EXIT_CODES[signal]));
  process.on('SIGINT', stopAndExit).on('SIGTERM', stopAndExit);
  try {
    return await openDatabase({ url: server.url }, (database) => work(database, true));
  } finally {
    await server.stop();
    process.off('SIGINT', stopAndExit).off('SIGTERM', stopAndExit);
  }
}

/** Reads the variables like the service. Returns undefined if none of them is set. */
async function readSettings({ env }: Terminal, { variables }: DatabaseAccess): Promise<DatabaseSettings | undefined> {
  const given = variables.flatMap((name) => [name, `${name}_FILE`]).filter((name) => env[name] !== undefined);
  if (given.length === 0) return undefined;
  const { readConfig } = await import('@animal-store/api/configuration');
  const values = Object.fromEntries([...given, 'CITUS'].map((name) => [name, env[name]]));
  // Only MIGRATION_DATABASE_URL may be set.
  const others = given.some((name) => name.startsWith('DATABASE_URL')) ? {} : { DATABASE_URL: 'postgres://' };
  try {
    const { databaseUrl, migrationDatabaseUrl, citus } = readConfig({ ...others, ...values });
    return { url: variables.length > 1 ? migrationDatabaseUrl : databaseUrl, citus };
  } catch (error) {
    throw new CliError(reasonOf(error), EXIT_USAGE);
  }
}

/** Reports that PostgreSQL is not installed, as in the image of the service. */
function reportMissingPostgres(error: unknown): never {
  if ((error as NodeJS.ErrnoException).code !== 'ERR_MODULE_NOT_FOUND') throw error;
  throw new CliError('DATABASE_URL must be set: this installation does not include PostgreSQL');
}

export async function openDatabase<T>(settings: DatabaseSettings, work: (database: Database) => Promise<T>): Promise<T> {
  const database = new Database({ ...settings, applicationName: 'animal-store', poolSize: 2, persistence: await loadPersistence() });
  await database.initialize();
  try {
    return await work(database);
  } finally {
    await database.destroy();
  }
}

/** The contexts are imported dynamically, because not all commands need them and NestJS. */
export async function loadPersistence(): Promise<readonly Persistence[]> {
  const { contexts } = await import('@animal-store/api/contexts');
  return contexts.map(({ persistence }) => persistence);
}

export async function loadScopes(): Promise<readonly string[]> {
  const { contexts } = await import('@animal-store/api/contexts');
  return contexts.flatMap(({ scopes }) => scopes ?? []);
}
