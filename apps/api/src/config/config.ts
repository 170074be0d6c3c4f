import { readCertificates, readSecretUrl, type SecretUrl } from '@animal-store/database';
import { type CleanedEnv, customCleanEnv } from 'envalid';
import { StartupError } from './startup-errors.js';
import * as valid from './validators.js';

/** Longer than requests normally take. The remaining ones are cut off. Also the maximum wait for a running job. */
export const FINISH_TIMEOUT_MS = 15_000;
export const CLOSE_TIMEOUT_MS = 5_000;
/** How long a probe waits for the database. Shorter than `readinessProbe.timeoutSeconds` of the Helm chart. */
export const PROBE_TIMEOUT_MS = 2_000;

const secretFile = (name: string) =>
  valid.file({
    default: undefined,
    desc: `File that contains ${name}. The service reads the file again for each new connection.`,
    example: `/run/secrets/${name.toLowerCase().replaceAll('_', '-')}`,
  });

/**
 * All environment variables of the service. `npx nx documents checks` writes them to `.env.example` and docs/variables.md.
 * A variable such as DATABASE_POOL_SIZE is the member `databasePoolSize` of Config.
 */
export const variables = {
  DATABASE_URL: valid.postgresUrl({
    desc: 'Connection URL of PostgreSQL, in the syntax of libpq. Without this URL, `npm start` runs a local PostgreSQL.',
    example: 'postgres://animal_store:secret@localhost:5432/animal_store',
  }),
  DATABASE_URL_FILE: secretFile('DATABASE_URL'),
  DATABASE_REPLICA_URLS: valid.postgresUrls({
    default: [],
    desc: 'Connection URLs of read replicas that serve lists. By default, the primary serves all lists.',
    example: 'postgres://animal_store:secret@replica-1:5432/animal_store,postgres://animal_store:secret@replica-2:5432/animal_store',
  }),
  DATABASE_REPLICA_URLS_FILE: secretFile('DATABASE_REPLICA_URLS'),
  DATABASE_POOL_SIZE: valid.integer(1, 1000, { default: 10, desc: 'Maximum number of connections from a process to a database server.' }),
  DATABASE_CONNECT_TIMEOUT_MS: valid.integer(1, 60_000, { default: 2_500, desc: 'Maximum time that a request waits for a connection.' }),
  DATABASE_STATEMENT_TIMEOUT_MS: valid.integer(0, 60_000, {
    default: 3_000,
    desc: 'Maximum duration of a statement. 0 turns off the limit.',
  }),
  CITUS: valid.flag({
    default: false,
    desc: 'Whether migrations distribute tables with the PostgreSQL extension Citus.',
  }),
  MIGRATE_ON_START: valid.flag({ default: true, desc: 'Whether to apply pending migrations on startup.' }),
  MIGRATION_DATABASE_URL: valid.postgresUrl({
    default: undefined,
    desc: 'Connection URL for migrations, if they need another role or must bypass a connection pooler. By default, migrations use DATABASE_URL.',
    example: 'postgres://animal_store_owner:secret@localhost:5432/animal_store',
  }),
  MIGRATION_DATABASE_URL_FILE: secretFile('MIGRATION_DATABASE_URL'),
  HOST: valid.address({ default: '127.0.0.1', desc: 'Address to listen on.' }),
  PORT: valid.port({ default: 3000, desc: 'Port to listen on. 0 selects a free port.' }),
  REUSE_PORT: valid.flag({
    default: false,
    desc: 'Whether several processes of this machine can listen on PORT. The kernel distributes connections among them. Requires Linux.',
  }),
  ADMIN_PORT: valid.port({ default: undefined, desc: 'Port of GET /metrics. By default, metrics are off.', example: '9464' }),
  ADMIN_HOST: valid.address({ default: '127.0.0.1', desc: 'Address of GET /metrics.' }),
  TRUSTED_PROXIES: valid.addresses({
    default: [],
    desc: 'Proxies whose X-Forwarded-For header is trusted. By default, no proxy is trusted, and all clients behind a proxy count as one address.',
    example: '10.0.0.0/8,fd00::/8',
  }),
  RATE_LIMIT: valid.integer(0, 1_000_000_000, {
    default: 6_000,
    desc: 'Maximum number of requests per minute for each client. 0 turns off this limit, the limits on individual operations, and the limit on failed authentications.',
  }),
  REDIS_URL: valid.redisUrl({
    default: undefined,
    desc: 'URL of the Redis server that counts requests for rate limits. By default, each process counts only its own requests.',
    example: 'redis://localhost:6379',
  }),
  REDIS_URL_FILE: secretFile('REDIS_URL'),
  MAX_IN_FLIGHT: valid.integer(1, 1_000_000, {
    default: 512,
    desc: 'Maximum number of requests in progress in one process. Further requests get a 503.',
  }),
  MAX_CONNECTIONS: valid.integer(1, 1_000_000, {
    default: 10_000,
    desc: 'Maximum number of connections to one process. Further connections replace idle connections. If no connection is idle, they get a 503.',
  }),
  MAX_EVENT_LOOP_LAG_MS: valid.integer(1, 60_000, {
    default: 500,
    desc: 'Maximum delay of the event loop. While the last two measured delays exceed this maximum, requests get a 503.',
  }),
  DRAIN_SECONDS: valid.integer(0, 600, { default: 5, desc: 'Time after SIGTERM during which requests are still accepted.' }),
  PUBLIC_BASE_URL: valid.httpUrl({
    default: undefined,
    desc: 'Public URL of the service, without /v1, for links in headers and in the OpenAPI document. By default, links are relative.',
    example: 'https://api.example.com',
  }),
  STAGING_BASE_URL: valid.httpUrl({
    default: undefined,
    desc: 'Public URL of the staging environment, without /v1, for the OpenAPI document.',
    example: 'https://staging.example.com',
  }),
  DOCS_URL: valid.httpUrl({
    default: undefined,
    desc: 'Public URL of the guides, for links in errors and in the OpenAPI document. By default, there are no such links.',
    example: 'https://docs.example.com',
  }),
  CORS_ORIGINS: valid.origins({
    default: [],
    desc: 'Origins whose scripts can call the API from a browser.',
    example: 'https://app.example.com,https://admin.example.com',
  }),
  ENVIRONMENT: valid.environmentName({
    default: 'production',
    desc: 'Name of the environment. New API keys start with `ast_<environment>_`.',
  }),
  LOG_LEVEL: valid.oneOf(['fatal', 'error', 'warn', 'info', 'debug', 'silent'])({ default: 'info', desc: 'Minimum log level.' }),
  LOG_REQUESTS_SAMPLE: valid.share({
    default: 1,
    desc: 'The service logs this share of the requests with a status below 400, and all other requests.',
  }),
  OTEL_EXPORTER_OTLP_ENDPOINT: valid.httpUrl({
    default: undefined,
    desc: 'URL of the OpenTelemetry collector that receives traces (OTLP over HTTP). By default, tracing is off.',
    example: 'http://localhost:4318',
  }),
  OTEL_TRACES_SAMPLER_ARG: valid.share({
    default: 1,
    desc: 'Share of traces that are recorded. A traceparent header can prevent recording, but cannot force it.',
  }),
};

/** What a file can contain. */
const SECRETS = ['DATABASE_URL', 'DATABASE_REPLICA_URLS', 'MIGRATION_DATABASE_URL', 'REDIS_URL'] as const;

type Secret = (typeof SECRETS)[number];
type Name = keyof typeof variables;

type CamelCase<Text extends string> = Text extends `${infer Word}_${infer Rest}`
  ? `${Lowercase<Word>}${Capitalize<CamelCase<Rest>>}`
  : Lowercase<Text>;

type Settings = {
  readonly [N in Name as N extends `${string}_FILE` ? never : CamelCase<N>]: CleanedEnv<typeof variables>[N];
};

/** The values of all variables, in camel case. A secret that is in a file is replaced by the name of the file. */
export interface Config extends Omit<Settings, CamelCase<Secret>> {
  readonly databaseUrl: SecretUrl;
  readonly databaseReplicaUrls: readonly SecretUrl[];
  readonly migrationDatabaseUrl: SecretUrl;
  readonly redisUrl: SecretUrl | undefined;
}

/**
 * Reads the configuration from environment variables and secret files.
 * @throws StartupError with one line per missing or invalid variable
 */
export function readConfig(env: NodeJS.ProcessEnv): Config {
  const given = givenVariables(env);
  const { files, problems } = readSecretFiles(env, given);
  for (const [name, file] of Object.entries(given)) {
    // Instead of a certificate that it cannot read, OpenTelemetry's SDK would trust any public CA.
    if (/^OTEL_EXPORTER_OTLP_(?:TRACES_)?(?:CLIENT_)?CERTIFICATE$/.test(name))
      attempt(problems, name, () => readCertificates('file', file));
  }
  const values = customCleanEnv(given, variables, (cleaned) => cleaned, {
    reporter: ({ errors }) => {
      for (const [name, { message }] of Object.entries(errors))
        problems[name] ??= `${name in files ? `${name}_FILE` : name} ${name in given ? message : 'is required but not set'}`;
      if (Object.keys(problems).length > 0) throw new StartupError(Object.values(problems).join('\n'));
    },
  });
  if (values.CITUS && values.DATABASE_REPLICA_URLS.length > 0) {
    throw new StartupError(
      'DATABASE_REPLICA_URLS must not be set with CITUS: the WAL position of a coordinator does not include its workers',
    );
  }
  const settings = Object.entries(values).map(([name, value]) => [camelCase(name), value]);
  const replicas = files.DATABASE_REPLICA_URLS;
  const databaseUrl = files.DATABASE_URL ?? values.DATABASE_URL;
  return {
    ...(Object.fromEntries(settings) as Settings),
    databaseUrl,
    databaseReplicaUrls: values.DATABASE_REPLICA_URLS.map((url, index) => (replicas ? { ...replicas, index } : url)),
    migrationDatabaseUrl: files.MIGRATION_DATABASE_URL ?? values.MIGRATION_DATABASE_URL ?? databaseUrl,
    redisUrl: files.REDIS_URL ?? values.REDIS_URL,
  };
}

/** Returns the variables that are not empty. Paths are used unchanged; other values without surrounding white space. */
function givenVariables(env: NodeJS.ProcessEnv): Record<string, string> {
  const entries = Object.entries(env).map(([name, value = '']) => [name, name.endsWith('_FILE') ? value : value.trim()]);
  return Object.fromEntries(entries.filter(([, value]) => value !== '')) as Record<string, string>;
}

/** Adds the contents of secret files to `given`. Returns the files and, by variable, why one cannot be used. */
function readSecretFiles(env: NodeJS.ProcessEnv, given: Record<string, string>) {
  const files: Partial<Record<Secret, { readonly file: string }>> = {};
  const problems: Record<string, string> = {};
  for (const name of SECRETS) {
    const file = env[`${name}_FILE`];
    // An empty variable must not select another database. REDIS_URL may be empty, which docker-compose.yml sets by default.
    if (file?.trim() === '') problems[name] = `${name}_FILE is empty: set or unset it`;
    else if (env[name]?.trim() === '' && name !== 'REDIS_URL') problems[name] = `${name} is empty: set or unset it`;
    else if (file !== undefined && name in given) problems[name] = `${name}_FILE and ${name} must not both be set`;
    else if (file !== undefined) {
      files[name] = { file };
      attempt(problems, name, () => (given[name] = readSecretUrl({ file })), `${name}_FILE`);
    }
  }
  return { files, problems };
}

function attempt(problems: Record<string, string>, name: string, work: () => void, variable = name): void {
  try {
    work();
  } catch (error) {
    problems[name] = `${variable} ${(error as Error).message}`;
  }
}

const camelCase = (name: string) => name.toLowerCase().replaceAll(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());
