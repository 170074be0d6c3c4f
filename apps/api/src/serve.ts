import { createDataSource, isDatabaseUnavailable, migrateUp } from '@animal-store/database';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { type Logger, pino } from 'pino';
import { type Config, readConfig } from './configuration/config.js';
import { StartupError } from './configuration/startup-error.js';
import { contexts } from './contexts.js';
import { createApp } from './create-app.js';

export { StartupError } from './configuration/startup-error.js';

export interface RunningService {
  /** http://localhost:3000 */
  readonly url: string;
  close(): Promise<void>;
}

/**
 * Reads and checks the configuration, migrates and listens.
 * @throws StartupError with one clear line per problem
 */
export async function serve(env: NodeJS.ProcessEnv): Promise<RunningService> {
  const config = readConfig(env);
  const logger = pino({ level: config.logLevel });
  try {
    if (config.migrateOnStart) await migrate(config, logger);
    const app = await createApp({ config, logger });
    try {
      const url = await listen(app, config);
      logger.info({ url }, 'listening');
      return { url, close: () => app.close() };
    } catch (error) {
      await app.close();
      throw error;
    }
  } catch (error) {
    throw explain(error, config);
  }
}

async function migrate(config: Config, logger: Logger): Promise<void> {
  const dataSource = createDataSource({
    url: config.databaseUrl,
    applicationName: 'animal-store-migrations',
    poolSize: 1,
    persistence: contexts.map(({ persistence }) => persistence),
  });
  await dataSource.initialize();
  try {
    const applied = await migrateUp(dataSource);
    if (applied.length > 0) logger.info({ applied }, 'migrated');
  } finally {
    await dataSource.destroy();
  }
}

async function listen(app: NestFastifyApplication, { host, port }: Config): Promise<string> {
  await app.listen({ host, port });
  const address = app.getHttpServer().address() as { address: string; port: number };
  const name = ['127.0.0.1', '::1', '0.0.0.0', '::'].includes(address.address) ? 'localhost' : address.address;
  return `http://${name.includes(':') ? `[${name}]` : name}:${String(address.port)}`;
}

function explain(error: unknown, { host, port, databaseUrl }: Config): unknown {
  const { code, message } = error as NodeJS.ErrnoException;
  const database = new URL(databaseUrl);
  if (code === 'EADDRINUSE') return new StartupError(`Port ${String(port)} is taken; set PORT to another one.`);
  if (code === 'EACCES') return new StartupError(`Port ${String(port)} needs more rights; set PORT to 1024 or above.`);
  if (code === 'EADDRNOTAVAIL') return new StartupError(`HOST ${host} is no address of this machine.`);
  if (isDatabaseUnavailable(error)) return new StartupError(`The database at ${database.host} cannot be reached: ${firstLine(message, code)}`);
  // 28: authentication, 3D000: no such database
  if (/^(?:28...|3D000)$/.test(code ?? '')) return new StartupError(`The database at ${database.host} refuses the connection: ${firstLine(message, code)}`);
  return error;
}

function firstLine(message: string, code = 'no answer'): string {
  return message.split('\n', 1)[0]?.trim() || code;
}
