import { join } from 'node:path';
import { readConfig } from '@animal-store/api/configuration';
import { type LocalPostgres, startLocalPostgres } from '@animal-store/local-postgres';
import { localApiKey } from './local-api-key.js';
import { welcome } from './welcome.js';

/** What the service needs on this machine: variables and, if DATABASE_URL is unset, the embedded PostgreSQL with an API key. */
export class LocalEnvironment {
  private postgres: LocalPostgres | undefined;
  private readonly dataDir = this.given['DATA_DIR'] || '.data';
  private readonly environment = this.given['ENVIRONMENT'] || 'local';

  constructor(private readonly given: NodeJS.ProcessEnv) {}

  /**
   * Resolves to the environment variables for the service.
   * @throws StartupError, LocalPostgresError
   */
  async open(): Promise<NodeJS.ProcessEnv> {
    if (this.given['DATABASE_URL'] || this.given['DATABASE_URL_FILE']) return this.given;
    const env = { ...this.given, ENVIRONMENT: this.environment };
    // Invalid variables are reported before PostgreSQL starts.
    readConfig({ ...env, DATABASE_URL: 'postgres://localhost' });
    this.postgres = await startLocalPostgres({ dataDir: this.dataDir });
    return { ...env, DATABASE_URL: this.postgres.url };
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
