import { isIP, isIPv6 } from 'node:net';
import { isKeyEnvironment, KEY_ENVIRONMENT_RULE } from '@animal-store/access-domain';
import { FLAG_RULE, parseDatabaseUrl, parseFlag, readSecretUrl, type SecretUrl, splitUrls } from '@animal-store/database';
import { type CleanedEnv, customCleanEnv, type ExactValidator, makeExactValidator } from 'envalid';
import ipaddr from 'ipaddr.js';
import { LOG_FORMATS, type LogFormatName } from '../observability/logger.js';
import { parseRedisUrl } from '../rate-limit/redis-url.js';

/** The reason why the service cannot start. Its message is printed without a stack. */
export class StartupError extends Error {
  override readonly name = 'StartupError';
}

/** Longer than requests normally take. The remaining ones are cut off. Also the maximum wait for a running job. */
export const FINISH_TIMEOUT_MS = 15_000;
export const CLOSE_TIMEOUT_MS = 5_000;

/** Declares a variable. The rule is shown in error messages and in docs/variables.md. */
function validator<T>(rule: string, parse: (text: string) => T | undefined): ExactValidator<T> {
  const declare = makeExactValidator<T>((text) => {
    const value = parse(text);
    if (value === undefined) throw new Error(`must be ${rule}`);
    return value;
  });
  return ((...spec: Parameters<typeof declare>) => ({ ...declare(...spec), rule })) as ExactValidator<T>;
}

const file = validator('a path', (value) => value);

const line = validator('text without control characters', (value) => (/\p{Cc}/u.test(value) ? undefined : value));

/** Labels of letters, digits, hyphens and underscores. The last one is not a number: names such as `0` and `127.1` mean IPv4 addresses. */
const HOST_NAME = /^(?:[\w-]{1,63}\.)*(?!(?:\d+|0x[\da-f]*)\.?$)[\w-]{1,63}\.?$/i;

const address = validator('an IP address or host name', (value) => {
  const [, bracketed] = /^\[(.*)\]$/.exec(value) ?? [];
  if (bracketed !== undefined) return isIPv6(bracketed) ? bracketed : undefined;
  return isIP(value) !== 0 || HOST_NAME.test(value) ? value : undefined;
});

const integer = (minimum: number, maximum: number) =>
  validator(`an integer from ${String(minimum)} to ${String(maximum)}`, (value) => {
    const number = Number(value);
    return /^[0-9]{1,10}$/.test(value) && number >= minimum && number <= maximum ? number : undefined;
  });

const share = validator('a number from 0 to 1', (value) => (/^(?:0(?:\.[0-9]{1,9})?|1(?:\.0+)?)$/.test(value) ? Number(value) : undefined));

const oneOf = <T extends string>(choices: readonly T[]) =>
  validator(`one of ${choices.join(', ')}`, (value) => choices.find((choice) => choice === value));

const flag = validator(FLAG_RULE, parseFlag);

const postgresUrl = validator('a postgres:// URL', (value) => {
  parseDatabaseUrl(value);
  return value;
});

const postgresUrls = validator<readonly string[]>('postgres:// URLs, separated by commas', (value) => {
  const urls = splitUrls(value);
  for (const url of urls) parseDatabaseUrl(url);
  return urls;
});

const redisUrl = validator('a redis:// or rediss:// URL', (value) => {
  parseRedisUrl(value);
  return value;
});

/** Scheme, authority without user name or wildcard, and path. The parser would drop tabs, line breaks and an empty user name. */
const HTTP_URL = /^https?:\/\/[^\s\p{Cc}/\\?#@*]+(?:\/[^\s\p{Cc}\\?#]*)?$/iu;

const httpUrl = validator('an http(s) URL without user name, query or fragment', (value) => {
  if (!HTTP_URL.test(value) || !URL.canParse(value)) return undefined;
  const { origin, pathname } = new URL(value);
  return origin + toUriPath(pathname.replace(/\/+$/, ''));
});

/** Percent-encodes the characters that the URL parser leaves in a path, although RFC 3986 does not allow them. */
function toUriPath(pathname: string): string {
  return pathname.replace(/%(?![\da-f]{2})|[^\w!$%&'()*+,./:;=@~-]/gi, encodeURIComponent);
}

const listOf = (rule: string, parse: (item: string) => string | undefined) =>
  validator<readonly string[]>(`${rule}, separated by commas`, (value) => {
    const items = value.split(',').map((item) => parse(item.trim()));
    return items.every((item) => item !== undefined) ? items : undefined;
  });

/** Returns the origin as browsers send it: in lower case, with Punycode, without a default port. */
const origins = listOf('origins such as https://app.example.com', (item) => {
  const url = HTTP_URL.test(item) && URL.canParse(item) ? new URL(item) : undefined;
  return url?.pathname === '/' ? url.origin : undefined;
});

const addresses = listOf('IP addresses or CIDR ranges such as 10.0.0.0/8', (item) => {
  // No zone, and a prefix length from 1 without leading zeros.
  if (/%|\/0/.test(item)) return undefined;
  if (isIP(item) !== 0 || ipaddr.IPv4.isValidCIDRFourPartDecimal(item)) return item;
  // An IPv4-mapped range would match no IPv4 address, or more than it says.
  return ipaddr.IPv6.isValidCIDR(item) && !ipaddr.IPv6.parseCIDR(item)[0].isIPv4MappedAddress() ? item : undefined;
});

const environmentName = validator<string>(KEY_ENVIRONMENT_RULE.replace('must be ', ''), (value) =>
  isKeyEnvironment(value) ? value : undefined,
);

/**
 * All environment variables of the service. `npx nx documents checks` writes them to `.env.example` and docs/variables.md.
 * A variable such as DATABASE_POOL_SIZE is the member `databasePoolSize` of Config.
 */
export const variables = {
  DATABASE_URL: postgresUrl({
    desc: 'Connection URL of PostgreSQL, in the syntax of libpq. Without this URL, `npm start` runs a local PostgreSQL.',
    example: 'postgres://animal_store:secret@localhost:5432/animal_store',
  }),
  DATABASE_URL_FILE: file({
    default: undefined,
    desc: 'File that contains DATABASE_URL. The service reads the file again for each new connection.',
    example: '/run/secrets/database-url',
  }),
  DATABASE_REPLICA_URLS: postgresUrls({
    default: [],
    desc: 'Connection URLs of read replicas that serve lists. By default, the primary serves all lists.',
    example: 'postgres://animal_store:secret@replica-1:5432/animal_store,postgres://animal_store:secret@replica-2:5432/animal_store',
  }),
  DATABASE_REPLICA_URLS_FILE: file({
    default: undefined,
    desc: 'File that contains DATABASE_REPLICA_URLS. The service reads the file again for each new connection.',
    example: '/run/secrets/database-replica-urls',
  }),
  DATABASE_POOL_SIZE: integer(1, 1000)({ default: 10, desc: 'Maximum number of connections from one process to each database server.' }),
  DATABASE_CONNECT_TIMEOUT_MS: integer(1, 60_000)({ default: 2_500, desc: 'Maximum time that a request waits for a database connection.' }),
  DATABASE_STATEMENT_TIMEOUT_MS: integer(0, 60_000)({ default: 3_000, desc: 'Maximum duration of a statement. 0 turns off the limit.' }),
  CITUS: flag({
    default: false,
    desc: 'Whether migrations distribute tables with the PostgreSQL extension Citus.',
  }),
  MIGRATE_ON_START: flag({ default: true, desc: 'Whether to apply pending migrations on startup.' }),
  MIGRATION_DATABASE_URL: postgresUrl({
    default: undefined,
    desc: 'Connection URL for migrations, if they need another role or must bypass a connection pooler. By default, migrations use DATABASE_URL.',
    example: 'postgres://animal_store_owner:secret@localhost:5432/animal_store',
  }),
  MIGRATION_DATABASE_URL_FILE: file({
    default: undefined,
    desc: 'File that contains MIGRATION_DATABASE_URL.',
    example: '/run/secrets/migration-database-url',
  }),
  MIGRATION_WAIT_SECONDS: integer(
    1,
    86_400,
  )({ default: 300, desc: 'Maximum time that startup waits for the migrations of another process.' }),
  HOST: address({ default: '127.0.0.1', desc: 'Address to listen on.' }),
  PORT: integer(0, 65535)({ default: 3000, desc: 'Port to listen on. 0 selects a free port.' }),
  REUSE_PORT: flag({
    default: false,
    desc: 'Whether several processes of this machine can listen on PORT. The kernel distributes connections among them. Requires Linux.',
  }),
  ADMIN_PORT: integer(0, 65535)({ default: undefined, desc: 'Port of GET /metrics. By default, metrics are off.', example: '9464' }),
  ADMIN_HOST: address({ default: '127.0.0.1', desc: 'Address of GET /metrics.' }),
  TRUSTED_PROXIES: addresses({
    default: [],
    desc: 'Proxies whose X-Forwarded-For header is trusted. By default, no proxy is trusted, and all clients behind a proxy count as one address.',
    example: '10.0.0.0/8,fd00::/8',
  }),
  RATE_LIMIT: integer(
    0,
    1_000_000_000,
  )({
    default: 6_000,
    desc: 'Maximum number of requests per minute for each client. 0 turns off this limit, the limits on individual operations, and the limit on failed authentications.',
  }),
  REDIS_URL: redisUrl({
    default: undefined,
    desc: 'URL of the Redis server that counts requests for rate limits. By default, each process counts only its own requests.',
    example: 'redis://localhost:6379',
  }),
  REDIS_URL_FILE: file({
    default: undefined,
    desc: 'File that contains REDIS_URL. The service reads the user name and the password again for each new connection.',
    example: '/run/secrets/redis-url',
  }),
  MAX_IN_FLIGHT: integer(
    1,
    1_000_000,
  )({ default: 512, desc: 'Maximum number of requests in progress in one process. Further requests get a 503.' }),
  MAX_CONNECTIONS: integer(
    1,
    1_000_000,
  )({
    default: 10_000,
    desc: 'Maximum number of connections to one process. Further connections replace idle connections. If no connection is idle, they get a 503.',
  }),
  MAX_EVENT_LOOP_LAG_MS: integer(
    1,
    60_000,
  )({ default: 500, desc: 'Maximum delay of the event loop. While the last two measured delays exceed this maximum, requests get a 503.' }),
  DRAIN_SECONDS: integer(0, 600)({ default: 5, desc: 'Time after SIGTERM during which requests are still accepted.' }),
  PUBLIC_BASE_URL: httpUrl({
    default: undefined,
    desc: 'Public URL of the service, without /v1, for links in headers and in the OpenAPI document. By default, links are relative.',
    example: 'https://api.example.com',
  }),
  STAGING_BASE_URL: httpUrl({
    default: undefined,
    desc: 'Public URL of the staging environment, without /v1, for the OpenAPI document.',
    example: 'https://staging.example.com',
  }),
  DOCS_URL: httpUrl({
    default: undefined,
    desc: 'Public URL of the guides, for links in errors and in the OpenAPI document. By default, there are no such links.',
    example: 'https://docs.example.com',
  }),
  CORS_ORIGINS: origins({
    default: [],
    desc: 'Origins whose scripts can call the API from a browser.',
    example: 'https://app.example.com,https://admin.example.com',
  }),
  ENVIRONMENT: environmentName({ default: 'production', desc: 'Name of the environment. New API keys start with `ast_<environment>_`.' }),
  LOG_LEVEL: oneOf(['fatal', 'error', 'warn', 'info', 'debug', 'silent'])({ default: 'info', desc: 'Minimum log level.' }),
  LOG_FORMAT: oneOf(Object.keys(LOG_FORMATS) as LogFormatName[])({
    default: 'json',
    desc: 'Format of log lines. Use gcp for Google Cloud Logging, and ecs for Elastic. In development, log lines on a terminal are readable text.',
  }),
  LOG_REQUESTS_SAMPLE: share({
    default: 1,
    desc: 'The service logs this share of the requests with a status below 400, and all other requests.',
  }),
  OTEL_EXPORTER_OTLP_ENDPOINT: httpUrl({
    default: undefined,
    desc: 'URL of the OpenTelemetry collector that receives traces (OTLP over HTTP). By default, tracing is off.',
    example: 'http://localhost:4318',
  }),
  OTEL_SERVICE_NAME: line({ default: 'animal-store', desc: 'Name of the service in traces.' }),
  OTEL_TRACES_SAMPLER_ARG: share({
    default: 1,
    desc: 'Share of traces that are recorded. A traceparent header can prevent recording, but cannot force it.',
  }),
};

type Name = keyof typeof variables;

type CamelCase<Text extends string> = Text extends `${infer Word}_${infer Rest}`
  ? `${Lowercase<Word>}${Capitalize<CamelCase<Rest>>}`
  : Lowercase<Text>;

type Settings = {
  readonly [N in Name as N extends `${string}_FILE` ? never : CamelCase<N>]: CleanedEnv<typeof variables>[N];
};

type SecretName = 'databaseUrl' | 'databaseReplicaUrls' | 'migrationDatabaseUrl' | 'redisUrl';

/** The values of all variables, in camel case. A secret that is in a file is replaced by the name of the file. */
export interface Config extends Omit<Settings, SecretName> {
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
  const set = givenVariables(env);
  const secrets = readSecretFiles(set);
  const given = { ...set, ...secrets.values };
  const values = customCleanEnv(given, variables, (cleaned) => cleaned, {
    reporter: ({ errors }) => {
      const problems = Object.entries(errors).map(
        ([name, { message }]) => `${name in secrets.values ? `${name}_FILE` : name} ${name in given ? message : 'is required but not set'}`,
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
  const settings = Object.entries(values).flatMap(([name, value]) => (name.endsWith('_FILE') ? [] : [[camelCase(name), value]]));
  return {
    ...(Object.fromEntries(settings) as Settings),
    databaseUrl: secrets.files.DATABASE_URL ?? values.DATABASE_URL,
    databaseReplicaUrls: values.DATABASE_REPLICA_URLS.map((url, index) => {
      const path = secrets.files.DATABASE_REPLICA_URLS?.file;
      return path === undefined ? url : { file: path, index };
    }),
    migrationDatabaseUrl:
      secrets.files.MIGRATION_DATABASE_URL ?? values.MIGRATION_DATABASE_URL ?? secrets.files.DATABASE_URL ?? values.DATABASE_URL,
    redisUrl: secrets.files.REDIS_URL ?? values.REDIS_URL,
  };
}

/** The variables that a file can replace. The placeholder of one that cannot be read prevents that it is also reported as missing or invalid. */
const SECRETS = {
  DATABASE_URL: 'postgres://',
  DATABASE_REPLICA_URLS: 'postgres://',
  MIGRATION_DATABASE_URL: 'postgres://',
  REDIS_URL: 'redis://unread',
};

type Secret = keyof typeof SECRETS;

interface SecretFiles {
  readonly files: Readonly<Partial<Record<Secret, { readonly file: string }>>>;
  /** Current contents of the files, by the name of the variable that they replace. */
  readonly values: Readonly<Partial<Record<Secret, string>>>;
  /** One line per file that cannot be used. */
  readonly problems: readonly string[];
}

/** Reads the files that variables such as DATABASE_URL_FILE name. */
function readSecretFiles(env: NodeJS.ProcessEnv): SecretFiles {
  const files: Partial<Record<Secret, { file: string }>> = {};
  const values: Partial<Record<Secret, string>> = {};
  const problems: string[] = [];
  for (const [name, placeholder] of Object.entries(SECRETS) as [Secret, string][]) {
    const file = env[`${name}_FILE`];
    if (!file) continue;
    if (env[name]) problems.push(`${name}_FILE and ${name} must not both be set`);
    files[name] = { file };
    try {
      values[name] = readSecretUrl({ file });
    } catch (error) {
      values[name] = env[name] ?? placeholder;
      problems.push(`${name}_FILE ${(error as Error).message}`);
    }
  }
  return { files, values, problems };
}

/** Returns the variables that are not empty. Paths are used unchanged; other values without surrounding white space. */
function givenVariables(env: NodeJS.ProcessEnv): Record<string, string> {
  const entries = Object.entries(env).map(([name, value = '']) => [name, name.endsWith('_FILE') ? value : value.trim()]);
  return Object.fromEntries(entries.filter(([, value]) => value !== '')) as Record<string, string>;
}

const camelCase = (name: string) => name.toLowerCase().replaceAll(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());
