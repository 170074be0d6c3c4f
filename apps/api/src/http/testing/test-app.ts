import type { AddressInfo } from 'node:net';
import { connectAccessUseCases } from '@animal-store/access-infrastructure';
import { Database } from '@animal-store/database';
import type { Clock } from '@animal-store/kernel';
import { createMigratedDatabase } from '@animal-store/test-kit';
import { afterAll, beforeAll } from '@jest/globals';
import type { DynamicModule, Provider } from '@nestjs/common';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { type Context, contexts as registered } from '../../registered-contexts.js';
import { createApp } from '../../create-app.js';
import { createLogger, type ServiceLogger } from '../../observability/logger.js';
import { readConfig } from '../../config/config.js';
import { RouteTable } from '../routes.js';

export { createLogger } from '../../observability/logger.js';

export interface TestApp {
  readonly app: NestFastifyApplication;
  readonly url: string;
  readonly databaseUrl: string;
  /** Method and path of every route. */
  readonly routes: readonly (readonly [method: string, path: string])[];
  createKey(...scopes: string[]): Promise<string>;
  close(): Promise<void>;
}

export interface TestResponse {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  /** The parsed body, if there is one. */
  readonly json: Readonly<Record<string, unknown>>;
}

export interface TestRequestOptions {
  /** Sent as JSON. */
  readonly body?: object | undefined;
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** Instead of the key of `useTestApp`. */
  readonly key?: string;
}

/** The app of a spec, with a key. */
export interface UsedTestApp extends TestApp {
  readonly key: string;
  /** @param path with the version, or a URL from a response */
  readonly send: (method: string, path: string, options?: TestRequestOptions) => Promise<TestResponse>;
}

export interface TestAppOptions {
  /** Returns the database URL for the service, for example that of a proxy in front of the database. */
  readonly databaseUrl?: (url: string) => string | Promise<string>;
  readonly env?: Record<string, string>;
  readonly clock?: Clock;
  /** The default are those of the service. */
  readonly contexts?: readonly Context[];
  /** Each replaces the provider with the same token in the contexts, like Nest's `overrideProvider`. */
  readonly override?: readonly Provider[];
  readonly logger?: ServiceLogger;
}

/** Long timeouts, so that a busy machine does not cause 503s. */
const PATIENT = { MAX_EVENT_LOOP_LAG_MS: '60000', DATABASE_STATEMENT_TIMEOUT_MS: '60000', DATABASE_CONNECT_TIMEOUT_MS: '60000' };

/** Starts the app on a free port, with its own migrated database. */
export async function startTestApp({
  env = {},
  contexts: given = registered,
  override = [],
  databaseUrl = (url) => url,
  clock,
  logger = createLogger('silent'),
}: TestAppOptions = {}): Promise<TestApp> {
  // Nest registers the providers of a dynamic module after those of its class.
  const contexts = override.length === 0 ? given : given.map((context) => ({ ...context, module: overridden(context.module, override) }));
  const database = await createMigratedDatabase(contexts.map(({ persistence }) => persistence));
  const access = await connectAccessUseCases(database.url);
  const url = await databaseUrl(database.url);
  const config = readConfig({ DATABASE_URL: url, ENVIRONMENT: 'test', NODE_ENV: 'test', ...PATIENT, ...env }, contexts);
  const app = await createApp({ config, contexts, logger, ...(clock && { clock }) });
  await app.get(Database).open();
  await app.listen({ host: '127.0.0.1', port: 0 });
  const { port } = app.getHttpServer().address() as AddressInfo;
  return {
    app,
    url: `http://127.0.0.1:${String(port)}`,
    databaseUrl: database.url,
    routes: [...app.get(RouteTable).methods].flatMap(([path, methods]) => [...methods].map((method): [string, string] => [method, path])),
    createKey: async (...scopes) => (await access.manageApiKeys.create({ clientName: 'spec', environment: 'test', scopes })).secret,
    close: async () => {
      await app.close();
      await access.close();
      await database.drop();
    },
  };
}

function overridden(module: Context['module'], override: readonly Provider[]): DynamicModule {
  const dynamic = typeof module === 'function' ? { module } : module;
  return { ...dynamic, providers: [...(dynamic.providers ?? []), ...override] };
}

/** Starts the app and creates a key before the tests of the file, and closes the app after them. */
export function useTestApp(scopes: readonly string[], options?: TestAppOptions): UsedTestApp {
  const service = { send } as UsedTestApp;
  beforeAll(async () => {
    const app = await startTestApp(options);
    const key = await app.createKey(...scopes);
    Object.assign(service, app, { key });
  });
  afterAll(() => service.close());
  return service;

  async function send(method: string, path: string, { body, headers, key = service.key }: TestRequestOptions = {}): Promise<TestResponse> {
    const response = await fetch(new URL(path, service.url), {
      method,
      headers: { authorization: `Bearer ${key}`, ...(body && { 'content-type': 'application/json' }), ...headers },
      ...(body && { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    return { status: response.status, headers: response.headers, text, json: JSON.parse(text || '{}') as TestResponse['json'] };
  }
}
