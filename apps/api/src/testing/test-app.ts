import type { AddressInfo } from 'node:net';
import { openAccess } from '@animal-store/access-infrastructure';
import { DatabaseConnection } from '@animal-store/database';
import type { Clock } from '@animal-store/kernel';
import { createMigratedDatabase } from '@animal-store/test-kit';
import { afterAll, beforeAll } from '@jest/globals';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { contexts } from '../contexts.js';
import { createApp } from '../create-app.js';
import { createLogger, type ServiceLogger } from '../observability/logger.js';
import { readConfig } from '../process/config.js';

export interface TestApp {
  readonly app: NestFastifyApplication;
  readonly url: string;
  readonly databaseUrl: string;
  createKey(...scopes: string[]): Promise<string>;
  close(): Promise<void>;
}

export interface TestAppOptions {
  /** What stands between the service and the database that it is given. */
  readonly databaseUrl?: (url: string) => string | Promise<string>;
  readonly env?: Record<string, string>;
  readonly clock?: Clock;
  readonly logger?: ServiceLogger;
}

/** A busy machine is no overload of the service, and its database is slow but there. */
const PATIENT = { MAX_EVENT_LOOP_LAG_MS: '60000', DATABASE_STATEMENT_TIMEOUT_MS: '60000', DATABASE_CONNECT_TIMEOUT_MS: '60000' };

/** The app of `main`, listening on a free port, over a migrated database of its own. */
export async function startTestApp({
  env = {},
  databaseUrl = (url) => url,
  clock,
  logger = createLogger('silent'),
}: TestAppOptions = {}): Promise<TestApp> {
  const database = await createMigratedDatabase(contexts.map(({ persistence }) => persistence));
  const access = await openAccess(database.url);
  const config = readConfig({ DATABASE_URL: await databaseUrl(database.url), ENVIRONMENT: 'test', ...PATIENT, ...env });
  const app = await createApp({ config, logger, ...(clock && { clock }) });
  await app.get(DatabaseConnection).open();
  await app.listen({ host: '127.0.0.1', port: 0 });
  const { port } = app.getHttpServer().address() as AddressInfo;
  return {
    app,
    url: `http://127.0.0.1:${String(port)}`,
    databaseUrl: database.url,
    createKey: async (...scopes) => (await access.createApiKey.execute({ clientName: 'spec', environment: 'test', scopes })).secret,
    close: async () => {
      await app.close();
      await access.close();
      await database.drop();
    },
  };
}

/** Starts the app before the tests of the file, with a key, and closes it after them. */
export function useTestApp(scopes: readonly string[], options?: TestAppOptions): TestApp & { readonly key: string } {
  const service = {} as TestApp & { key: string };
  beforeAll(async () => {
    Object.assign(service, await startTestApp(options));
    service.key = await service.createKey(...scopes);
  });
  afterAll(() => service.close());
  return service;
}
