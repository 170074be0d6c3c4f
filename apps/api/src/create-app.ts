import 'reflect-metadata';
import cluster from 'node:cluster';
import { Database, DatabaseConnection } from '@animal-store/database';
import { PublicUrl } from '@animal-store/http-contract';
import { type Clock, SystemClock } from '@animal-store/kernel';
import { VersioningType } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import type { OpenAPIObject } from '@nestjs/swagger';
import type { FastifyInstance } from 'fastify';
import { AppModule } from './app.module.js';
import { contexts } from './contexts.js';
import { createLogger, type ServiceLogger } from './observability/logger.js';
import { Metrics } from './observability/metrics.js';
import { observeReplicas } from './observability/observe-replicas.js';
import { NestLogger } from './observability/nest-logger.js';
import { ShedRequests } from './observability/shed-requests.js';
import type { Tracing } from './observability/tracing.js';
import type { Config } from './process/config.js';
import { collectSubscriptions } from './contexts/event-delivery.js';
import { RateLimits } from './rate-limit/rate-limits.js';
import { createOpenApiDocument } from './reference/openapi-document.js';
import { OpenApiDocument } from './reference/openapi.controller.js';
import { WorkerGroup } from './process/worker-group.js';
import { Draining } from './http/draining.js';
import { NOT_READY_REASONS, Readiness } from './process/readiness.js';
import { createHttpServer } from './http/http-server.js';
import { JsonAdapter } from './http/json-adapter.js';
import { registerPipeline } from './http/pipeline.js';
import { RouteTable } from './http/route-table.js';

const LIMITED =
  'PostgreSQL accepts no further connection, so statements wait for the open ones: ' +
  'lower DATABASE_POOL_SIZE, or raise max_connections or the CONNECTION LIMIT of the role';

export interface AppOptions {
  readonly config: Config;
  readonly clock?: Clock;
  readonly logger?: ServiceLogger;
}

/** Creates the initialised app, for `main` and all tests. It does not listen yet; `DatabaseConnection` connects it to PostgreSQL. */
export async function createApp({ config, ...options }: AppOptions): Promise<NestFastifyApplication> {
  const logger = options.logger ?? createLogger(config.logLevel, undefined, config.logFormat);
  const metrics = new Metrics();
  const tracing = await startTracing(config, logger);
  const database = new Database({
    url: config.databaseUrl,
    replicaUrls: config.databaseReplicaUrls,
    applicationName: 'animal-store-api',
    poolSize: config.databasePoolSize,
    connectTimeoutMs: config.databaseConnectTimeoutMs,
    onLimited: (err) => logger.warn({ err }, LIMITED),
    onDurabilityRisk: isFirstProcess() ? ({ problem, remedy }) => logger.warn(`${problem}; ${remedy}`) : undefined,
    statementTimeoutMs: config.databaseStatementTimeoutMs,
    preparedStatements: config.databasePrepared,
    concurrentReads: config.workers > 1 ? 1 : undefined,
    citus: config.citus,
    persistence: contexts.map(({ persistence }) => persistence),
    subscriptions: collectSubscriptions(contexts, config),
    observer: metrics,
    interceptor: tracing?.statementInterceptor(config.databaseUrl),
  });
  const { app, server } = await assemble({ config, ...options, logger }, database, metrics, tracing);
  await app.init();
  await server.ready();
  return app;
}

/** Whether this process logs what is the same for all workers. */
function isFirstProcess(): boolean {
  return (cluster.worker?.id ?? 1) === 1;
}

/** Returns the OpenAPI document of the app. Needs no database. */
export async function describeApp(config: Config): Promise<OpenAPIObject> {
  const database = new Database({ url: config.databaseUrl, applicationName: '', poolSize: 1, persistence: [] });
  const { openApiDocument } = await assemble({ config, logger: createLogger('silent') }, database, new Metrics());
  return openApiDocument.value;
}

/** Starts tracing if a collector is configured. Otherwise, the OpenTelemetry SDK is not loaded. */
async function startTracing(config: Config, logger: ServiceLogger): Promise<Tracing | undefined> {
  const { otelExporterOtlpEndpoint: endpoint, otelServiceName: serviceName, otelTracesSamplerArg: sampledShare } = config;
  if (endpoint === undefined) return undefined;
  const { Tracing } = await import('./observability/tracing.js');
  return new Tracing({ endpoint, serviceName, sampledShare, logger });
}

async function assemble(
  { config, clock = new SystemClock(), logger }: AppOptions & { readonly logger: ServiceLogger },
  database: Database,
  metrics: Metrics,
  tracing?: Tracing,
): Promise<{ app: NestFastifyApplication; server: FastifyInstance; openApiDocument: OpenApiDocument }> {
  const publicUrl = new PublicUrl(config.publicBaseUrl);
  const routes = new RouteTable();
  const openApiDocument: OpenApiDocument = new OpenApiDocument(() => createOpenApiDocument(app, config, contexts));
  const draining = new Draining();
  const workers = new WorkerGroup();
  const connection = new DatabaseConnection(database);
  const readiness = new Readiness(database, connection, draining, workers);
  metrics.observeReadiness(NOT_READY_REASONS, () => readiness.reason());
  metrics.observePool(() => (connection.isOpen ? database.pool : undefined));
  if (database.replicas) observeReplicas(database.replicas, metrics, logger);
  metrics.observeLog(logger.droppedLines);
  const shed = new ShedRequests(metrics, logger);
  const rateLimits = await RateLimits.create(config, logger, metrics);
  const server = createHttpServer({ ...config, publicUrl, shed });
  const { corsOrigins, logRequestsSample } = config;
  registerPipeline(server, {
    limits: config,
    corsOrigins,
    publicUrl,
    routes,
    draining,
    logger,
    logRequestsSample,
    metrics,
    shed,
    tracing,
  });
  const app: NestFastifyApplication = await NestFactory.create<NestFastifyApplication>(
    AppModule.with({
      database,
      connection,
      clock,
      publicUrl,
      routes,
      logger,
      openApiDocument,
      draining,
      workers,
      readiness,
      metrics,
      rateLimits,
    }),
    new JsonAdapter(server),
    {
      bodyParser: false,
      logger: new NestLogger(logger),
      abortOnError: false,
      ...(tracing && { instrument: { instanceDecorator: tracing.useCaseDecorator() } }),
    },
  );
  app.enableVersioning({ type: VersioningType.URI });
  return { app, server, openApiDocument };
}
