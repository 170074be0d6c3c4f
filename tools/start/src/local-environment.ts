import { join } from 'node:path';
import { readConfig } from '@animal-store/api/configuration';
import { type LocalPostgres, startLocalPostgres } from '@animal-store/local-postgres';
import { localApiKey } from './local-api-key.js';
import { welcome } from './welcome.js';

const DEFAULT_DATA_DIR = '.data';

/** What the service needs on this machine: without DATABASE_URL that includes a PostgreSQL of its own. */
export class LocalEnvironment {
  private postgres: LocalPostgres | undefined;
  private serviceUrl: string | undefined;
  private readonly dataDir: string;
  private readonly given: NodeJS.ProcessEnv;

  constructor(env: NodeJS.ProcessEnv) {
    this.dataDir = env['DATA_DIR'] || DEFAULT_DATA_DIR;
    this.given = env;
  }

  /**
   * Resolves to the environment variables for the service.
   * @throws StartupError, LocalPostgresError
   */
  async open(stopping: AbortSignal): Promise<NodeJS.ProcessEnv> {
    if (this.given['DATABASE_URL']) return this.given;
    const env = { ...this.given, ENVIRONMENT: this.given['ENVIRONMENT'] || 'local' };
    // A bad variable is told before anything is started.
    readConfig({ ...env, DATABASE_URL: 'postgres://localhost' });
    this.postgres = await startLocalPostgres({
      dataDir: this.dataDir,
      announce: () =>
        `${this.serviceUrl === undefined ? 'a service that is starting' : `the service at ${this.serviceUrl}`} (process ${process.pid})`,
      stopping,
      report: (line) => console.error(line),
    });
    return { ...env, DATABASE_URL: this.postgres.url };
  }

  /** The text to greet with, once the service listens and its tables are there. */
  async welcome(url: string, env: NodeJS.ProcessEnv): Promise<string> {
    this.serviceUrl = url;
    if (!this.postgres) return welcome({ url });
    const apiKey = await localApiKey({
      databaseUrl: this.postgres.url,
      file: join(this.dataDir, 'api-key'),
      environment: readConfig(env).environment,
    });
    return welcome({ url, local: { dataDir: this.dataDir, version: this.postgres.version, apiKey } });
  }

  async close(): Promise<void> {
    await this.postgres?.stop();
  }

  kill(): void {
    this.postgres?.kill();
  }
}
