import { join } from 'node:path';
import { readConfig } from '@animal-store/api/configuration';
import { type ServicePostgres, startLocalPostgres } from '@animal-store/local-postgres';
import { localApiKey } from './local-api-key.js';
import { prepareDatabase } from './prepare-database.js';
import { welcome } from './welcome.js';

/** The local environment of the service: variables and, if DATABASE_URL is unset, the embedded PostgreSQL with an API key. */
export class LocalEnvironment {
  private postgres: ServicePostgres | undefined;
  private readonly dataDir = this.given['DATA_DIR'] || '.data';
  private readonly environment = this.given['ENVIRONMENT'] || 'local';

  constructor(private readonly given: NodeJS.ProcessEnv) {}

  /**
   * Resolves to the environment variables for the service. Its role in the embedded PostgreSQL is not the owner.
   * @throws StartupError, LocalPostgresError
   */
  async open(): Promise<NodeJS.ProcessEnv> {
    if (this.given['DATABASE_URL'] || this.given['DATABASE_URL_FILE']) return this.given;
    const env = { ...this.given, ENVIRONMENT: this.environment };
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
    if (!this.postgres) return welcome(url);
    const apiKey = await localApiKey(this.postgres.url, join(this.dataDir, 'api-key'), this.environment);
    return welcome(url, { dataDir: this.dataDir, version: this.postgres.version, apiKey });
  }

  async close(): Promise<void> {
    await this.postgres?.stop();
  }

  kill(): void {
    this.postgres?.kill();
  }
}
