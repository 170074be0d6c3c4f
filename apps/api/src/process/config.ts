import { isIP } from 'node:net';
import { parseDatabaseUrl, type SecretUrl, splitUrls } from '@animal-store/database';
import { customCleanEnv, makeExactValidator, makeValidator, str } from 'envalid';
import ipaddr from 'ipaddr.js';
import { LOG_FORMATS, type LogFormatName } from '../observability/log-format.js';
import { parseRedisUrl } from '../rate-limit/redis-url.js';
import { readSecretFiles } from './secret-files.js';
import { StartupError } from './startup-error.js';

const integer = (minimum: number, maximum: number) =>
  makeExactValidator<number>((text) => {
    const value = Number(text);
    if (!/^[0-9]{1,10}$/.test(text) || value < minimum || value > maximum) {
      throw new Error(`must be an integer from ${String(minimum)} to ${String(maximum)}`);
    }
    return value;
  });

const postgresUrl = makeExactValidator<string>((text) => {
  parseDatabaseUrl(text);
  return text;
});

const postgresUrls = makeExactValidator<readonly string[]>((text) => {
  const urls = splitUrls(text);
  urls.forEach(parseDatabaseUrl);
  return urls;
});

const redisUrl = makeExactValidator<string>((text) => {
  parseRedisUrl(text);
  return text;
});

const httpUrl = makeExactValidator<string>((text) => {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (!url || !['http:', 'https:'].includes(url.protocol) || url.search !== '' || url.hash !== '' || url.username !== '') {
    throw new Error('must be an http or https URL without user name, query or fragment, for example https://api.example.com/store');
  }
  return text.replace(/\/+$/, '');
});

const origins = makeExactValidator<readonly string[]>((text) => {
  const list = text.split(',').map((origin) => origin.trim());
  for (const origin of list) {
    if (!URL.canParse(origin) || new URL(origin).origin !== origin) {
      throw new Error('must be origins such as https://app.example.com, separated by commas');
    }
  }
  return list;
});

const isAddressOrRange = (text: string) =>
  // No zone, and no leading zero in the prefix length.
  !/%|\/0\d/.test(text) && (isIP(text) !== 0 || ipaddr.IPv4.isValidCIDRFourPartDecimal(text) || ipaddr.IPv6.isValidCIDR(text));

const cidrs = makeExactValidator<readonly string[]>((text) => {
  const list = text.split(',').map((range) => range.trim());
  if (!list.every(isAddressOrRange)) throw new Error('must be IP addresses or CIDR ranges such as 10.0.0.0/8, separated by commas');
  return list;
});

const share = makeExactValidator<number>((text) => {
  if (!/^(?:0(?:\.[0-9]{1,9})?|1(?:\.0+)?)$/.test(text)) throw new Error('must be a number from 0 to 1');
  return Number(text);
});

const flag = makeValidator<boolean>((text) => {
  if (/^(?:true|on|yes|1)$/.test(text)) return true;
  if (/^(?:false|off|no|0)$/.test(text)) return false;
  throw new Error('must be true or false');
});

const environmentName = makeValidator<string>((text) => {
  if (!/^[a-z][a-z0-9]{0,19}$/.test(text)) throw new Error('must be 1 to 20 lower-case letters and digits, starting with a letter');
  return text;
});

/** All environment variables of the service, in the order of `.env.example`. */
export const variables = {
  DATABASE_URL: postgresUrl({
    desc: 'Connection URL of PostgreSQL, as in libpq. If unset, `npm start` runs a local PostgreSQL.',
    example: 'postgres://animal_store:secret@localhost:5432/animal_store',
  }),
  DATABASE_URL_FILE: str({
    default: undefined,
    desc: 'File with that URL, instead of DATABASE_URL. It is read again for each new connection.',
    example: '/run/secrets/database-url',
  }),
  DATABASE_REPLICA_URLS: postgresUrls({
    default: [],
    desc: 'Connection URLs of read replicas, separated by commas. Replicas may serve lists. If unset, the primary serves all lists.',
    example: 'postgres://animal_store:secret@replica-1:5432/animal_store,postgres://animal_store:secret@replica-2:5432/animal_store',
  }),
  DATABASE_REPLICA_URLS_FILE: str({
    default: undefined,
    desc: 'File with these URLs, instead of DATABASE_REPLICA_URLS. It is read again for each new connection.',
    example: '/run/secrets/database-replica-urls',
  }),
  DATABASE_POOL_SIZE: integer(
    1,
    1000,
  )({ default: 10, desc: 'Maximum number of connections of one process to PostgreSQL, and to each replica.' }),
  DATABASE_CONNECT_TIMEOUT_MS: integer(
    1,
    60_000,
  )({
    default: 2_500,
    desc: 'Maximum time that a request waits for a connection to PostgreSQL.',
  }),
  DATABASE_STATEMENT_TIMEOUT_MS: integer(
    0,
    60_000,
  )({
    default: 3_000,
    desc: 'Maximum duration of each statement of a request; 0 for no limit.',
  }),
  DATABASE_PREPARED: flag({
    default: true,
    desc: 'Whether to use named prepared statements. Set it to false for PgBouncer in transaction mode, unless its max_prepared_statements is above 0.',
  }),
  CITUS: flag({
    default: false,
    desc: 'Whether migrations distribute the catalogue tables with Citus. Requires the extension citus.',
  }),
  MIGRATE_ON_START: flag({ default: true, desc: 'Whether to apply pending migrations on startup.' }),
  MIGRATION_DATABASE_URL: postgresUrl({
    default: undefined,
    desc: 'Connection URL for migrations, for example with another role or without a connection pooler. Defaults to DATABASE_URL.',
    example: 'postgres://animal_store_owner:secret@localhost:5432/animal_store',
  }),
  MIGRATION_DATABASE_URL_FILE: str({
    default: undefined,
    desc: 'File with that URL, instead of MIGRATION_DATABASE_URL.',
    example: '/run/secrets/migration-database-url',
  }),
  MIGRATION_WAIT_SECONDS: integer(
    1,
    86_400,
  )({
    default: 300,
    desc: 'Maximum time that startup waits for another process that is migrating.',
  }),
  HOST: str({ default: '127.0.0.1', desc: 'Address to listen on; 0.0.0.0 for all addresses.' }),
  PORT: integer(0, 65535)({ default: 3000, desc: 'Port to listen on; 0 for any free port.' }),
  WORKERS: integer(1, 256)({ default: 1, desc: 'Number of worker processes. Above 1, a supervisor process is added.' }),
  ADMIN_PORT: integer(
    0,
    65535,
  )({ default: undefined, desc: 'Port of GET /metrics for Prometheus. If unset, metrics are off.', example: '9464' }),
  ADMIN_HOST: str({ default: '127.0.0.1', desc: 'Address of GET /metrics; 0.0.0.0 for all addresses.' }),
  TRUSTED_PROXIES: cidrs({
    default: undefined,
    desc: 'Addresses of proxies whose X-Forwarded-For is trusted, separated by commas.',
    example: '10.0.0.0/8,fd00::/8',
  }),
  RATE_LIMIT: integer(
    0,
    1_000_000_000,
  )({ default: 6_000, desc: 'Maximum requests per minute of each client. 0 turns off this limit and those of single operations.' }),
  REDIS_URL: redisUrl({
    default: undefined,
    desc: 'Redis server that counts the requests of all machines for rate limits. If unset, each machine counts only its own requests.',
    example: 'redis://localhost:6379',
  }),
  REDIS_URL_FILE: str({
    default: undefined,
    desc: 'File with that URL, instead of REDIS_URL. Its user name and password are read again for each new connection.',
    example: '/run/secrets/redis-url',
  }),
  MAX_IN_FLIGHT: integer(
    1,
    1_000_000,
  )({
    default: 512,
    desc: 'Maximum number of requests in progress in one process. Further requests get a 503.',
  }),
  MAX_CONNECTIONS: integer(
    1,
    1_000_000,
  )({
    default: 10_000,
    desc: 'Maximum number of connections of one process. Beyond it, idle connections are closed first, then new ones get a 503.',
  }),
  MAX_EVENT_LOOP_LAG_MS: integer(
    1,
    60_000,
  )({
    default: 500,
    desc: 'Maximum delay of the event loop. While it is longer, requests get a 503.',
  }),
  DRAIN_SECONDS: integer(
    0,
    600,
  )({
    default: 5,
    desc: 'How long the service still serves requests after SIGTERM, while /health/ready responds with 503.',
  }),
  PUBLIC_BASE_URL: httpUrl({
    default: undefined,
    desc: 'Public URL of the service, without /v1. Used in Location, Link and the OpenAPI document.',
    example: 'https://api.example.com',
  }),
  STAGING_BASE_URL: httpUrl({
    default: undefined,
    desc: 'Public URL of the staging environment, without /v1. Used in the OpenAPI document.',
    example: 'https://staging.example.com',
  }),
  CORS_ORIGINS: origins({
    default: [],
    desc: 'Origins whose scripts may call the API from a browser, separated by commas.',
    example: 'https://app.example.com,https://admin.example.com',
  }),
  ENVIRONMENT: environmentName({ default: 'production', desc: 'Name of the environment in new API keys: ast_<environment>_…' }),
  LOG_LEVEL: str({
    default: 'info',
    choices: ['fatal', 'error', 'warn', 'info', 'debug', 'silent'],
    desc: 'Minimum log level.',
  }),
  LOG_FORMAT: str<LogFormatName>({
    default: 'json',
    choices: Object.keys(LOG_FORMATS) as LogFormatName[],
    desc: 'Format of log lines: json, gcp for Google Cloud Logging, ecs for Elastic. On a terminal, log lines are human-readable text.',
  }),
  LOG_REQUESTS_SAMPLE: share({
    default: 1,
    desc: 'Share of the requests with a status below 400 that are logged, 0 to 1. Errors are always logged.',
  }),
  OTEL_EXPORTER_OTLP_ENDPOINT: httpUrl({
    default: undefined,
    desc: 'OpenTelemetry collector (OTLP over HTTP) for traces. If unset, tracing is off.',
    example: 'http://localhost:4318',
  }),
  OTEL_SERVICE_NAME: str({ default: 'animal-store', desc: 'Name of the service in traces.' }),
  OTEL_TRACES_SAMPLER_ARG: share({
    default: 1,
    desc: 'Share of the traces that are recorded, 0 to 1. A traceparent can prevent the recording, but not force it.',
  }),
};

export interface Config {
  readonly databaseUrl: SecretUrl;
  readonly databaseReplicaUrls: readonly SecretUrl[];
  readonly databasePoolSize: number;
  readonly databaseConnectTimeoutMs: number;
  readonly databaseStatementTimeoutMs: number;
  readonly databasePrepared: boolean;
  readonly citus: boolean;
  readonly migrateOnStart: boolean;
  readonly migrationDatabaseUrl: SecretUrl;
  readonly migrationWaitSeconds: number;
  readonly host: string;
  readonly port: number;
  readonly workers: number;
  readonly adminPort: number | undefined;
  readonly adminHost: string;
  readonly trustedProxies: readonly string[];
  readonly rateLimit: number;
  readonly redisUrl: SecretUrl | undefined;
  readonly maxInFlight: number;
  readonly maxConnections: number;
  readonly maxEventLoopLagMs: number;
  readonly drainSeconds: number;
  readonly publicBaseUrl: string | undefined;
  readonly stagingBaseUrl: string | undefined;
  readonly corsOrigins: readonly string[];
  readonly environment: string;
  readonly logLevel: string;
  readonly logFormat: LogFormatName;
  readonly logRequestsSample: number;
  readonly otlpEndpoint: string | undefined;
  readonly serviceName: string;
  readonly sampledShare: number;
}

/**
 * Reads the configuration from environment variables and secret files.
 * @throws StartupError with one line per missing or invalid variable
 */
export function readConfig(env: NodeJS.ProcessEnv): Config {
  const set = Object.fromEntries(Object.entries(env).filter(([, value]) => value !== undefined && value !== ''));
  const secrets = readSecretFiles(set);
  const given = { ...set, ...secrets.values };
  const values = customCleanEnv(given, variables, (cleaned) => cleaned, {
    reporter: ({ errors }) => {
      const problems = Object.entries(errors).map(
        ([name, error]) =>
          `${name in secrets.values ? `${name}_FILE` : name} ${name in given ? ruleOf(name, error) : 'is required but not set'}`,
      );
      const all = [...secrets.problems, ...problems];
      if (all.length > 0) throw new StartupError(all.join('\n'));
    },
  });
  if (values.CITUS && values.DATABASE_REPLICA_URLS.length > 0) {
    throw new StartupError(
      'DATABASE_REPLICA_URLS must not be set with CITUS: the WAL position of a coordinator does not include its workers',
    );
  }
  return {
    databaseUrl: secrets.files.DATABASE_URL ?? values.DATABASE_URL,
    databaseReplicaUrls: values.DATABASE_REPLICA_URLS.map((url, index) => {
      const file = secrets.files.DATABASE_REPLICA_URLS?.file;
      return file === undefined ? url : { file, index };
    }),
    databasePoolSize: values.DATABASE_POOL_SIZE,
    databaseConnectTimeoutMs: values.DATABASE_CONNECT_TIMEOUT_MS,
    databaseStatementTimeoutMs: values.DATABASE_STATEMENT_TIMEOUT_MS,
    databasePrepared: values.DATABASE_PREPARED,
    citus: values.CITUS,
    migrateOnStart: values.MIGRATE_ON_START,
    migrationDatabaseUrl:
      secrets.files.MIGRATION_DATABASE_URL ?? values.MIGRATION_DATABASE_URL ?? secrets.files.DATABASE_URL ?? values.DATABASE_URL,
    migrationWaitSeconds: values.MIGRATION_WAIT_SECONDS,
    host: values.HOST,
    port: values.PORT,
    workers: values.WORKERS,
    adminPort: values.ADMIN_PORT,
    adminHost: values.ADMIN_HOST,
    trustedProxies: values.TRUSTED_PROXIES ?? [],
    rateLimit: values.RATE_LIMIT,
    redisUrl: secrets.files.REDIS_URL ?? values.REDIS_URL,
    maxInFlight: values.MAX_IN_FLIGHT,
    maxConnections: values.MAX_CONNECTIONS,
    maxEventLoopLagMs: values.MAX_EVENT_LOOP_LAG_MS,
    drainSeconds: values.DRAIN_SECONDS,
    publicBaseUrl: values.PUBLIC_BASE_URL,
    stagingBaseUrl: values.STAGING_BASE_URL,
    corsOrigins: values.CORS_ORIGINS,
    environment: values.ENVIRONMENT,
    logLevel: values.LOG_LEVEL,
    logFormat: values.LOG_FORMAT,
    logRequestsSample: values.LOG_REQUESTS_SAMPLE,
    otlpEndpoint: values.OTEL_EXPORTER_OTLP_ENDPOINT,
    serviceName: values.OTEL_SERVICE_NAME,
    sampledShare: values.OTEL_TRACES_SAMPLER_ARG,
  };
}

/** Returns the rule that a value violates. envalid's own message does not list the choices. */
function ruleOf(name: string, { message }: Error): string {
  const { choices } = variables[name as keyof typeof variables] as { choices?: readonly string[] };
  return choices ? `must be one of ${choices.join(', ')}` : message;
}
