import 'reflect-metadata';
import { createDataSource, poolOf } from '@animal-store/database';
import { type Clock, SystemClock } from '@animal-store/kernel';
import cors from '@fastify/cors';
import { VersioningType } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import type { OpenAPIObject } from '@nestjs/swagger';
import type { FastifyInstance } from 'fastify';
import type { Logger } from 'pino';
import type { DataSource } from 'typeorm';
import { AppModule } from './app.module.js';
import type { Config } from './configuration/config.js';
import { contexts } from './contexts.js';
import { closeConnectionsWhenDraining, Draining } from './draining/draining.js';
import { ConfiguredPublicUrl } from './http/configured-public-url.js';
import { corsOptions } from './http/cors.js';
import { tagEntities } from './http/entity-tags.js';
import { createHttpServer } from './http/http-server.js';
import { JsonAdapter } from './http/json-adapter.js';
import { observeRequests } from './http/request-lifecycle.js';
import { RouteTable } from './http/route-table.js';
import { createLogger } from './logging/logger.js';
import { NestLogger } from './logging/nest-logger.js';
import { measureRequests } from './metrics/measure-requests.js';
import { Metrics } from './metrics/metrics.js';
import { OpenApiDocument } from './openapi/openapi.controller.js';
import { createOpenApiDocument } from './openapi/openapi-document.js';
import { shedLoad } from './overload/load-shedding.js';
import { RateLimits } from './rate-limit/rate-limits.js';
import type { Tracing } from './tracing/tracing.js';
import { receiveBodies } from './validation/request-body.js';

export interface AppOptions {
  readonly config: Config;
  readonly clock?: Clock;
  readonly logger?: Logger;
}

/** The one place that builds the app, for `main` and for every test: initialised and connected to PostgreSQL, not listening. */
export async function createApp(options: AppOptions): Promise<NestFastifyApplication> {
  const dataSource = createDataSource({
    url: options.config.databaseUrl,
    applicationName: 'animal-store-api',
    poolSize: options.config.databasePoolSize,
    connectTimeoutMs: options.config.databaseConnectTimeoutMs,
    statementTimeoutMs: options.config.databaseStatementTimeoutMs,
    preparedStatements: options.config.databasePrepared,
    persistence: contexts.map(({ persistence }) => persistence),
  });
  await dataSource.initialize();
  try {
    const tracing = await startTracing(options);
    const { app, server } = await assemble(dataSource, options, tracing);
    await app.init();
    await server.ready();
    tracing?.observeStatements(dataSource);
    tracing?.observeUseCases(app);
    return app;
  } catch (error) {
    await dataSource.destroy();
    throw error;
  }
}

/** The document that the app publishes, without a database. */
export async function describeApp(config: Config): Promise<OpenAPIObject> {
  const { openApiDocument } = await assemble(
    createDataSource({ url: config.databaseUrl, applicationName: '', poolSize: 1, persistence: [] }),
    { config },
  );
  return openApiDocument.value;
}

/** Without a collector, OpenTelemetry's SDK is not even loaded. */
async function startTracing({ config, logger = createLogger(config.logLevel) }: AppOptions): Promise<Tracing | undefined> {
  const { otlpEndpoint: endpoint, serviceName, sampledShare } = config;
  if (endpoint === undefined) return undefined;
  const { Tracing } = await import('./tracing/tracing.js');
  return new Tracing({ endpoint, serviceName, sampledShare, logger });
}

async function assemble(
  dataSource: DataSource,
  { config, clock = new SystemClock(), logger = createLogger(config.logLevel) }: AppOptions,
  tracing?: Tracing,
): Promise<{ app: NestFastifyApplication; server: FastifyInstance; openApiDocument: OpenApiDocument }> {
  const publicUrl = new ConfiguredPublicUrl(config.publicBaseUrl);
  const routes = new RouteTable();
  const openApiDocument: OpenApiDocument = new OpenApiDocument(() => createOpenApiDocument(app, config));
  const draining = new Draining();
  const metrics = new Metrics();
  metrics.observePool(() => poolOf(dataSource));
  const rateLimits = await RateLimits.create(config, logger);
  const server = createHttpServer(config);
  closeConnectionsWhenDraining(server, draining);
  routes.observe(server);
  tracing?.observeRequests(server);
  observeRequests(server, { routes, logger, publicUrl });
  measureRequests(server, metrics);
  shedLoad(server, config, metrics);
  rateLimits.connectWith(server);
  if (config.corsOrigins.length > 0) await server.register(cors, corsOptions(config.corsOrigins));
  tagEntities(server);
  receiveBodies(server);
  const app: NestFastifyApplication = await NestFactory.create<NestFastifyApplication>(
    AppModule.with({ dataSource, clock, publicUrl, routes, logger, openApiDocument, draining, metrics, rateLimits }),
    new JsonAdapter(server),
    { bodyParser: false, logger: new NestLogger(logger), abortOnError: false },
  );
  app.enableVersioning({ type: VersioningType.URI });
  return { app, server, openApiDocument };
}
