import 'reflect-metadata';
import type { Context } from '@animal-store/http-kit';
import { type Clock, SystemClock } from '@animal-store/kernel';
import { VersioningType } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { AppModule } from './app.module.js';
import { JsonAdapter } from './http/json-adapter.js';
import { HttpServer } from './http/http-server.js';
import { createLogger, createNestLogger, type ServiceLogger } from './observability/logger.js';
import { startObservability } from './observability/observability.js';
import type { Config } from './config/config.js';
import { OpenApiDocument } from './reference/openapi-document.js';

export interface AppOptions {
  readonly config: Config;
  readonly contexts: readonly Context[];
  readonly clock?: Clock;
  readonly logger?: ServiceLogger;
}

/** Creates the initialised app, for the service and all tests. It does not listen yet; `Database.open` connects it to PostgreSQL. */
export async function createApp({
  config,
  contexts,
  clock = new SystemClock(),
  logger = createLogger(config.logLevel),
}: AppOptions): Promise<NestFastifyApplication> {
  const observability = await startObservability(config, logger);
  const server = new HttpServer(config, observability);
  const app = await NestFactory.create<NestFastifyApplication>(
    AppModule.with({ config, contexts, clock, observability, server }),
    new JsonAdapter(server.fastify, logger),
    {
      bodyParser: false,
      logger: createNestLogger(logger),
      abortOnError: false,
    },
  );
  app.enableVersioning({ type: VersioningType.URI });
  app.get(OpenApiDocument).app = app;
  await app.init();
  await app.getHttpAdapter().getInstance().ready();
  return app;
}
