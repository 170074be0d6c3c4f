import { readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { connectAccessUseCases, type AccessUseCases } from '@animal-store/access-infrastructure';
import { readConfig } from '@animal-store/api/configuration';
import { contexts } from '@animal-store/api/contexts';
import { StartupError } from '@animal-store/api/start';
import { Database, formatServer, grantStatements, migrateUp } from '@animal-store/database';
import { DomainError } from '@animal-store/kernel';
import { type ServicePostgres, startLocalPostgres } from '@animal-store/local-postgres';

/** The local environment of the service: variables and, if DATABASE_URL is unset, the embedded PostgreSQL with an API key. */
export class LocalEnvironment {
  private postgres: ServicePostgres | undefined;
  private starting: Promise<ServicePostgres> | undefined;
  private readonly dataDir = this.variables['DATA_DIR'] || '.data';
  private readonly environment = this.variables['ENVIRONMENT']?.trim() || 'local';

  constructor(private readonly variables: NodeJS.ProcessEnv) {}

  /**
   * Resolves to the environment variables for the service. In the embedded PostgreSQL, the service does not connect as the owner.
   * @throws StartupError, LocalPostgresError
   */
  async open(): Promise<NodeJS.ProcessEnv> {
    if ((this.variables['DATABASE_URL'] ?? this.variables['DATABASE_URL_FILE']) !== undefined) return this.variables;
    const env = { ...this.variables, ENVIRONMENT: this.environment };
    // Invalid variables are reported before PostgreSQL starts.
    readConfig({ ...env, DATABASE_URL: 'postgres://localhost' }, contexts);
    this.starting = startLocalPostgres(this.dataDir);
    this.postgres = await this.starting;
    const { url, serviceUrl } = this.postgres;
    const serviceRole = new URL(serviceUrl).username;
    await prepareDatabase(url, serviceRole);
    // `npm run dev` migrates again after a change.
    const owner = { LOCAL_OWNER_URL: url, LOCAL_SERVICE_ROLE: serviceRole };
    return { ...env, ...owner, DATABASE_URL: serviceUrl, MIGRATE_ON_START: 'false' };
  }

  get databaseServers(): string {
    return formatServer(this.postgres?.url ?? readConfig(this.variables).databaseUrl);
  }

  /** Returns the text to print when the service is ready. The commands can be pasted into a shell. */
  async welcome(url: string): Promise<string> {
    const { postgres, dataDir } = this;
    const apiKey = postgres && (await ensureLocalApiKey(postgres.url, join(dataDir, 'api-key'), this.environment));
    const authorization = `-H ${quote(`Authorization: Bearer ${apiKey ?? '<API key>'}`)}`;
    const pet = `-H ${quote('Content-Type: application/json')} -d ${quote('{"name":"Rex","categoryId":1}')}`;
    const lines = [
      'Animal Store is running.',
      '',
      `Address   ${url}/v1`,
      `Docs      ${url}/docs`,
      `Data      ${postgres ? dataDir : 'the database in DATABASE_URL'}`,
      `API key   ${apiKey ?? 'create one: npm run animal-store -- keys create --client <name>'}`,
      '',
      'List the animals and add one:',
      '',
      `curl ${authorization} ${url}/v1/pets`,
      `curl ${authorization} ${pet} ${url}/v1/pets`,
      '',
      postgres ? 'Ctrl-C stops the service and PostgreSQL. The data stays.' : 'Ctrl-C stops the service.',
    ];
    return `\n${lines.map((line) => `  ${line}`.trimEnd()).join('\n')}\n`;
  }

  /** Stops PostgreSQL. Waits for a start in progress. */
  async close(): Promise<void> {
    const postgres = await this.starting?.catch(() => undefined);
    await postgres?.stop();
  }
}

/** sh supports single quotes, cmd.exe only double quotes. */
function quote(text: string): string {
  return process.platform === 'win32' ? `"${text.replaceAll('"', String.raw`\"`)}"` : `'${text}'`;
}

/**
 * Returns the API key in the file, which has all scopes. Creates a key for the environment if the file is missing or its key is
 * not accepted.
 * @throws StartupError if the file cannot be written
 */
export async function ensureLocalApiKey(databaseUrl: string, file: string, environment: string): Promise<string> {
  const scopes = contexts.flatMap((context) => context.scopes ?? []);
  const access = await connectAccessUseCases(databaseUrl);
  try {
    const stored = (await readFile(file, 'utf8').catch(() => '')).trim();
    if (await isAccepted(access, stored, scopes)) return stored;
    const { secret } = await access.manageApiKeys.create({ clientName: 'local', environment, scopes });
    await rm(file, { force: true });
    await writeFile(file, `${secret}\n`, { mode: 0o600, flush: true }).catch((error: unknown) => {
      throw new StartupError(`The API key cannot be stored: ${(error as Error).message}`);
    });
    return secret;
  } finally {
    await access.close();
  }
}

async function isAccepted({ authenticateApiKey }: AccessUseCases, key: string, requiredScopes: readonly string[]): Promise<boolean> {
  try {
    const { scopes } = await authenticateApiKey.execute(key);
    return requiredScopes.every((scope) => scopes.includes(scope));
  } catch (error) {
    if (error instanceof DomainError) return false;
    throw error;
  }
}

/** Applies pending migrations as the owner, and grants the role of the service what it needs. */
export async function prepareDatabase(ownerUrl: string, serviceRole: string): Promise<void> {
  const persistence = contexts.map((context) => context.persistence);
  const dataSource = new Database({ url: ownerUrl, applicationName: 'animal-store start', poolSize: 1, persistence });
  await dataSource.initialize();
  try {
    await migrateUp(dataSource);
    await dataSource.query(grantStatements(persistence, 'service', serviceRole).join('; '));
  } finally {
    await dataSource.destroy();
  }
}
