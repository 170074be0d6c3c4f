import 'reflect-metadata';
import { createDataSource } from '@animal-store/database';
import { Clock, SystemClock } from '@animal-store/kernel';
import cors from '@fastify/cors';
import { VersioningType } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import type { OpenAPIObject } from '@nestjs/swagger';
import type { FastifyInstance } from 'fastify';
import { type Logger, pino } from 'pino';
import type { DataSource } from 'typeorm';
import { AppModule } from './app.module.js';
import type { Config } from './configuration/config.js';
import { contexts } from './contexts.js';
import { ConfiguredPublicUrl } from './http/configured-public-url.js';
import { corsOptions } from './http/cors.js';
import { tagEntities } from './http/entity-tags.js';
import { createHttpServer } from './http/http-server.js';
import { JsonAdapter } from './http/json-adapter.js';
import { observeRequests } from './http/request-lifecycle.js';
import { RouteTable } from './http/route-table.js';
import { NestLogger } from './logging/nest-logger.js';
import { OpenApiDocument } from './openapi/openapi.controller.js';
import { createOpenApiDocument } from './openapi/openapi-document.js';
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
    persistence: contexts.map(({ persistence }) => persistence),
  });
  await dataSource.initialize();
  try {
    const { app, server } = await assemble(dataSource, options);
    await app.init();
    await server.ready();
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

async function assemble(
  dataSource: DataSource,
  { config, clock = new SystemClock(), logger = pino({ level: config.logLevel }) }: AppOptions,
): Promise<{ app: NestFastifyApplication; server: FastifyInstance; openApiDocument: OpenApiDocument }> {
  const publicUrl = new ConfiguredPublicUrl(config.publicBaseUrl);
  const routes = new RouteTable();
  const openApiDocument: OpenApiDocument = new OpenApiDocument(() => createOpenApiDocument(app, config));
  const server = createHttpServer();
  routes.observe(server);
  observeRequests(server, { routes, logger, publicUrl });
  if (config.corsOrigins.length > 0) await server.register(cors, corsOptions(config.corsOrigins));
  tagEntities(server);
  receiveBodies(server);
  const app: NestFastifyApplication = await NestFactory.create<NestFastifyApplication>(
    AppModule.with({ dataSource, clock, publicUrl, routes, logger, openApiDocument }),
    new JsonAdapter(server),
    { bodyParser: false, logger: new NestLogger(logger), abortOnError: false },
  );
  app.enableVersioning({ type: VersioningType.URI });
  return { app, server, openApiDocument };
}
