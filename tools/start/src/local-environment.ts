import { join } from 'node:path';
import { readConfig } from '@animal-store/api/configuration';
import { type ServicePostgres, startLocalPostgres } from '@animal-store/local-postgres';
import { ensureLocalApiKey } from './ensure-local-api-key.js';
import { prepareDatabase } from './prepare-database.js';
import { welcomeText } from './welcome-text.js';

/** The local environment of the service: variables and, if DATABASE_URL is unset, the embedded PostgreSQL with an API key. */
export class LocalEnvironment {
  private postgres: ServicePostgres | undefined;
  private readonly dataDir = this.variables['DATA_DIR'] || '.data';
  private readonly environment = this.variables['ENVIRONMENT']?.trim() || 'local';

  constructor(private readonly variables: NodeJS.ProcessEnv) {}

  /**
   * Resolves to the environment variables for the service. In the embedded PostgreSQL, the service does not connect as the owner.
   * @throws StartupError, LocalPostgresError
   */
  async open(): Promise<NodeJS.ProcessEnv> {
    if (this.variables['DATABASE_URL'] || this.variables['DATABASE_URL_FILE']) return this.variables;
    const env = { ...this.variables, ENVIRONMENT: this.environment };
    // Invalid variables are reported before PostgreSQL starts.
    readConfig({ ...env, DATABASE_URL: 'postgres://localhost' });
    this.postgres = await startLocalPostgres({ dataDir: this.dataDir });
    const { url, serviceRole, serviceUrl } = this.postgres;
    await prepareDatabase(url, serviceRole);
    // `npm run dev` migrates again after a change.
    const owner = { LOCAL_OWNER_URL: url, LOCAL_SERVICE_ROLE: serviceRole };
    return { ...env, ...owner, DATABASE_URL: serviceUrl, MIGRATE_ON_START: 'false' };
  }

  /** Returns the text to print when the service listens. The tables must exist. */
  async welcome(url: string): Promise<string> {
    if (!this.postgres) return welcomeText(url);
    const apiKey = await ensureLocalApiKey(this.postgres.url, join(this.dataDir, 'api-key'), this.environment);
    return welcomeText(url, { dataDir: this.dataDir, version: this.postgres.version, apiKey });
  }

  /** Rejects with a LocalPostgresError if the embedded PostgreSQL cannot be kept running. */
  get failed(): Promise<never> {
    return this.postgres?.failed ?? new Promise(() => undefined);
  }

  async close(): Promise<void> {
    await this.postgres?.stop();
  }

  kill(): void {
    this.postgres?.kill();
  }
}
