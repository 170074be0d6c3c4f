import { checkCertificates, readSecret, type SecretUrl } from '@animal-store/database';
import type { Context } from '@animal-store/http-kit';
import { secret, type SettingsClass, type Variable, type Variables } from '@animal-store/kernel/settings';
import { type CleanedEnv, customCleanEnv } from 'envalid';
import { StartupError } from './startup-errors.js';
import * as valid from './validators.js';

/** Longer than requests normally take. The remaining ones are cut off. Also the maximum wait for a running job. */
export const FINISH_TIMEOUT_MS = 15_000;
export const CLOSE_TIMEOUT_MS = 5_000;
/** How long a probe waits for the database. Shorter than `readinessProbe.timeoutSeconds` of the Helm chart. */
export const PROBE_TIMEOUT_MS = 2_000;

const limit = valid.integer(1, 1_000_000);
const milliseconds = valid.integer(1, 60_000);
const millisecondsOrNone = valid.integer(0, 60_000);
const rate = valid.integer(0, 1_000_000_000);

/** The environment variables of the platform. A variable such as DATABASE_POOL_SIZE is the member `databasePoolSize` of Config. */
export const variables = {
  DATABASE_URL: secret(valid.postgresUrl)({
    desc: 'Connection URL of PostgreSQL, in the syntax of libpq. Without this URL, `npm start` runs a local PostgreSQL.',
    example: 'postgres://animal_store:secret@localhost:5432/animal_store',
  }),
  DATABASE_REPLICA_URLS: secret(valid.postgresUrls)({
    default: [],
    desc: 'Connection URLs of read replicas that serve lists. By default, the primary serves all lists.',
    example: 'postgres://animal_store:secret@replica-1:5432/animal_store,postgres://animal_store:secret@replica-2:5432/animal_store',
  }),
  DATABASE_POOL_SIZE: valid.integer(1, 1000)({ default: 10, desc: 'Maximum number of connections from a process to a database server.' }),
  DATABASE_CONNECT_TIMEOUT_MS: milliseconds({ default: 2_500, desc: 'Maximum time that a request waits for a connection.' }),
  DATABASE_STATEMENT_TIMEOUT_MS: millisecondsOrNone({ default: 3_000, desc: 'Maximum duration of a statement. 0 turns off the limit.' }),
  CITUS: valid.flag({
    default: false,
    desc: 'Whether migrations distribute tables with the PostgreSQL extension Citus.',
  }),
  MIGRATE_ON_START: valid.flag({ default: true, desc: 'Whether to apply pending migrations on startup.' }),
  MIGRATION_DATABASE_URL: secret(valid.postgresUrl)({
    default: undefined,
    desc: 'Connection URL for migrations, if they need another role or must bypass a connection pooler. By default, migrations use DATABASE_URL.',
    example: 'postgres://animal_store_owner:secret@localhost:5432/animal_store',
  }),
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
  RATE_LIMIT: rate({
    default: 6_000,
    desc: 'Maximum number of requests per minute for each client. 0 turns off this limit, the limits on individual operations, and the limit on failed authentications.',
  }),
  REDIS_URL: secret(valid.redisUrl)({
    default: undefined,
    desc: 'URL of the Redis server that counts requests for rate limits. By default, each process counts only its own requests.',
    example: 'redis://localhost:6379',
  }),
  MAX_IN_FLIGHT: limit({
    default: 512,
    desc: 'Maximum number of requests in progress in one process. Further requests get a 503.',
  }),
  MAX_CONNECTIONS: limit({
    default: 10_000,
    desc: 'Maximum number of connections to one process. Further connections replace idle connections. If no connection is idle, they get a 503.',
  }),
  MAX_EVENT_LOOP_LAG_MS: milliseconds({
    default: 500,
    desc: 'Maximum delay of the event loop. While the last two measured delays exceed this maximum, requests get a 503.',
  }),
  KEEP_ALIVE_SECONDS: valid.integer(1, 3_600)({ default: 72, desc: 'Time after which the service closes an idle connection.' }),
  DRAIN_SECONDS: valid.integer(0, 600)({ default: 5, desc: 'Time after SIGTERM during which requests are still accepted.' }),
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
  NODE_ENV: valid.oneOf(['production', 'development', 'test'])({
    default: 'production',
    desc: 'Except in `production`, settings of contexts that are not set have the value of `devDefault`. `npm start` sets `development`.',
  }),
  ENVIRONMENT: valid.environmentName({
    default: 'production',
    desc: 'Name of the environment. New API keys start with `ast_<environment>_`.',
  }),
  LOG_LEVEL: valid.oneOf(['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'])({ default: 'info', desc: 'Minimum log level.' }),
  LOG_REQUESTS_SAMPLE: valid.share({
    default: 1,
    desc: 'The service logs this share of the requests with a status below 400, and all other requests.',
  }),
  LOG_SQL: valid.flag({
    default: false,
    desc: 'Whether to log each SQL statement of a request with its duration, without parameters and quoted values.',
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

type CamelCase<Text extends string> = Text extends `${infer Word}_${infer Rest}`
  ? `${Lowercase<Word>}${Capitalize<CamelCase<Rest>>}`
  : Lowercase<Text>;

type Values = CleanedEnv<typeof variables>;
type Settings = { readonly [Name in keyof typeof variables as CamelCase<Name>]: Values[Name] };

/** The values of the variables of the platform, in camel case. A secret that is in a file is replaced by the name of the file. */
export interface Config extends Omit<Settings, 'databaseUrl' | 'databaseReplicaUrls' | 'migrationDatabaseUrl' | 'redisUrl'> {
  readonly databaseUrl: SecretUrl;
  readonly databaseReplicaUrls: readonly SecretUrl[];
  readonly migrationDatabaseUrl: SecretUrl;
  readonly redisUrl: SecretUrl | undefined;
  readonly contextSettings: ReadonlyMap<SettingsClass, object>;
}

/** Returns the variables of the platform and the contexts. @throws StartupError if a name exists twice or is not valid */
export function variablesOf(contexts: readonly Pick<Context, 'settings'>[]): Variables {
  const all: Record<string, Variable> = {};
  for (const settings of [{ name: 'Config', variables }, ...contexts.flatMap((context) => context.settings ?? [])])
    for (const [name, variable] of Object.entries<Variable>(settings.variables)) {
      if (name in all) throw new StartupError(`${settings.name} must not declare ${name}, because another declaration exists`);
      if (!/^[A-Z][A-Z0-9_]*(?<!_FILE)$/.test(name))
        throw new StartupError(`${settings.name} must declare ${name} in upper case and without _FILE at the end`);
      all[name] = variable;
      if (variable.isSecret) all[`${name}_FILE`] = fileOf(name);
    }
  return all;
}

const fileOf = (name: string) =>
  valid.path({
    default: undefined,
    desc: `File that contains ${name}. The service reads the file again for each use.`,
    example: `/run/secrets/${name.toLowerCase().replaceAll('_', '-')}`,
  });

/** Reads environment variables and secret files. @throws StartupError with one line per missing or invalid variable */
export function readConfig(env: NodeJS.ProcessEnv, contexts: readonly Pick<Context, 'settings'>[] = []): Config {
  const all = variablesOf(contexts);
  const given = givenVariables(env);
  const { files, problems } = readSecretFiles(env, given, all);
  for (const [name, file] of Object.entries(given)) {
    // Instead of a certificate that it cannot read, OpenTelemetry's SDK would trust any public CA.
    if (/^OTEL_EXPORTER_OTLP_(?:TRACES_)?(?:CLIENT_)?CERTIFICATE$/.test(name)) attempt(problems, name, () => checkCertificates(file));
    // Without its key, the SDK would not send the certificate.
    if (/^OTEL_EXPORTER_OTLP_(?:TRACES_)?CLIENT_KEY$/.test(name)) attempt(problems, name, () => readSecret({ file }));
  }
  const values = customCleanEnv(given, all, (cleaned) => cleaned, {
    reporter: ({ errors }) => {
      for (const [name, error] of Object.entries(errors))
        problems[name] ??= `${name in files ? `${name}_FILE` : name} ${name in given ? error?.message : 'is required but not set'}`;
      if (Object.keys(problems).length > 0) throw new StartupError(Object.values(problems).join('\n'));
    },
  }) as Values;
  if (values.CITUS && values.DATABASE_REPLICA_URLS.length > 0) {
    throw new StartupError(
      'DATABASE_REPLICA_URLS must not be set with CITUS: the WAL position of a coordinator does not include its workers',
    );
  }
  const settings = Object.keys(variables).map((name) => [camelCase(name), values[name as keyof Values]]);
  const classes = contexts.flatMap((context) => context.settings ?? []);
  const replicas = files.DATABASE_REPLICA_URLS;
  const databaseUrl = files.DATABASE_URL ?? values.DATABASE_URL;
  return {
    ...(Object.fromEntries(settings) as Settings),
    databaseUrl,
    databaseReplicaUrls: values.DATABASE_REPLICA_URLS.map((url, index) => (replicas ? { ...replicas, index } : url)),
    migrationDatabaseUrl: files.MIGRATION_DATABASE_URL ?? values.MIGRATION_DATABASE_URL ?? databaseUrl,
    redisUrl: files.REDIS_URL ?? values.REDIS_URL,
    contextSettings: new Map(classes.map((settings) => [settings, instanceOf(settings, values, files)])),
  };
}

/** Secrets are not enumerable, so that a log line with the instance does not contain them. */
function instanceOf(settings: SettingsClass, values: Readonly<Record<string, unknown>>, files: SecretFiles): object {
  const instance = new settings();
  for (const [name, { isSecret = false, _parse: parse }] of Object.entries(settings.variables)) {
    const file = files[name]?.file;
    const get = () => (file === undefined ? values[name] : parse(readSecret({ file })));
    Object.defineProperty(instance, name, { get, enumerable: !isSecret });
  }
  return instance;
}

/** Returns the variables that are not empty. Paths are used unchanged; other values without surrounding white space. */
function givenVariables(env: NodeJS.ProcessEnv): Record<string, string> {
  const entries = Object.entries(env).map(([name, value = '']) => [name, name.endsWith('_FILE') ? value : value.trim()]);
  return Object.fromEntries(entries.filter(([, value]) => value !== '')) as Record<string, string>;
}

type SecretFiles = Partial<Record<string, { readonly file: string }>>;

/** The service would use another database instead. */
const MUST_NOT_BE_EMPTY = ['DATABASE_URL', 'DATABASE_REPLICA_URLS', 'MIGRATION_DATABASE_URL'];

/** Adds the contents of secret files to `given`. Returns the files and, by variable, why one cannot be used. */
function readSecretFiles(env: NodeJS.ProcessEnv, given: Record<string, string>, all: Variables) {
  const files: SecretFiles = {};
  const problems: Record<string, string> = {};
  for (const name of Object.keys(all).filter((name) => all[name]?.isSecret)) {
    const file = env[`${name}_FILE`];
    if (file?.trim() === '') problems[name] = `${name}_FILE is empty: set or unset it`;
    else if (env[name]?.trim() === '' && MUST_NOT_BE_EMPTY.includes(name)) problems[name] = `${name} is empty: set or unset it`;
    else if (file !== undefined && name in given) problems[name] = `${name}_FILE and ${name} must not both be set`;
    else if (file !== undefined) {
      files[name] = { file };
      attempt(problems, name, () => (given[name] = readSecret({ file })), `${name}_FILE`);
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
